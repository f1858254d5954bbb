package models

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	maxHeader = 32 << 20 // bytes of JSON header; the largest Clef shard has 0.2 MB
	maxRank   = 8
)

// entry is one tensor of a safetensors header.
type entry struct {
	name     string
	dtype    string
	shape    []int
	from, to int64 // bytes in the data region
}

// parseHeader reads the header of a safetensors file (clef.md 1.9). data is the
// whole file. Nothing is allocated from numbers in the file before they are checked.
func parseHeader(file string, data []byte) ([]entry, []byte, error) {
	if len(data) == 0 {
		return nil, nil, fileError(Incomplete, file, "the file is empty: download it again")
	}
	if what := impostor(data); what != "" {
		return nil, nil, fileError(Malformed, file, "%s", what)
	}
	if len(data) < 8 {
		return nil, nil, fileError(Incomplete, file, "the file is incomplete: %d bytes, not even a header: download it again", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	switch {
	case n > maxHeader:
		return nil, nil, fileError(Malformed, file, "not a safetensors file: it claims a header of %d bytes (at most %d are allowed)", n, int64(maxHeader))
	case n > uint64(len(data)-8):
		return nil, nil, fileError(Incomplete, file, "the file is incomplete: %d bytes, but the header alone has %d: download it again", len(data), n+8)
	}
	head, body := data[8:8+n], data[8+n:]
	if len(head) == 0 || head[0] != '{' {
		return nil, nil, fileError(Malformed, file, "not a safetensors file: its header is not a JSON object")
	}
	ms, err := members(head)
	if err != nil {
		return nil, nil, &Error{Kind: Malformed, File: file, Message: "damaged safetensors header: " + err.Error(), Err: err}
	}
	var entries []entry
	for _, m := range ms {
		if m.name == "__metadata__" {
			continue
		}
		e, err := parseEntry(m)
		if err != nil {
			return nil, nil, &Error{Kind: Malformed, File: file, Tensor: m.name, Message: err.Error(), Err: err}
		}
		entries = append(entries, e)
	}
	return entries, body, checkLayout(file, entries, int64(len(data))-int64(len(body)), int64(len(body)))
}

// parseEntry reads one header member {"dtype","shape","data_offsets"}.
func parseEntry(m member) (entry, error) {
	e := entry{name: m.name}
	fields, err := members(m.value)
	if err != nil {
		return e, err
	}
	var shape, offsets []int64
	for _, f := range fields {
		switch f.name {
		case "dtype":
			err = json.Unmarshal(f.value, &e.dtype)
		case "shape":
			shape, err = naturals(f.value, maxRank)
		case "data_offsets":
			offsets, err = naturals(f.value, 2)
		}
		if err != nil {
			return e, fmt.Errorf("bad %s: %w", f.name, err)
		}
	}
	switch _, known := dtypeSizes[e.dtype]; {
	case e.dtype == "":
		return e, fmt.Errorf("dtype is missing")
	case !known:
		return e, fmt.Errorf("unknown dtype %q", e.dtype)
	case shape == nil:
		return e, fmt.Errorf("shape is missing")
	case len(offsets) != 2:
		return e, fmt.Errorf("data_offsets must be two numbers")
	}
	e.from, e.to = offsets[0], offsets[1]
	return e, e.size(shape)
}

// size takes the shape and checks it against the offsets, without overflow.
func (e *entry) size(shape []int64) error {
	if e.from > e.to {
		return fmt.Errorf("data_offsets [%d, %d] run backwards", e.from, e.to)
	}
	want := dtypeSizes[e.dtype]
	for _, d := range shape {
		if d != 0 && want > math.MaxInt64/d {
			return fmt.Errorf("shape %v is too large to exist", shape)
		}
		want *= d
		e.shape = append(e.shape, int(d))
	}
	if want != e.to-e.from {
		return fmt.Errorf("%s %v needs %d bytes, data_offsets give %d", e.dtype, shape, want, e.to-e.from)
	}
	return nil
}

// naturals reads a JSON array of at most limit non-negative integers.
func naturals(raw json.RawMessage, limit int) ([]int64, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil || items == nil {
		return nil, fmt.Errorf("not a list of numbers")
	}
	if len(items) > limit {
		return nil, fmt.Errorf("%d numbers, at most %d are allowed", len(items), limit)
	}
	out := make([]int64, len(items))
	for i, it := range items {
		n, err := strconv.ParseInt(string(it), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt {
			return nil, fmt.Errorf("%s is not a size", it)
		}
		out[i] = n
	}
	return out, nil
}

// checkLayout makes sure that the tensors cover the data region exactly: no
// overlap, no gap, nothing past the end, nothing left over.
func checkLayout(file string, entries []entry, start, size int64) error {
	byStart := slices.Clone(entries)
	slices.SortFunc(byStart, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	var at int64
	for _, e := range byStart {
		switch {
		case e.from < at:
			return tensorError(Malformed, file, e.name, "its bytes overlap those of another tensor")
		case e.from > at:
			return tensorError(Malformed, file, e.name, "%d bytes before it belong to no tensor", e.from-at)
		}
		at = e.to
	}
	switch {
	case at > size:
		return fileError(Incomplete, file, "the file is incomplete: %d of %d bytes: download it again", start+size, start+at)
	case at < size:
		return fileError(Malformed, file, "%d bytes after the last tensor belong to no tensor", size-at)
	}
	return nil
}

// shapeString prints a shape as "(512, 64)".
func shapeString(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.Itoa(d)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
