// Package hf is a second tokenizer behind the interface of the first: the Rust library
// of Hugging Face, through github.com/daulet/tokenizers. It exists so that the two can
// be held against each other, and is built only with the tag hftokenizers, as it
// needs the static library that native/build.sh makes. Nothing else imports it.
package hf
