package tokenizer

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Pattern is the split pattern of the Qwen3.5 family, the only one that splitter
// implements. Its alternatives are tried in order at each place.
const Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// class is a set of the character classes that Pattern names.
type class uint8

const (
	letter class = 1 << iota
	mark
	number
	space
	newline
	inert // one of inertMarks, no class of Pattern
)

// classes gives the class of every code point. It is built once, when the first
// tokenizer is loaded.
var classes = sync.OnceValue(func() *[unicode.MaxRune + 1]class {
	var table [unicode.MaxRune + 1]class
	set := func(ranges *unicode.RangeTable, c class) {
		for _, r := range ranges.R16 {
			for x := uint32(r.Lo); x <= uint32(r.Hi); x += uint32(r.Stride) {
				table[x] |= c
			}
		}
		for _, r := range ranges.R32 {
			for x := r.Lo; x <= r.Hi; x += r.Stride {
				table[x] |= c
			}
		}
	}
	set(unicode.L, letter)
	set(unicode.M, mark)
	set(unicode.N, number)
	set(unicode.White_Space, space)
	add := func(ranges []runes, c class) {
		for _, r := range ranges {
			for x := r.first; x <= r.last; x++ {
				table[x] |= c
			}
		}
	}
	add(newLetters, letter)
	add(newMarks, mark)
	add(newNumbers, number)
	add(inertMarks, inert)
	table['\r'] |= newline
	table['\n'] |= newline
	return &table
})

// splitter cuts text into the pieces that Pattern finds. Every character is in some
// alternative, so the pieces cover the text.
type splitter struct {
	class *[unicode.MaxRune + 1]class
}

// at returns the class and width of the character at byte i, width 0 at the end.
func (s splitter) at(text string, i int) (class, int) {
	if i >= len(text) {
		return 0, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return s.class[b], 1
	}
	r, width := utf8.DecodeRuneInString(text[i:])
	return s.class[r], width
}

// run returns the end of the characters from i on that are in one of the classes.
func (s splitter) run(text string, i int, in class) int {
	for {
		c, width := s.at(text, i)
		if width == 0 || c&in == 0 {
			return i
		}
		i += width
	}
}

// next returns the length of the piece at the start of text, which is not empty.
func (s splitter) next(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	c, width := s.at(text, 0)
	if n := s.word(text, c, width); n > 0 {
		return n
	}
	if c&number != 0 {
		return width
	}
	if n := s.symbols(text); n > 0 {
		return n
	}
	return s.blank(text)
}

// contraction is (?i:'s|'t|'re|'ve|'m|'ll|'d). Under simple case folding U+017F is
// an s.
func contraction(text string) int {
	if text[0] != '\'' || len(text) < 2 {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(text) > 2 && text[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(text) > 2 && text[2]|0x20 == 'l' {
			return 3
		}
	}
	if strings.HasPrefix(text[1:], "ſ") {
		return 1 + len("ſ")
	}
	return 0
}

// word is [^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+. A mark may be the optional character, or,
// when nothing follows it, the word itself.
func (s splitter) word(text string, c class, width int) int {
	if c&letter != 0 {
		return s.run(text, width, letter|mark)
	}
	if c&(newline|number) == 0 {
		if end := s.run(text, width, letter|mark); end > width {
			return end
		}
	}
	if c&mark != 0 {
		return width
	}
	return 0
}

// symbols is ` ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*`.
func (s splitter) symbols(text string) int {
	from := 0
	if text[0] == ' ' {
		from = 1
	}
	end := from
	for {
		c, width := s.at(text, end)
		if width == 0 || c&(space|letter|mark|number) != 0 {
			break
		}
		end += width
	}
	if end == from {
		return 0
	}
	return s.run(text, end, newline)
}

// blank is \s*[\r\n]+|\s+(?!\S)|\s+: white space up to its last line end; without
// one, all of it at the end of the text and all but its last character before
// something else, if that leaves any.
func (s splitter) blank(text string) int {
	afterLine, last, end := 0, 0, 0
	for {
		c, width := s.at(text, end)
		if width == 0 || c&space == 0 {
			break
		}
		last = end
		end += width
		if c&newline != 0 {
			afterLine = end
		}
	}
	switch {
	case afterLine > 0:
		return afterLine
	case end < len(text) && last > 0:
		return last
	}
	return end
}
