package engine

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseValue reads one JSON document into a Value. It is stricter than Go's
// decoder: duplicate names, invalid UTF-8, lone surrogates, numbers that overflow a
// float64, nesting beyond limits.Depth and anything after the document are refused
// with an Invalid error (endpoint.md 6). Only Body, Depth and Values of limits count.
func ParseValue(data []byte, limits Limits) (Value, error) {
	limits = limits.filled()
	var f faults
	d := decoder{data: data, depth: limits.Depth, left: limits.Values, faults: &f}
	switch {
	case len(data) > limits.Body:
		f.add("too_long", nil, "The body has %d bytes; the limit is %d", len(data), limits.Body)
		return Value{}, f.err()
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		f.add("json_invalid", []any{0}, "The body starts with a byte order mark; send UTF-8 without one")
		return Value{}, f.err()
	case len(bytes.Trim(data, " \t\r\n")) == 0:
		f.add("json_invalid", []any{len(data)}, "The body is empty: send JSON")
		return Value{}, f.err()
	case !utf8.Valid(data):
		at := invalidUTF8(data)
		f.add("json_invalid", []any{at}, "The body is not valid UTF-8 (at byte %d)", at)
		return Value{}, f.err()
	}
	ok := d.value()
	if d.space(); ok && d.pos < len(d.data) {
		d.fail("there is something after the end of the document")
	}
	return d.out, f.err()
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// decoder reads valid UTF-8. A method that returns false has noted a fault, and
// reading ends; duplicate names and lone surrogates are noted and reading goes on.
type decoder struct {
	data   []byte
	pos    int
	depth  int // levels that may still be opened
	left   int // values that may still be read
	half   int // where half of a surrogate pair was met; 0 for none, as a quote comes first
	path   []step
	faults *faults

	// Elements of the containers being read, the innermost last: a finished container
	// gets an array of the right size. Short strings share chunks.
	out    Value // the value last read
	items  []Value
	fields []Member
	chunk  strings.Builder
}

// step is one element of the path to the value being read.
type step struct {
	name  string
	index int // -1 for a member
}

// where returns the path as a detail's location.
func (d *decoder) where() []any {
	loc := make([]any, 0, len(d.path))
	for _, s := range d.path {
		if s.index >= 0 {
			loc = append(loc, s.index)
		} else {
			loc = append(loc, s.name)
		}
	}
	return loc
}

func (d *decoder) fail(why string) bool {
	d.faults.add("json_invalid", []any{d.pos}, "The body is not valid JSON: %s (at byte %d)", why, d.pos)
	return false
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, 0 at the end.
func (d *decoder) peek() byte {
	d.space()
	if d.pos >= len(d.data) {
		return 0
	}
	return d.data[d.pos]
}

// value reads a value into d.out.
func (d *decoder) value() bool {
	c := d.peek()
	if d.left--; d.left < 0 {
		d.faults.add("too_long", []any{d.pos}, "The body holds more JSON values than can be read")
		return false
	}
	switch {
	case c == '"':
		s, ok := d.str()
		d.halves()
		d.out = Value{Type: String, Text: s}
		return ok
	case c == '{' || c == '[':
		if d.depth--; d.depth < 0 {
			d.faults.add("json_too_deep", []any{d.pos}, "The body is nested too deeply (at byte %d)", d.pos)
			return false
		}
		d.pos++
		d.path = append(d.path, step{})
		ok := c == '[' && d.array() || c == '{' && d.object()
		d.path = d.path[:len(d.path)-1]
		d.depth++
		return ok
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	return d.word()
}

func (d *decoder) array() bool {
	if d.peek() == ']' {
		d.pos++
		d.out = Value{Type: Array}
		return true
	}
	base := len(d.items)
	for i, done := 0, false; !done; i++ {
		d.path[len(d.path)-1] = step{index: i}
		if !d.value() {
			return false
		}
		d.items = append(d.items, d.out)
		var ok bool
		if done, ok = d.separator(']'); !ok {
			return false
		}
	}
	d.out = Value{Type: Array, Items: slices.Clone(d.items[base:])}
	d.items = d.items[:base]
	return true
}

func (d *decoder) object() bool {
	if d.peek() == '}' {
		d.pos++
		d.out = Value{Type: Object}
		return true
	}
	base := len(d.fields)
	var names nameSet
	for done := false; !done; {
		d.path[len(d.path)-1] = step{index: -1}
		if d.peek() != '"' {
			return d.fail("expected a name in quotes")
		}
		name, ok := d.str()
		if !ok {
			return false
		}
		d.path[len(d.path)-1].name = name
		d.halves()
		if names.has(d.fields[base:], name) {
			d.faults.add("json_duplicate_key", d.where(), "The name %s appears twice in one object", strconv.Quote(clip(name)))
		}
		if d.peek() != ':' {
			return d.fail("expected a colon after a name")
		}
		d.pos++
		if !d.value() {
			return false
		}
		d.fields = append(d.fields, Member{Name: name, Value: d.out})
		if done, ok = d.separator('}'); !ok {
			return false
		}
	}
	d.out = Value{Type: Object, Fields: slices.Clone(d.fields[base:])}
	d.fields = d.fields[:base]
	return true
}

// separator reads the comma between elements, or the end of the container.
func (d *decoder) separator(end byte) (done, ok bool) {
	switch d.peek() {
	case ',':
		d.pos++
		return false, true
	case end:
		d.pos++
		return true, true
	case 0:
		return false, d.fail("it ends too early")
	}
	return false, d.fail("expected a comma or " + string(end))
}

// nameSet finds duplicate names: by looking through small objects, by a map in
// large ones.
type nameSet struct {
	seen map[string]struct{}
}

const linearNames = 12

func (s *nameSet) has(fields []Member, name string) bool {
	if len(fields) < linearNames {
		for i := range fields {
			if fields[i].Name == name {
				return true
			}
		}
		return false
	}
	if s.seen == nil {
		s.seen = make(map[string]struct{}, 4*linearNames)
		for i := range fields {
			s.seen[fields[i].Name] = struct{}{}
		}
	}
	_, twice := s.seen[name]
	s.seen[name] = struct{}{}
	return twice
}
