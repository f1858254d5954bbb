package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// scanner walks through a tokenizer.json of 20 MB without building a tree of it: its
// two long lists are read in place, everything else is handed to encoding/json.
// After an error every method does nothing.
type scanner struct {
	data []byte
	pos  int
	err  error
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// peek returns the next byte that is not white space.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\n', '\r', '\t':
			s.pos++
		default:
			return c
		}
	}
	s.fail("the file ends too early")
	return 0
}

func (s *scanner) expect(c byte) {
	if got := s.peek(); s.err == nil && got != c {
		s.fail("expected %q at byte %d, found %q", c, s.pos, got)
	}
	if s.err == nil {
		s.pos++
	}
}

// list calls read for every element between open and end.
func (s *scanner) list(open, end byte, read func()) {
	s.expect(open)
	if s.err == nil && s.peek() == end {
		s.pos++
		return
	}
	for s.err == nil {
		read()
		if s.err != nil {
			return
		}
		if s.peek() == end {
			s.pos++
			return
		}
		s.expect(',')
	}
}

// object calls read with every name; read has to take the value.
func (s *scanner) object(read func(name []byte)) {
	s.list('{', '}', func() {
		name := s.str()
		s.expect(':')
		if s.err == nil {
			read(name)
		}
	})
}

// str reads a string and returns its text, which is part of the file where it has
// no escapes.
func (s *scanner) str() []byte {
	if s.expect('"'); s.err != nil {
		return nil
	}
	from, escapes := s.pos, false
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case '"':
			s.pos++
			if !escapes {
				return s.data[from : s.pos-1]
			}
			var text string
			if err := json.Unmarshal(s.data[from-1:s.pos], &text); err != nil {
				s.fail("a string at byte %d: %w", from, err)
			}
			return []byte(text)
		case '\\':
			escapes = true
			s.pos++
		}
		s.pos++
	}
	s.fail("the file ends too early")
	return nil
}

// integer reads a number from 0 to less than limit.
func (s *scanner) integer(limit int) int {
	s.peek()
	n, from := 0, s.pos
	for s.err == nil && s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		if n = 10*n + int(s.data[s.pos]-'0'); n >= limit {
			s.fail("a number at byte %d is not below %d", from, limit)
		}
		s.pos++
	}
	if s.pos == from {
		s.fail("expected a number at byte %d", from)
	}
	return n
}

// raw passes over any value and returns its text. Brackets are counted, not
// followed, so nesting costs no stack.
func (s *scanner) raw() []byte {
	s.peek()
	from, depth := s.pos, 0
	for s.err == nil {
		switch c := s.peek(); c {
		case '"':
			s.str()
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			if depth--; depth < 0 {
				s.fail("unexpected %q at byte %d", c, s.pos)
			}
			s.pos++
		case ',', ':':
			if depth == 0 {
				s.fail("unexpected %q at byte %d", c, s.pos)
			}
			s.pos++
		default:
			s.literal()
		}
		if depth == 0 {
			break
		}
	}
	if s.err != nil {
		return nil
	}
	return s.data[from:s.pos]
}

// literal passes over a number or a word.
func (s *scanner) literal() {
	end := bytes.IndexAny(s.data[s.pos:min(len(s.data), s.pos+64)], " \n\r\t,:]}[{\"")
	switch {
	case end > 0:
		s.pos += end
	case end < 0 && len(s.data)-s.pos < 64:
		s.pos = len(s.data)
	default:
		s.fail("expected a value at byte %d", s.pos)
	}
}

// decode passes over a value and fills v from it.
func (s *scanner) decode(v any) {
	raw := s.raw()
	if s.err != nil {
		return
	}
	if err := json.Unmarshal(raw, v); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			s.fail("%s should not be %s", kind.Field, kind.Value)
			return
		}
		s.fail("%w", err)
	}
}
