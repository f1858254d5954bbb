// Package tokenizer turns text into the token ids of the Qwen3.5 family and back.
// It reads tokenizer.json files with a byte-level BPE model, NFC and the family's
// split pattern, and refuses every other kind by name instead of guessing
// (clef.md 3). Ids equal those of the reference, always.
package tokenizer

import (
	"strings"
)

// Tokenizer encodes and decodes. It is safe for concurrent use.
type Tokenizer struct {
	vocab vocab
	bytes [256]int32 // the token of each single byte
	pairs pairs
	added added
	split splitter
	words wordCache
}

// AddedToken is a token outside the vocabulary that is recognised as a whole in text:
// "<|im_start|>", "<think>", ….
type AddedToken struct {
	ID      int32
	Content string
	Special bool // as the file says; special or not, all are recognised
}

// Match is a place where an added token stands in a text, in bytes.
type Match struct {
	ID       int32
	From, To int
}

// Encode appends the ids of text to dst. Added tokens in text are recognised, as the
// reference does, unless literal is set: then all of it is plain text. Text that
// is not valid UTF-8 is encoded byte by byte where it is broken.
func (t *Tokenizer) Encode(dst []int32, text string, literal bool) []int32 {
	if !literal {
		for {
			m, ok := t.added.next(text)
			if !ok {
				break
			}
			dst = t.segment(dst, text[:m.From])
			dst = append(dst, m.ID)
			text = text[m.To:]
		}
	}
	return t.segment(dst, text)
}

// segment encodes text between added tokens.
func (t *Tokenizer) segment(dst []int32, text string) []int32 {
	text = t.split.nfc(text)
	for text != "" {
		n := t.split.next(text)
		dst = t.word(dst, text[:n])
		text = text[n:]
	}
	return dst
}

// word encodes one piece of the split pattern.
func (t *Tokenizer) word(dst []int32, word string) []int32 {
	if len(word) == 1 {
		return append(dst, t.bytes[word[0]])
	}
	if len(word) > maxCachedWord {
		return t.merge(dst, word)
	}
	if ids, ok := t.words.get(word); ok {
		return append(dst, ids...)
	}
	from := len(dst)
	dst = t.merge(dst, word)
	t.words.put(word, dst[from:])
	return dst
}

// Decode returns the text of ids. A sequence that was cut inside a character gives
// text that is not valid UTF-8; unknown ids give nothing.
func (t *Tokenizer) Decode(ids []int32) string {
	var out strings.Builder
	for _, id := range ids {
		if token, ok := t.added.content(id); ok {
			out.WriteString(token)
		} else {
			out.Write(t.vocab.token(id))
		}
	}
	return out.String()
}

// Find returns the added tokens in text, from left to right, the longest where
// several start.
func (t *Tokenizer) Find(text string) []Match {
	var found []Match
	for at := 0; ; {
		m, ok := t.added.next(text[at:])
		if !ok {
			return found
		}
		found = append(found, Match{ID: m.ID, From: at + m.From, To: at + m.To})
		at += m.To
	}
}

// Added returns the added tokens by ascending id.
func (t *Tokenizer) Added() []AddedToken { return t.added.list() }

// ID returns the id of an added token by its content, or of a vocabulary entry by
// its text.
func (t *Tokenizer) ID(token string) (int32, bool) {
	if id, ok := t.added.id(token); ok {
		return id, true
	}
	return t.vocab.id([]byte(token))
}

// Size returns the number of ids: the highest one plus one. A model's embedding has
// at least as many rows.
func (t *Tokenizer) Size() int { return max(len(t.vocab.spans), t.added.size()) }
