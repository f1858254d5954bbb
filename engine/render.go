package engine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Render returns the text that the model reads for v: a top-level string as it is,
// everything else as Python's json.dumps(v, ensure_ascii=False,
// separators=(",", ":"), sort_keys=True) writes it (clef.md 2.6). Numbers follow
// Python's rules, so 1e5 is 100000.0 and 2.50 is 2.5; members are sorted by code
// point. A missing value renders as "".
func (v Value) Render() string {
	switch v.Type {
	case Missing:
		return ""
	case String:
		return v.Text
	}
	return string(v.append(nil, sortedFields, appendPythonNumber))
}

// append writes v as compact JSON, its members in the order that order gives and its numbers as number writes them.
func (v Value) append(dst []byte, order func([]Member) []int, number func([]byte, string) []byte) []byte {
	switch v.Type {
	case Null, Missing:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, v.Bool)
	case Number:
		return number(dst, v.Text)
	case String:
		return appendQuoted(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.Items[i].append(dst, order, number)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, at := range order(v.Fields) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, v.Fields[at].Name)
		dst = append(dst, ':')
		dst = v.Fields[at].Value.append(dst, order, number)
	}
	return append(dst, '}')
}

// givenFields returns member positions as they are.
func givenFields(fields []Member) []int {
	order := make([]int, len(fields))
	for i := range order {
		order[i] = i
	}
	return order
}

// sortedFields returns member positions in code point order, which for valid UTF-8
// is byte order.
func sortedFields(fields []Member) []int {
	order := givenFields(fields)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(fields[a].Name, fields[b].Name) })
	return order
}

// appendPythonNumber writes a JSON number literal as Python prints it after
// parsing: integers digit for digit, floats by repr.
func appendPythonNumber(dst []byte, literal string) []byte {
	if !isFloat(literal) {
		if literal == "-0" {
			literal = "0"
		}
		return append(dst, literal...)
	}
	// An overflow is ±Inf, as in Python; ParseRequest refuses such numbers earlier.
	f, _ := strconv.ParseFloat(literal, 64)
	return appendPythonFloat(dst, f)
}

// isFloat reports whether a JSON number literal is a float to Python.
func isFloat(literal string) bool { return strings.ContainsAny(literal, ".eE") }

// appendPythonFloat writes repr(f): shortest digits, fixed notation for exponents in
// [-4, 16), always with a fraction.
func appendPythonFloat(dst []byte, f float64) []byte {
	text := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, found := strings.Cut(text, "e")
	if !found { // ±Inf
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "Infinity"...)
	}
	exp, _ := strconv.Atoi(exponent)
	if exp < -4 || exp >= 16 {
		dst = append(append(dst, mantissa...), 'e')
		if exp < 0 {
			dst, exp = append(dst, '-'), -exp
		} else {
			dst = append(dst, '+')
		}
		if exp < 10 {
			dst = append(dst, '0')
		}
		return strconv.AppendInt(dst, int64(exp), 10)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !slices.Contains(dst[start:], '.') {
		dst = append(dst, ".0"...)
	}
	return dst
}

// JSON returns v as compact JSON: members in their order, numbers as they were
// spelled, only the escapes that JSON demands. Missing becomes null.
func (v Value) JSON() []byte { return v.AppendJSON(nil) }

// AppendJSON appends what JSON returns.
func (v Value) AppendJSON(dst []byte) []byte {
	return v.append(dst, givenFields, func(dst []byte, literal string) []byte { return append(dst, literal...) })
}

const hexDigits = "0123456789abcdef"

// appendQuoted writes a JSON string with Python's escapes for ensure_ascii=False:
// the quote, the backslash and what is below U+0020; everything else as it is.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
