package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"strings"

	"clefbar/models/modeltest"
)

// group is the number of columns that share a scale.
const group = 64

// piece is one tensor of a file. Its bytes are made while they are written, a block of rows at a time.
type piece struct {
	name, dtype string
	shape       []int
	write       func(w *bufio.Writer) error
}

func (p piece) bytes() int64 {
	n := int64(map[string]int{"BF16": 2, "F32": 4, "U32": 4}[p.dtype])
	for _, d := range p.shape {
		n *= int64(d)
	}
	return n
}

// block is how many values are made at once.
const block = 1 << 20

// blocks calls f for the values of a tensor, whole rows at a time.
func blocks(t modeltest.Tensor, k modeltest.Scalars, f func([]float32) error) error {
	row, total := 1, 1
	for i, d := range t.Shape {
		total *= d
		if i > 0 {
			row *= d
		}
	}
	step := max(1, block/row) * row
	for from := 0; from < total; from += step {
		if err := f(modeltest.ValuesAt(t.Name, t.Shape, from, min(from+step, total), k)); err != nil {
			return err
		}
	}
	return nil
}

// plain stores a tensor as it is, under another name and shape.
func plain(t modeltest.Tensor, name string, shape []int, k modeltest.Scalars) piece {
	add := float32(0)
	if name != t.Name && modeltest.Centred(t.Name) {
		add = 1 // MLX stores these norms with it
	}
	return piece{name, t.DType, shape, func(w *bufio.Writer) error {
		return blocks(t, k, func(values []float32) error {
			for i := range values {
				if add != 0 {
					values[i] = nearestHalf(values[i] + add)
				}
			}
			return store(w, t.DType, values)
		})
	}}
}

// nearestHalf rounds to bfloat16, ties to even.
func nearestHalf(x float32) float32 {
	u := math.Float32bits(x)
	return math.Float32frombits((u + 0x7FFF + u>>16&1) &^ 0xFFFF)
}

func store(w io.Writer, dtype string, values []float32) error {
	var out []byte
	for _, v := range values {
		if dtype == "BF16" {
			out = binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(v)>>16))
		} else {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	_, err := w.Write(out)
	return err
}

// pieces are what a backbone tensor is stored as in a layout.
func pieces(t modeltest.Tensor, layout string, k modeltest.Scalars) []piece {
	if layout == "bf16" {
		return []piece{plain(t, t.Name, t.Shape, k)}
	}
	name, shape := modeltest.MLXName(t.Name), t.Shape
	if strings.HasSuffix(name, "conv1d.weight") {
		shape = []int{t.Shape[0], t.Shape[2], 1}
	}
	module, weight := strings.CutSuffix(name, ".weight")
	if len(shape) != 2 || !weight || shape[1]%group != 0 {
		return []piece{plain(t, name, shape, k)}
	}
	bits := 4
	if layout == "8-bit" {
		bits = 8
	}
	return quantized(t, module, bits, k)
}

// quantized makes codes, scales and biases. The latter two are kept from the codes, which are written first.
func quantized(t modeltest.Tensor, module string, bits int, k modeltest.Scalars) []piece {
	rows, cols := t.Shape[0], t.Shape[1]
	var scales, biases []float32
	codes := func(w *bufio.Writer) error {
		return blocks(t, k, func(values []float32) error {
			c, s, b := modeltest.Quantize(values, len(values)/cols, cols, bits, group)
			scales, biases = append(scales, s...), append(biases, b...)
			_, err := w.Write(c)
			return err
		})
	}
	groups := []int{rows, cols / group}
	return []piece{
		{module + ".weight", "U32", []int{rows, cols * bits / 32}, codes},
		{module + ".scales", "BF16", groups, func(w *bufio.Writer) error { return store(w, "BF16", scales) }},
		{module + ".biases", "BF16", groups, func(w *bufio.Writer) error {
			defer func() { scales, biases = nil, nil }()
			return store(w, "BF16", biases)
		}},
	}
}
