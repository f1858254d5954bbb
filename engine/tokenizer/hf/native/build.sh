#!/bin/sh
# Builds libtokenizers.a for the tests behind the build tag hftokenizers.
# usage: build.sh OUTDIR        (needs Go, Rust and the crates registry)
set -eu
out=${1:?usage: build.sh OUTDIR}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$out"
out=$(CDPATH='' cd -- "$out" && pwd)
work=$out/rust
rm -rf "$work"
mkdir -p "$work/src"
cp -R "$here/Cargo.toml" "$here/Cargo.lock" "$here/tiktoken-stub" "$work/"
cd "$here"
go mod download github.com/daulet/tokenizers
cp "$(go list -m -f '{{.Dir}}' github.com/daulet/tokenizers)/src/lib.rs" "$work/src/lib.rs"
chmod -R u+w "$work"
cd "$work"
cargo build --release --locked
cp target/release/libtokenizers.a "$out/libtokenizers.a"
