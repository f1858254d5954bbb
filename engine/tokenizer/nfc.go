package tokenizer

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// markRun is how many marks in a row norm.NFC is trusted with. Each may decompose
// into several; from more than 30 on, norm inserts U+034F by the rules of
// stream-safe text, which the reference does not.
const markRun = 6

// nfc returns text in plain Unicode NFC, without stream-safe rules.
func (s splitter) nfc(text string) string {
	if isASCII(text) {
		return text
	}
	if s.longMarks(text) {
		return compose(decompose(text))
	}
	return norm.NFC.String(text)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// longMarks reports whether text holds more than markRun marks in a row. Characters
// with a combining class are marks.
func (s splitter) longMarks(text string) bool {
	n := 0
	for i := 0; i < len(text); {
		c, width := s.at(text, i)
		if n++; c&mark == 0 {
			n = 0
		}
		if n > markRun {
			return true
		}
		i += width
	}
	return false
}

// combining is a character with its canonical combining class.
type combining struct {
	r     rune
	class uint8
}

// decompose is canonical decomposition with canonical ordering (Unicode 3.11, D108
// and D109).
func decompose(text string) []combining {
	out := make([]combining, 0, len(text))
	for _, r := range text {
		if r < utf8.RuneSelf {
			out = append(out, combining{r: r})
			continue
		}
		for _, part := range norm.NFD.String(string(r)) {
			out = append(out, combining{part, norm.NFD.PropertiesString(string(part)).CCC()})
		}
	}
	for i := 0; i < len(out); i++ {
		j := i
		for j < len(out) && out[j].class != 0 {
			j++
		}
		if j > i {
			slices.SortStableFunc(out[i:j], func(a, b combining) int { return cmp.Compare(a.class, b.class) })
			i = j
		}
	}
	return out
}

// compose is canonical composition (Unicode 3.11, D117): a character joins the last
// starter unless something with no lower class stands between them.
func compose(in []combining) string {
	out := in[:0]
	starter := -1
	for _, c := range in {
		if starter >= 0 {
			blocked := len(out)-1 > starter && out[len(out)-1].class >= c.class
			if joined, ok := primary(out[starter].r, c.r); ok && !blocked {
				out[starter].r = joined
				continue
			}
		}
		if c.class == 0 {
			starter = len(out)
		}
		out = append(out, c)
	}
	text := make([]byte, 0, 3*len(out))
	for _, c := range out {
		text = utf8.AppendRune(text, c.r)
	}
	return string(text)
}

// primary returns the primary composite of two characters, if there is one. No
// second character of a composite is below U+0300.
func primary(a, b rune) (rune, bool) {
	if b < 0x300 {
		return 0, false
	}
	joined := norm.NFC.String(string([]rune{a, b}))
	r, width := utf8.DecodeRuneInString(joined)
	return r, width == len(joined)
}
