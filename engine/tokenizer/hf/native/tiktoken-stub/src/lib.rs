//! The names of tiktoken-rs that the bindings mention. Files of that form are never read here.
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

pub type Rank = u32;

#[derive(Debug)]
pub struct Unsupported;

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("tiktoken files are not read by this build")
    }
}

impl std::error::Error for Unsupported {}

pub enum CoreBPE {}

impl CoreBPE {
    pub fn new<A: BuildHasher, B: BuildHasher>(_: HashMap<Vec<u8>, Rank, A>, _: HashMap<String, Rank, B>, _: &str) -> Result<Self, Unsupported> {
        Err(Unsupported)
    }

    pub fn encode(&self, _: &str, _: &HashSet<&str>) -> (Vec<Rank>, usize) {
        match *self {}
    }

    pub fn decode(&self, _: Vec<Rank>) -> Result<String, Unsupported> {
        match *self {}
    }
}
