package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"clefbar/engine"
)

// maxDepth is the deepest nesting of a request (endpoint.md 3.6).
const maxDepth = 64

// maxSource is the longest JSON text that is read: the endpoint's body limit with
// room for the white space of a pretty-printed file.
const maxSource = 64 << 20

// parser builds a tree from text that encoding/json has found valid, so it only
// has to cut it into pieces.
type parser struct {
	src string
	pos int
	key func() Key
}

// parseTree reads one JSON value with everything around it. lead and tail are
// the white space before and after it. A byte order mark is dropped.
func parseTree(data []byte, key func() Key) (lead string, root *node, tail string, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkSource(data); err != nil {
		return "", nil, "", err
	}
	p := parser{src: string(data), key: key}
	lead = p.space()
	root = p.value()
	return lead, root, p.src[p.pos:], nil
}

// checkSource refuses what is too large, not UTF-8, too deep or not JSON.
func checkSource(data []byte) error {
	if len(data) > maxSource {
		return &SyntaxError{Message: fmt.Sprintf("the text is %d bytes long; at most %d are read", len(data), maxSource)}
	}
	if !utf8.Valid(data) {
		at := 0
		for at < len(data) {
			r, n := utf8.DecodeRune(data[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return syntaxError(data, at, "this is not UTF-8 text")
	}
	if at := tooDeep(data); at >= 0 {
		return syntaxError(data, at, fmt.Sprintf("more than %d levels of nesting", maxDepth))
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return syntaxError(data, len(data), "there is no JSON here yet")
	}
	var any json.RawMessage
	err := json.Unmarshal(data, &any)
	if err == nil {
		return nil
	}
	at := len(data)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok && !strings.HasPrefix(err.Error(), "unexpected end") {
		at = max(0, int(e.Offset)-1) // Offset counts the offending byte
	}
	return syntaxError(data, at, plainly(err.Error()))
}

// plainWords says what encoding/json says, to people who do not know Go.
var plainWords = []struct{ found, said string }{
	{"unexpected end", "the text ends too early"},
	{"beginning of object key", "a name in double quotes was expected here"},
	{"after object key:value pair", "a comma or } was expected here"},
	{"after object key", "a colon was expected here"},
	{"after array element", "a comma or ] was expected here"},
	{"after top-level value", "something stands after the end"},
	{"in string escape code", "no escape begins like this"},
	{"in \\u hexadecimal", "four hexadecimal digits were expected here"},
	{"in string literal", "a line break or another control character has to be written as an escape"},
	{"numeric literal", "this is no number"},
	{"in literal", "true, false or null was expected here"},
	{"beginning of value", "a value was expected here: text in double quotes, a number, true, false, null, { or ["},
}

func plainly(message string) string {
	for _, w := range plainWords {
		if strings.Contains(message, w.found) {
			return w.said
		}
	}
	return message
}

// tooDeep returns the offset of the first bracket past maxDepth, or -1.
func tooDeep(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

func (p *parser) space() string {
	from := p.pos
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n", p.src[p.pos]) >= 0 {
		p.pos++
	}
	return p.src[from:p.pos]
}

func (p *parser) value() *node {
	n := &node{at: p.pos}
	from := p.pos
	switch c := p.src[p.pos]; c {
	case '{':
		n.typ = engine.Object
		p.members(n, '}')
	case '[':
		n.typ = engine.Array
		p.members(n, ']')
	case '"':
		n.typ = engine.String
		n.raw = p.quoted()
		n.text, n.lone = unquote(n.raw)
	default:
		for p.pos < len(p.src) && strings.IndexByte(",]} \t\r\n", p.src[p.pos]) < 0 {
			p.pos++
		}
		n.raw = p.src[from:p.pos]
		n.typ = literalType(c)
	}
	return n
}

func literalType(first byte) engine.ValueType {
	switch first {
	case 'n':
		return engine.Null
	case 't', 'f':
		return engine.Bool
	}
	return engine.Number
}

// members reads the inside of an object or array; p stands on the open bracket.
func (p *parser) members(n *node, end byte) {
	p.pos++
	lead := p.space()
	if p.src[p.pos] == end {
		n.inner = lead
		p.pos++
		return
	}
	for {
		s := slot{lead: lead}
		s.key, s.at = p.key(), p.pos
		if end == '}' {
			s.name = p.quoted()
			s.id, s.lone = unquote(s.name)
			from := p.pos
			p.space()
			p.pos++ // ':'
			p.space()
			s.colon = p.src[from:p.pos]
		}
		s.value = p.value()
		s.trail = p.space()
		n.slots = append(n.slots, s)
		p.pos++
		if p.src[p.pos-1] == end {
			return
		}
		lead = p.space()
	}
}

// quoted returns the string literal at p, with its quotes.
func (p *parser) quoted() string {
	from := p.pos
	for p.pos++; p.src[p.pos] != '"'; p.pos++ {
		if p.src[p.pos] == '\\' {
			p.pos++
		}
	}
	p.pos++
	return p.src[from:p.pos]
}

// unquote decodes a valid JSON string literal. lone reports a surrogate escape
// without its other half, which is shown as U+FFFD.
func unquote(raw string) (s string, lone bool) {
	in := raw[1 : len(raw)-1]
	if strings.IndexByte(in, '\\') < 0 {
		return in, false
	}
	b := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' {
			b = append(b, in[i])
			continue
		}
		i++
		if in[i] != 'u' {
			b = append(b, unescaped(in[i]))
			continue
		}
		r := hex4(in[i+1:])
		i += 4
		if utf16.IsSurrogate(r) {
			pair := rune(utf8.RuneError)
			if strings.HasPrefix(in[i+1:], `\u`) {
				pair = utf16.DecodeRune(r, hex4(in[i+3:]))
			}
			if pair == utf8.RuneError {
				lone = true
			} else {
				i += 6
			}
			r = pair
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b), lone
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(s string) rune {
	v, err := strconv.ParseUint(s[:4], 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(v)
}
