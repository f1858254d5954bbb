package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"clefbar/engine"
)

// Bounds on what a file may claim. The released tokenizer has 20 MB, 248,044 tokens
// and 247,587 merges.
const (
	maxFile       = 256 << 20
	maxIDs        = 1 << 20
	maxMerges     = 1 << 21
	maxAdded      = 4096
	maxAddedBytes = 256
)

// Load reads the contents of a tokenizer.json. Merges may be pairs or, in older files,
// strings with a space. An error is an *engine.Error with Reason BadModel that names
// the field which is damaged or asks for something that this package does not do.
func Load(data []byte) (*Tokenizer, error) {
	t, err := load(data)
	if err != nil {
		return nil, &engine.Error{Reason: engine.BadModel, Message: "tokenizer.json: " + err.Error(), Err: err}
	}
	return t, nil
}

func load(data []byte) (*Tokenizer, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file has %d bytes; at most %d are read", len(data), maxFile)
	}
	f, err := readFile(data)
	if err != nil {
		return nil, err
	}
	if err := f.supported(); err != nil {
		return nil, err
	}
	t := &Tokenizer{split: splitter{class: classes()}, words: wordCache{seed: maphash.MakeSeed()}}
	if err := t.loadVocab(f.vocab); err != nil {
		return nil, fmt.Errorf("model.vocab: %w", err)
	}
	if err := t.loadMerges(f.merges); err != nil {
		return nil, fmt.Errorf("model.merges: %w", err)
	}
	if err := t.loadAdded(f.added); err != nil {
		return nil, fmt.Errorf("added_tokens: %w", err)
	}
	return t, nil
}

// loadVocab reads {"token": id, …}.
func (t *Tokenizer) loadVocab(raw []byte) error {
	v := &t.vocab
	v.text = make([]byte, 0, len(raw)/3)
	s := scanner{data: raw}
	s.object(func(name []byte) {
		from := len(v.text)
		var ok bool
		if v.text, ok = appendRaw(v.text, name); !ok {
			s.fail("token %q is not spelled in byte-level characters", name)
			return
		}
		if from == len(v.text) {
			s.fail("the empty token is not supported")
			return
		}
		id := s.integer(maxIDs)
		for id >= len(v.spans) {
			v.spans = append(v.spans, span{})
		}
		if v.spans[id].to > 0 {
			s.fail("tokens %q and %q share the id %d", v.token(int32(id)), name, id)
			return
		}
		v.spans[id] = span{uint32(from), uint32(len(v.text))}
	})
	if s.err != nil {
		return s.err
	}
	v.text, v.spans = slices.Clip(v.text), slices.Clip(v.spans)
	v.index()
	for b := range t.bytes {
		id, ok := v.id([]byte{byte(b)})
		if !ok {
			return fmt.Errorf("byte %d (%q) has no token", b, string(byteRunes[b]))
		}
		t.bytes[b] = id
	}
	return nil
}

// loadMerges reads [["a", "b"], …] or ["a b", …].
func (t *Tokenizer) loadMerges(raw []byte) error {
	t.pairs = newPairs(min(countMerges(raw), maxMerges))
	s := scanner{data: raw}
	rank := 0
	var both []byte
	s.list('[', ']', func() {
		if rank >= maxMerges {
			s.fail("there are more than %d", maxMerges)
			return
		}
		var cut int
		both, cut = s.halves(both[:0])
		if s.err != nil {
			return
		}
		left, okLeft := t.vocab.id(both[:cut])
		right, okRight := t.vocab.id(both[cut:])
		whole, okWhole := t.vocab.id(both)
		if !okLeft || !okRight || !okWhole {
			s.fail("entry %d does not join two tokens of the vocabulary into a third", rank)
			return
		}
		t.pairs.put(left, right, merge(rank)<<32|merge(uint32(whole)))
		rank++
	})
	return s.err
}

// countMerges counts an upper bound of entries, so that the table is made once.
func countMerges(raw []byte) int {
	n := 0
	for _, c := range raw {
		if c == ',' {
			n++
		}
	}
	return n + 1
}

// halves reads one merge and appends the bytes of its two tokens to dst; cut is where
// the second begins.
func (s *scanner) halves(dst []byte) (both []byte, cut int) {
	var left, right []byte
	n := 0
	if s.peek() == '[' {
		s.list('[', ']', func() {
			left, right = right, s.str()
			n++
		})
	} else {
		left, right, _ = bytes.Cut(s.str(), []byte{' '})
		n = 2
	}
	dst, okLeft := appendRaw(dst, left)
	cut = len(dst)
	dst, okRight := appendRaw(dst, right)
	if n != 2 || !okLeft || !okRight {
		s.fail("the entry before byte %d is not two tokens", s.pos)
	}
	return dst, cut
}

// loadAdded checks and takes the added tokens.
func (t *Tokenizer) loadAdded(entries []addedEntry) error {
	if len(entries) > maxAdded {
		return fmt.Errorf("there are %d; at most %d are read", len(entries), maxAdded)
	}
	ids := make(map[int32]string, len(entries))
	contents := make(map[string]bool, len(entries))
	tokens := make([]AddedToken, 0, len(entries))
	for _, e := range entries {
		if err := e.check(); err != nil {
			return err
		}
		id := int32(e.ID)
		if other, twice := ids[id]; twice || contents[e.Content] {
			return fmt.Errorf("%q and %q share an id or a text", e.Content, other)
		}
		if token := t.vocab.token(id); len(token) > 0 && string(token) != e.Content {
			return fmt.Errorf("%q has the id %d of the vocabulary's %q", e.Content, id, token)
		}
		ids[id], contents[e.Content] = e.Content, true
		tokens = append(tokens, AddedToken{ID: id, Content: e.Content, Special: e.Special})
	}
	t.added = newAdded(tokens)
	return nil
}

// addedEntry is an entry of added_tokens.
type addedEntry struct {
	ID         int64  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

func (e addedEntry) check() error {
	switch {
	case e.Content == "":
		return errors.New("a token is empty")
	case len(e.Content) > maxAddedBytes:
		return fmt.Errorf("a token has %d bytes; at most %d are read", len(e.Content), maxAddedBytes)
	case e.ID < 0 || e.ID >= maxIDs:
		return fmt.Errorf("%q has the id %d, which is not below %d", e.Content, e.ID, maxIDs)
	}
	for field, on := range map[string]bool{"single_word": e.SingleWord, "lstrip": e.LStrip, "rstrip": e.RStrip, "normalized": e.Normalized} {
		if on {
			return fmt.Errorf("%q sets %s, which is not supported", e.Content, field)
		}
	}
	return nil
}
