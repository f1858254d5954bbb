package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// file is what counts in a tokenizer.json. Post-processor, decoder, truncation and
// padding do not: the prompt is encoded without special tokens and never cut here.
type file struct {
	added      []addedEntry
	normalizer *step
	splitter   *step
	model      model
	vocab      []byte // JSON text of the two long lists
	merges     []byte
}

// step is a normalizer or pre-tokenizer, or a sequence of them.
type step struct {
	Type          string `json:"type"`
	Normalizers   []step `json:"normalizers"`
	Pretokenizers []step `json:"pretokenizers"`
	Pattern       struct {
		Regex *string `json:"Regex"`
	} `json:"pattern"`
	Behavior       string `json:"behavior"`
	Invert         bool   `json:"invert"`
	AddPrefixSpace *bool  `json:"add_prefix_space"`
	UseRegex       *bool  `json:"use_regex"`
}

// model is the model without its lists.
type model struct {
	Type         string   `json:"type"`
	Dropout      *float64 `json:"dropout"`
	UnkToken     *string  `json:"unk_token"`
	Prefix       *string  `json:"continuing_subword_prefix"`
	Suffix       *string  `json:"end_of_word_suffix"`
	FuseUnk      bool     `json:"fuse_unk"`
	ByteFallback bool     `json:"byte_fallback"`
	IgnoreMerges bool     `json:"ignore_merges"`
}

// readFile finds the parts of a tokenizer.json.
func readFile(data []byte) (*file, error) {
	f := &file{}
	s := scanner{data: data}
	s.object(func(name []byte) {
		switch string(name) {
		case "added_tokens":
			s.decode(&f.added)
		case "normalizer":
			s.decode(&f.normalizer)
		case "pre_tokenizer":
			s.decode(&f.splitter)
		case "model":
			f.readModel(&s)
		default:
			s.raw()
		}
		if s.err != nil {
			s.err = fmt.Errorf("%s: %w", name, s.err)
		}
	})
	if s.err == nil && len(bytes.TrimSpace(data[s.pos:])) > 0 {
		s.fail("there is something after the end at byte %d", s.pos)
	}
	return f, s.err
}

// readModel takes the two lists as text and decodes the rest.
func (f *file) readModel(s *scanner) {
	rest := []byte{'{'}
	s.object(func(name []byte) {
		raw := s.raw()
		switch string(name) {
		case "vocab":
			f.vocab = raw
		case "merges":
			f.merges = raw
		default:
			if len(rest) > 1 {
				rest = append(rest, ',')
			}
			quoted, _ := json.Marshal(string(name)) // a string always marshals
			rest = append(append(append(rest, quoted...), ':'), raw...)
		}
	})
	if s.err != nil {
		return
	}
	small := scanner{data: append(rest, '}')}
	small.decode(&f.model)
	s.err = small.err
}

// supported says which field of the file asks for what this package does not do.
func (f *file) supported() error {
	m := &f.model
	set := func(s *string) bool { return s != nil && *s != "" }
	switch {
	case m.Type != "BPE":
		return fmt.Errorf("model.type %q is not supported, only BPE", m.Type)
	case f.vocab == nil:
		return errors.New("model.vocab is missing")
	case f.merges == nil:
		return errors.New("model.merges is missing")
	case m.Dropout != nil && *m.Dropout != 0:
		return errors.New("model.dropout is not supported")
	case m.UnkToken != nil:
		return errors.New("model.unk_token is not supported")
	case set(m.Prefix):
		return errors.New("model.continuing_subword_prefix is not supported")
	case set(m.Suffix):
		return errors.New("model.end_of_word_suffix is not supported")
	case m.FuseUnk:
		return errors.New("model.fuse_unk is not supported")
	case m.ByteFallback:
		return errors.New("model.byte_fallback is not supported")
	case m.IgnoreMerges:
		return errors.New("model.ignore_merges is not supported")
	}
	if err := f.supportedNormalizer(); err != nil {
		return err
	}
	return f.supportedSplitter()
}

func (f *file) supportedNormalizer() error {
	n := f.normalizer
	if n != nil && n.Type == "Sequence" && len(n.Normalizers) == 1 {
		n = &n.Normalizers[0]
	}
	switch {
	case n == nil:
		return errors.New("normalizer is missing; only NFC is supported")
	case n.Type != "NFC":
		return fmt.Errorf("normalizer %q is not supported, only NFC", n.Type)
	}
	return nil
}

func (f *file) supportedSplitter() error {
	p := f.splitter
	if p == nil || p.Type != "Sequence" || len(p.Pretokenizers) != 2 ||
		p.Pretokenizers[0].Type != "Split" || p.Pretokenizers[1].Type != "ByteLevel" {
		return errors.New("pre_tokenizer is not supported, only a Sequence of Split and ByteLevel")
	}
	split, level := p.Pretokenizers[0], p.Pretokenizers[1]
	switch {
	case split.Pattern.Regex == nil:
		return errors.New("pre_tokenizer: the Split has no regular expression")
	case *split.Pattern.Regex != Pattern:
		return fmt.Errorf("pre_tokenizer: the split pattern %q is not supported, only that of Qwen3.5", *split.Pattern.Regex)
	case split.Behavior != "Isolated":
		return fmt.Errorf("pre_tokenizer: the split behavior %q is not supported, only Isolated", split.Behavior)
	case split.Invert:
		return errors.New("pre_tokenizer: an inverted split is not supported")
	case level.AddPrefixSpace == nil || *level.AddPrefixSpace:
		return errors.New("pre_tokenizer: add_prefix_space is not supported")
	case level.UseRegex == nil || *level.UseRegex:
		return errors.New("pre_tokenizer: use_regex is not supported")
	}
	return nil
}
