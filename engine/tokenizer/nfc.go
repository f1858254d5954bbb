package tokenizer

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// nfc returns text in Unicode NFC as the reference makes it: without stream-safe
// rules, and with inert marks standing where they are.
func (s splitter) nfc(text string) string {
	if isASCII(text) {
		return text
	}
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); {
		c, width := s.at(text, i)
		if c&inert != 0 {
			out.WriteString(normal(text[from:i]))
			out.WriteString(text[i : i+width])
			from = i + width
		}
		i += width
	}
	if from == 0 {
		return normal(text)
	}
	out.WriteString(normal(text[from:]))
	return out.String()
}

// joiner is what norm puts into runs of more than 30 characters that join to the left
// (the rules of stream-safe text). The reference does not.
const joiner = "\u034f"

// normal returns plain NFC of text that has no inert marks.
func normal(text string) string {
	out := norm.NFC.String(text)
	if strings.Count(out, joiner) != strings.Count(text, joiner) {
		return compose(decompose(text))
	}
	return out
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
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
