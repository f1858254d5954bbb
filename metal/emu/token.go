package emu

import (
	"regexp"
	"strings"
)

// token is a piece of preprocessed source with the white space, line markers and
// pragmas before it. The concatenation of all tokens is the source.
type token struct{ space, text string }

var tokenShape = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z_0-9]*|\.?[0-9](?:[eEpP][+-]|[A-Za-z_0-9.'])*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|::|->|<<=|\+\+|--|&&|\|\||[-+*/%&|^!=]=|<=|.)`)

// tokenize splits preprocessed source. The last token is empty and holds what is left.
func tokenize(src string) []token {
	var out []token
	space, lineStart := "", true
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '\n' || c == ' ' || c == '\t' || c == '\r':
			space += string(c)
			lineStart = lineStart || c == '\n'
			i++
		case c == '#' && lineStart:
			line, _, _ := strings.Cut(src[i:], "\n")
			if !hint(line) {
				space += line
			}
			i += len(line)
		default:
			text := tokenShape.FindString(src[i:])
			out = append(out, token{space, text})
			space, lineStart = "", false
			i += len(text)
		}
	}
	return append(out, token{space, ""})
}

// hint reports whether a directive is a hint to Apple's compiler that clang would refuse.
func hint(line string) bool {
	return strings.HasPrefix(line, "#pragma unroll") || strings.HasPrefix(line, "#pragma METAL")
}

func join(ts []token) string {
	var b strings.Builder
	for _, t := range ts {
		b.WriteString(t.space)
		b.WriteString(t.text)
	}
	return b.String()
}

func isIdentifier(s string) bool {
	return s != "" && (s[0] == '_' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= 'a' && s[0] <= 'z')
}

func isNumber(s string) bool {
	return len(s) > 1 && (s[0] >= '0' && s[0] <= '9' || s[0] == '.' && s[1] >= '0' && s[1] <= '9')
}

var closing = map[string]string{"(": ")", "[": "]", "{": "}", "<": ">"}

// after returns the index just behind the bracket that closes ts[i].
func after(ts []token, i int) int {
	opens := ts[i].text
	closes := closing[opens]
	for depth := 0; i < len(ts); i++ {
		switch s := ts[i].text; {
		case s == opens:
			depth++
		case s == closes:
			if depth--; depth == 0 {
				return i + 1
			}
		case opens == "<" && (s == "(" || s == "[" || s == "{"):
			i = after(ts, i) - 1
		}
	}
	return i
}

// before returns the index of the bracket that ts[i] closes.
func before(ts []token, i int) int {
	closes := ts[i].text
	opens := map[string]string{")": "(", ">": "<"}[closes]
	for depth := 0; i > 0; i-- {
		if ts[i].text == closes {
			depth++
		} else if ts[i].text == opens {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}

// split cuts ts at the commas outside of brackets.
func split(ts []token) (parts [][]token) {
	from := 0
	for i := 0; i < len(ts); i++ {
		switch ts[i].text {
		case "(", "[", "<":
			i = after(ts, i) - 1
		case ",":
			parts = append(parts, ts[from:i])
			from = i + 1
		}
	}
	if from < len(ts) {
		parts = append(parts, ts[from:])
	}
	return parts
}

// isAttribute reports whether ts[i] starts a [[…]] list.
func isAttribute(ts []token, i int) bool {
	return i+1 < len(ts) && ts[i].text == "[" && ts[i+1].text == "[" && ts[i+1].space == ""
}

// attributes separates the [[…]] lists from the other tokens.
func attributes(ts []token) (rest []token, list []string) {
	for i := 0; i < len(ts); i++ {
		if !isAttribute(ts, i) {
			rest = append(rest, ts[i])
			continue
		}
		end := after(ts, i)
		for _, a := range split(ts[i+2 : end-2]) {
			text := ""
			for _, t := range a {
				text += t.text
			}
			list = append(list, text)
		}
		i = end - 1
	}
	return rest, list
}

// argument returns what stands in the brackets of an attribute called name.
func argument(attribute, name string) (string, bool) {
	inner, ok := strings.CutPrefix(attribute, name+"(")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(inner, ")")
}
