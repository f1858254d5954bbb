package engine

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string in quotes; d.pos is at the opening quote.
func (d *decoder) str() (string, bool) {
	d.pos++
	start := d.pos
	rest := d.data[start:]
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		end = len(rest)
	}
	if plain(rest[:end]) && end < len(rest) {
		d.pos += end + 1
		return d.text(rest[:end]), true
	}
	return d.escaped(start)
}

// Short strings are cut from chunks of this size; a string that outlives its request
// keeps no more than one chunk alive.
const (
	chunkBytes = 8 << 10
	shortBytes = 256
)

// text returns b as a string.
func (d *decoder) text(b []byte) string {
	if len(b) > shortBytes {
		return string(b)
	}
	if d.chunk.Cap()-d.chunk.Len() < len(b) {
		d.chunk = strings.Builder{}
		d.chunk.Grow(min(chunkBytes, len(d.data)))
	}
	from := d.chunk.Len()
	d.chunk.Write(b)
	return d.chunk.String()[from:]
}

// plain reports whether b can be taken as it is: no escapes, no control characters.
func plain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == '\\' {
			return false
		}
	}
	return true
}

// escaped reads a string that has escapes or faults in it.
func (d *decoder) escaped(start int) (string, bool) {
	out := make([]byte, 0, d.closing(start)-start)
	from := start
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '"':
			out = append(out, d.data[from:d.pos]...)
			d.pos++
			return d.text(out), true
		case c < ' ':
			return "", d.fail("a control character in a string has to be escaped")
		case c == '\\':
			out = append(out, d.data[from:d.pos]...)
			var ok bool
			if out, ok = d.escape(out); !ok {
				return "", false
			}
			from = d.pos
		default:
			d.pos++
		}
	}
	return "", d.fail("a string does not end")
}

// closing returns where the string that begins at from ends, or the end of the data:
// no string is longer than it is spelled.
func (d *decoder) closing(from int) int {
	for i := from; i < len(d.data); i++ {
		switch d.data[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return len(d.data)
}

// escape reads one escape sequence; d.pos is at the backslash.
func (d *decoder) escape(out []byte) ([]byte, bool) {
	if d.pos+1 >= len(d.data) {
		return out, d.fail("a string does not end")
	}
	c := d.data[d.pos+1]
	if c == 'u' {
		return d.unicodeEscape(out)
	}
	plain := bytes.IndexByte([]byte(`"\/bfnrt`), c)
	if plain < 0 {
		return out, d.fail("unknown escape in a string")
	}
	d.pos += 2
	return append(out, "\"\\/\b\f\n\r\t"[plain]), true
}

// unicodeEscape reads \uXXXX, or two of them for a surrogate pair.
func (d *decoder) unicodeEscape(out []byte) ([]byte, bool) {
	start := d.pos
	r, ok := d.hex4()
	if !ok {
		return out, d.fail("expected four hexadecimal digits after \\u")
	}
	if utf16.IsSurrogate(r) {
		pair := rune(utf8.RuneError)
		if bytes.HasPrefix(d.data[d.pos:], []byte(`\u`)) {
			after := d.pos
			low, ok := d.hex4()
			if pair = utf16.DecodeRune(r, low); !ok || pair == utf8.RuneError {
				pair, d.pos = utf8.RuneError, after
			}
		}
		if pair == utf8.RuneError && d.half == 0 {
			d.half = start
		}
		r = pair
	}
	return utf8.AppendRune(out, r), true
}

// halves notes half of a surrogate pair in the string just read. It is apart from
// reading because the fault of a name is reported under that name.
func (d *decoder) halves() {
	if d.half == 0 {
		return
	}
	d.faults.add("json_invalid", d.where(), "The text holds half of a surrogate pair, %s, which is no character (at byte %d)",
		d.data[d.half:d.half+6], d.half)
	d.half = 0
}

// hex4 reads \uXXXX at d.pos.
func (d *decoder) hex4() (rune, bool) {
	if d.pos+6 > len(d.data) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(d.data[d.pos+2:d.pos+6]), 16, 16)
	if err != nil {
		return 0, false
	}
	d.pos += 6
	return rune(n), true
}
