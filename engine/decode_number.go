package engine

import (
	"bytes"
	"strconv"
)

func (d *decoder) word() bool {
	for _, w := range []struct {
		text  string
		value Value
	}{
		{"true", Value{Type: Bool, Bool: true}},
		{"false", Value{Type: Bool}},
		{"null", Value{Type: Null}},
	} {
		if bytes.HasPrefix(d.data[d.pos:], []byte(w.text)) {
			d.pos += len(w.text)
			d.out = w.value
			return true
		}
	}
	switch rest := d.data[d.pos:]; {
	case len(rest) == 0:
		return d.fail("it ends too early")
	case bytes.HasPrefix(rest, []byte("NaN")) || bytes.HasPrefix(rest, []byte("Infinity")):
		return d.fail("NaN and Infinity are not JSON")
	}
	return d.fail("expected a value")
}

// number reads a literal by JSON's grammar and keeps its spelling.
func (d *decoder) number() bool {
	start := d.pos
	if d.data[d.pos] == '-' {
		d.pos++
	}
	if bytes.HasPrefix(d.data[d.pos:], []byte("Infinity")) {
		return d.fail("NaN and Infinity are not JSON")
	}
	if d.pos < len(d.data) && d.data[d.pos] == '0' {
		d.pos++
	} else if !d.digits() {
		return d.fail("expected a digit")
	}
	if d.pos < len(d.data) && d.data[d.pos] == '.' {
		d.pos++
		if !d.digits() {
			return d.fail("expected a digit after the decimal point")
		}
	}
	if d.pos < len(d.data) && d.data[d.pos]|0x20 == 'e' {
		d.pos++
		if d.pos < len(d.data) && (d.data[d.pos] == '+' || d.data[d.pos] == '-') {
			d.pos++
		}
		if !d.digits() {
			return d.fail("expected a digit in the exponent")
		}
	}
	literal := d.text(d.data[start:d.pos])
	if isFloat(literal) {
		if _, err := strconv.ParseFloat(literal, 64); err != nil {
			d.pos = start
			return d.fail("the number is too large for a 64-bit float")
		}
	}
	d.out = Value{Type: Number, Text: literal}
	return true
}

func (d *decoder) digits() bool {
	start := d.pos
	for d.pos < len(d.data) && d.data[d.pos] >= '0' && d.data[d.pos] <= '9' {
		d.pos++
	}
	return d.pos > start
}
