package models

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// file builds a safetensors file from a literal header and n data bytes.
func file(header string, n int) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), make([]byte, n)...)
}

func withLength(n uint64, rest string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, n), rest...)
}

func TestHeaderRefusesDamage(t *testing.T) {
	const good = `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[2,2],"data_offsets":[8,16]}}`
	one := func(body string) []byte { return file(`{"a":`+body+`}`, 8) }
	tests := []struct {
		name string
		data []byte
		kind Kind
		want string // part of the message
	}{
		{"empty", nil, Incomplete, "empty"},
		{"seven bytes", []byte("1234567"), Incomplete, "7 bytes"},
		{"cut by one byte", file(good, 15), Incomplete, fmt.Sprintf("%d of %d bytes", 8+len(good)+15, 8+len(good)+16)},
		{"cut in half", file(good, 16)[:(8+len(good))/2], Incomplete, "incomplete"},
		{"one byte too many", file(good, 17), Malformed, "1 bytes after the last tensor"},
		{"header of 2^63", withLength(1<<63, "{}"), Malformed, "header of 9223372036854775808"},
		{"header of 2^64-1", withLength(1<<64-1, "{}"), Malformed, "header of"},
		{"header beyond the cap", withLength(maxHeader+1, "{}"), Malformed, "header of"},
		{"header beyond the file", withLength(1000, "{}"), Incomplete, "header alone"},
		{"header of length zero", withLength(0, "{}"), Malformed, "not a JSON object"},
		{"LFS pointer", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n"), Malformed, "LFS pointer"},
		{"web page", []byte("\n<!DOCTYPE html><html><body>404</body></html>"), Malformed, "web page"},
		{"web page with BOM", []byte("\xef\xbb\xbf<HTML>"), Malformed, "web page"},
		{"XML", []byte("<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>"), Malformed, "XML"},
		{"GGUF", []byte("GGUF\x03\x00\x00\x00aaaaaaaaaaaa"), Malformed, "GGUF"},
		{"zip", []byte("PK\x03\x04aaaaaaaaaaaaaaaaaaaa"), Malformed, "zip"},
		{"array header", file(`[1]`, 0), Malformed, "not a JSON object"},
		{"not JSON", file(`{"a":}`, 0), Malformed, "not valid JSON"},
		{"header cut inside", file(`{"a":{"dtype":"F32"`, 0), Malformed, "cut short"},
		{"text after header", file(`{} {}`, 0), Malformed, "after the JSON object"},
		{"duplicate tensor", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), Malformed, `"a" appears twice`},
		{"duplicate field", one(`{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}`), Malformed, "appears twice"},
		{"tensor not an object", one(`7`), Malformed, "not a JSON object"},
		{"unknown dtype", one(`{"dtype":"Q4_K","shape":[2],"data_offsets":[0,8]}`), Malformed, `unknown dtype "Q4_K"`},
		{"lower-case dtype", one(`{"dtype":"f32","shape":[2],"data_offsets":[0,8]}`), Malformed, `unknown dtype "f32"`},
		{"no dtype", one(`{"shape":[2],"data_offsets":[0,8]}`), Malformed, "dtype is missing"},
		{"dtype key in capitals", one(`{"DTYPE":"F32","shape":[2],"data_offsets":[0,8]}`), Malformed, "dtype is missing"},
		{"no shape", one(`{"dtype":"F32","data_offsets":[0,8]}`), Malformed, "shape is missing"},
		{"null shape", one(`{"dtype":"F32","shape":null,"data_offsets":[0,8]}`), Malformed, "bad shape"},
		{"no offsets", one(`{"dtype":"F32","shape":[2]}`), Malformed, "data_offsets must be two"},
		{"one offset", one(`{"dtype":"F32","shape":[2],"data_offsets":[8]}`), Malformed, "data_offsets must be two"},
		{"three offsets", one(`{"dtype":"F32","shape":[2],"data_offsets":[0,4,8]}`), Malformed, "bad data_offsets"},
		{"negative shape", one(`{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}`), Malformed, "-2 is not a size"},
		{"two negative dims", one(`{"dtype":"F32","shape":[-1,-2],"data_offsets":[0,8]}`), Malformed, "is not a size"},
		{"fractional shape", one(`{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}`), Malformed, "2.0 is not a size"},
		{"string in shape", one(`{"dtype":"F32","shape":["2"],"data_offsets":[0,8]}`), Malformed, "is not a size"},
		{"overflowing shape", one(`{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}`), Malformed, "too large"},
		{"shape beyond int64", one(`{"dtype":"F32","shape":[18446744073709551618],"data_offsets":[0,8]}`), Malformed, "is not a size"},
		{"product wraps to the right size", one(`{"dtype":"F32","shape":[4611686018427387904,4,2],"data_offsets":[0,8]}`), Malformed, "too large"},
		{"rank 9", one(`{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}`), Malformed, "at most 8"},
		{"size against offsets", one(`{"dtype":"F32","shape":[3],"data_offsets":[0,8]}`), Malformed, "needs 12 bytes"},
		{"offsets backwards", one(`{"dtype":"F32","shape":[2],"data_offsets":[8,0]}`), Malformed, "backwards"},
		{"negative offset", one(`{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}`), Malformed, "is not a size"},
		{"offset past the end", one(`{"dtype":"F32","shape":[4611686018427387],"data_offsets":[0,18446744073709548]}`), Incomplete, "incomplete"},
		{"overlap", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), Malformed, "overlap"},
		{"gap", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, 12), Malformed, "4 bytes before it"},
		{"gap at the start", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), Malformed, "4 bytes before it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := parseHeader("model.safetensors", tt.data)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got error %v, want *Error", err)
			}
			if e.Kind != tt.kind || !strings.Contains(e.Message, tt.want) || e.File != "model.safetensors" {
				t.Errorf("got kind %d, %q; want kind %d, …%s…", e.Kind, e.Error(), tt.kind, tt.want)
			}
		})
	}
}

func TestHeaderAccepts(t *testing.T) {
	for name, tt := range map[string]struct {
		data []byte
		want int
	}{
		"no tensors":      {file(`{}`, 0), 0},
		"padded":          {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}    `, 4), 1},
		"metadata":        {file(`{"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}`, 3), 1},
		"scalar":          {file(`{"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}}`, 2), 1},
		"empty tensor":    {file(`{"a":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), 2},
		"out of order":    {file(`{"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 3), 2},
		"dtype not ours":  {file(`{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}`, 2), 1},
		"unknown member":  {file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"note":"x"}}`, 1), 1},
		"no tensor bytes": {file(`{"a":{"dtype":"F64","shape":[2,0],"data_offsets":[0,0]}}`, 0), 1},
	} {
		entries, _, err := parseHeader("f", tt.data)
		if err != nil || len(entries) != tt.want {
			t.Errorf("%s: got %d tensors, %v; want %d", name, len(entries), err, tt.want)
		}
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8))
	f.Add(withLength(1<<63, "{}"))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, body, err := parseHeader("f", data)
		if err != nil {
			return
		}
		for _, e := range entries {
			_ = body[e.from:e.to] // accepted offsets lie inside the file
		}
	})
}
