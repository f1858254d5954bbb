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
	case !utf8.Valid(data):
		f.add("json_invalid", []any{invalidUTF8(data)}, "The body is not valid UTF-8")
		return Value{}, f.err()
	}
	v, ok := d.value()
	if d.space(); ok && d.pos < len(d.data) {
		d.fail("there is something after the end of the document")
	}
	return v, f.err()
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

func (d *decoder) value() (Value, bool) {
	c := d.peek()
	if d.left--; d.left < 0 {
		d.faults.add("too_long", []any{d.pos}, "The body holds more JSON values than can be read")
		return Value{}, false
	}
	switch {
	case c == '{' || c == '[':
		if d.depth--; d.depth < 0 {
			d.faults.add("json_too_deep", []any{d.pos}, "The body is nested too deeply (at byte %d)", d.pos)
			return Value{}, false
		}
		v, ok := d.container(c)
		d.depth++
		return v, ok
	case c == '"':
		s, ok := d.str()
		d.halves()
		return Value{Type: String, Text: s}, ok
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	return d.word()
}

func (d *decoder) container(open byte) (Value, bool) {
	d.pos++
	if open == '[' {
		return d.array()
	}
	return d.object()
}

func (d *decoder) array() (Value, bool) {
	v := Value{Type: Array}
	if d.peek() == ']' {
		d.pos++
		return v, true
	}
	base := len(d.items)
	d.path = append(d.path, step{})
	for i := 0; ; i++ {
		d.path[len(d.path)-1] = step{index: i}
		item, ok := d.value()
		if !ok {
			return v, false
		}
		d.items = append(d.items, item)
		done, ok := d.separator(']')
		if !ok {
			return v, false
		}
		if done {
			break
		}
	}
	v.Items = slices.Clone(d.items[base:])
	d.items, d.path = d.items[:base], d.path[:len(d.path)-1]
	return v, true
}

func (d *decoder) object() (Value, bool) {
	v := Value{Type: Object}
	if d.peek() == '}' {
		d.pos++
		return v, true
	}
	base := len(d.fields)
	d.path = append(d.path, step{})
	var names nameSet
	for {
		d.path[len(d.path)-1] = step{name: "", index: -1}
		if d.peek() != '"' {
			return v, d.fail("expected a name in quotes")
		}
		name, ok := d.str()
		if !ok {
			return v, false
		}
		d.path[len(d.path)-1].name = name
		d.halves()
		if names.has(d.fields[base:], name) {
			d.faults.add("json_duplicate_key", d.where(), "The name %s appears twice in one object", strconv.Quote(clip(name)))
		}
		if d.peek() != ':' {
			return v, d.fail("expected a colon after a name")
		}
		d.pos++
		member, ok := d.value()
		if !ok {
			return v, false
		}
		d.fields = append(d.fields, Member{Name: name, Value: member})
		done, ok := d.separator('}')
		if !ok {
			return v, false
		}
		if done {
			break
		}
	}
	v.Fields = slices.Clone(d.fields[base:])
	d.fields, d.path = d.fields[:base], d.path[:len(d.path)-1]
	return v, true
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
	return false, d.fail("expected a comma or " + strconv.Quote(string(end)))
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

// clip shortens text for a message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
