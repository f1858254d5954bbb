package models

import (
	"bytes"
	"errors"
	"testing"
)

// TestUnwritten: what a copy that broke off leaves is refused; zeros that a model may have are not.
func TestUnwritten(t *testing.T) {
	const matrix = 2 * blankBytes
	entries := []entry{ // not in the order of the file
		{name: "norm", shape: []int{64}, from: 2 * matrix, to: 2*matrix + 128},
		{name: "first", shape: []int{64, 64}, to: matrix},
		{name: "second", shape: []int{64, 64}, from: matrix, to: 2 * matrix},
	}
	full := bytes.Repeat([]byte{1}, 2*matrix+128)
	for _, tt := range []struct {
		name     string
		from, to int // zeros
		tensor   string
	}{
		{"whole", 0, 0, ""},
		{"a vector of zeros at the end", 2 * matrix, len(full), ""},
		{"rows of zeros at the end", 2*matrix - 1000, len(full), ""},
		{"a matrix of zeros in the middle", matrix, 2 * matrix, ""},
		{"all but the last byte", 0, len(full) - 1, ""},
		{"one matrix and what follows", matrix, len(full), "second"},
		{"more than one matrix", 1000, len(full), "second"},
		{"nothing but room", 0, len(full), "second"},
	} {
		body := bytes.Clone(full)
		clear(body[tt.from:tt.to])
		err := unwritten("w.safetensors", entries, body)
		if tt.tensor == "" {
			if err != nil {
				t.Errorf("%s: got %v, want none", tt.name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Incomplete || e.File != "w.safetensors" || e.Tensor != tt.tensor {
			t.Errorf("%s: got %v, want Incomplete at %s", tt.name, err, tt.tensor)
		}
	}
}

// TestUnwrittenFolder goes the whole way: a folder whose weights end in zeros does not open.
func TestUnwrittenFolder(t *testing.T) {
	data := bytes.Clone(small["model.safetensors"].Data)
	clear(data[len(data)/2:])
	fsys := with(map[string][]byte{"model.safetensors": data})
	_, err := OpenFS(fsys, "m")
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != Incomplete || e.File != "model.safetensors" || e.Tensor == "" {
		t.Errorf("got %v, want Incomplete of a tensor of model.safetensors", err)
	}
}
