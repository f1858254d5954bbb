package document

import (
	"strings"
	"unicode/utf8"

	"clefbar/engine"
)

// style is how new values are spaced: as their neighbours are, or, where there is
// none, as the rest of the document is.
type style struct {
	indent  string // white space before the container's own line, with its newline
	unit    string // one more level; "" for one-line text
	colon   string // ": " or ":"
	compact bool   // no space after commas
	inline  bool   // the container itself goes on one line
}

// open returns the space around the first member of a container.
func (s style) open() (lead, trail string) {
	if s.unit == "" || s.inline {
		return "", ""
	}
	return s.indent + s.unit, s.indent
}

// deeper is the style of a container that stands in a member of this one.
func (s style) deeper() style {
	if s.unit != "" {
		s.indent += s.unit
	}
	return s
}

// styleOf reads the style of a document from its first members. The zero tree has
// the style of a new case: two spaces.
func styleOf(root *node) style {
	s := style{indent: "\n", unit: "  ", colon: ": "}
	if root == nil || len(root.slots) == 0 {
		return s
	}
	first := root.slots[0]
	if first.colon != "" {
		s.colon = first.colon
	}
	i := strings.LastIndexByte(first.lead, '\n')
	if i < 0 {
		s.indent, s.unit = "", ""
		s.compact = len(root.slots) > 1 && root.slots[1].lead == "" || first.colon == ":"
		return s
	}
	s.indent = "\n"
	if i > 0 && first.lead[i-1] == '\r' {
		s.indent = "\r\n"
	}
	s.unit = first.lead[i+1:]
	return s
}

// appendNode writes n as it was spelled; what was made here is spelled now.
func appendNode(b []byte, n *node) []byte {
	switch n.typ {
	case engine.Object, engine.Array:
		return appendContainer(b, n)
	case engine.String:
		if n.raw != "" {
			return append(b, n.raw...)
		}
		if n.parts == nil {
			return appendQuoted(b, n.text)
		}
		b = append(b, '"')
		for _, p := range n.parts {
			b = appendEscaped(b, p)
		}
		return append(b, '"')
	}
	return append(b, n.raw...)
}

func appendContainer(b []byte, n *node) []byte {
	open, end := byte('{'), byte('}')
	if n.typ == engine.Array {
		open, end = '[', ']'
	}
	n = n.written()
	b = append(b, open)
	b = append(b, n.inner...)
	for i := range n.slots {
		s := &n.slots[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, s.lead...)
		if n.typ == engine.Object {
			if s.name != "" {
				b = append(b, s.name...)
			} else {
				b = appendQuoted(b, s.id)
			}
			b = append(b, s.colon...)
		}
		b = appendNode(b, s.value)
		b = append(b, s.trail...)
	}
	return append(b, end)
}

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}

// appendEscaped escapes only what JSON demands: quotes, backslashes and control
// characters. <, >, & and U+2028 stay as they are (cases J01, J02). Bytes that
// are not UTF-8 become U+FFFD.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(b, s[from:i]...)
				b = append(b, "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(b, s[from:]...)
}
