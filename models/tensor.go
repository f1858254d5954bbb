// Package models finds, checks and opens model folders: safetensors files in the
// original Hugging Face layout and in MLX's quantised one, with their
// configuration, tokenizer and joint head. It runs nothing.
package models

import "fmt"

// DType is the stored element type of a tensor.
type DType uint8

// The element types that Clef's files use.
const (
	F32 DType = iota + 1
	BF16
	F16
	U32
	I32
	U8
)

// Tensor is a view of stored weights. Data points into a mapped file and starts at
// any byte address (MLX writes headers of odd length): never cast it to a wider
// type without checking. It stays valid until its Folder is closed.
//
// A quantised tensor has Quant set; then Shape is the logical shape (rows, cols), DType is U32 and
// Data holds the packed codes.
type Tensor struct {
	Name  string
	DType DType
	Shape []int
	Data  []byte
	Quant *Quant
}

// Quant is MLX's affine quantisation (clef.md 1.5): element (r, c) is
// Scales[r][c/Group]·q + Biases[r][c/Group], q an unsigned code of Bits bits. Each row of
// codes is one little-endian bit stream of a whole number of 32-bit words.
type Quant struct {
	Bits           int // 2, 3, 4, 5, 6 or 8
	Group          int // 32, 64 or 128 columns
	Scales, Biases Tensor
}

// Bytes returns the stored size, scales and biases included.
func (t Tensor) Bytes() int64 {
	n := int64(len(t.Data))
	if t.Quant != nil {
		n += int64(len(t.Quant.Scales.Data)) + int64(len(t.Quant.Biases.Data))
	}
	return n
}

// Rows returns a view of rows [from, to) of a vector or matrix.
func (t Tensor) Rows(from, to int) Tensor {
	part := t
	n := t.Shape[0]
	part.Name = fmt.Sprintf("%s[%d:%d]", t.Name, from, to)
	part.Shape = append([]int{to - from}, t.Shape[1:]...)
	part.Data = t.Data[len(t.Data)/n*from : len(t.Data)/n*to]
	if q := t.Quant; q != nil {
		part.Quant = &Quant{Bits: q.Bits, Group: q.Group, Scales: q.Scales.Rows(from, to), Biases: q.Biases.Rows(from, to)}
	}
	return part
}
