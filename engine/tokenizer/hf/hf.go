//go:build hftokenizers

package hf

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/daulet/tokenizers"

	"clefbar/engine"
	"clefbar/engine/tokenizer"
)

// Tokenizer encodes by the Rust library what that can encode. The library reads text
// as a C string, repairs broken UTF-8 and has no complete literal mode, so text with a
// NUL or broken UTF-8, and literal text, go to the Go tokenizer, which also finds
// added tokens. It is safe for concurrent use until Close.
type Tokenizer struct {
	*tokenizer.Tokenizer
	rust *tokenizers.Tokenizer
}

// Load reads the contents of a tokenizer.json.
func Load(data []byte) (*Tokenizer, error) {
	plain, err := tokenizer.Load(data)
	if err != nil {
		return nil, err
	}
	rust, err := tokenizers.FromBytes(data)
	if err != nil {
		return nil, &engine.Error{Reason: engine.BadModel, Message: "tokenizer.json: " + err.Error(), Err: err}
	}
	return &Tokenizer{Tokenizer: plain, rust: rust}, nil
}

// Encode appends the ids of text to dst, as tokenizer.Tokenizer.Encode does.
func (t *Tokenizer) Encode(dst []int32, text string, literal bool) []int32 {
	if !t.encodes(text, literal) {
		return t.Tokenizer.Encode(dst, text, literal)
	}
	ids, _ := t.rust.Encode(text, false)
	for _, id := range ids {
		dst = append(dst, int32(id))
	}
	return dst
}

// encodes reports whether the library gives the ids of text.
func (t *Tokenizer) encodes(text string, literal bool) bool {
	return !literal && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// Close frees the library's memory.
func (t *Tokenizer) Close() error {
	if t.rust == nil {
		return errors.New("close a tokenizer twice")
	}
	err := t.rust.Close()
	t.rust = nil
	return err
}
