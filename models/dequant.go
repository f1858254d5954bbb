package models

import (
	"encoding/binary"
	"math"
)

// Row writes row r of a matrix to dst as float32, dequantising if needed
// (clef.md 1.5). dst must hold Shape[1] floats. Vectors are one row.
func (t *Tensor) Row(dst []float32, r int) {
	cols := len(dst)
	if t.Quant == nil {
		size := t.DType.Size()
		decode(dst, t.Data[r*cols*size:], t.DType)
		return
	}
	q := t.Quant
	stride := cols * q.Bits / 8
	unpack(dst, t.Data[r*stride:(r+1)*stride], q.Bits)
	groups := cols / q.Group
	size := q.Scales.DType.Size()
	for g := range groups {
		scale := element(q.Scales.Data[(r*groups+g)*size:], q.Scales.DType)
		bias := element(q.Biases.Data[(r*groups+g)*q.Biases.DType.Size():], q.Biases.DType)
		part := dst[g*q.Group : (g+1)*q.Group]
		for i, code := range part {
			part[i] = scale*code + bias
		}
	}
}

// Floats returns the whole tensor as float32. It is meant for small tensors.
func (t *Tensor) Floats() []float32 {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	out := make([]float32, n)
	if t.Quant == nil {
		decode(out, t.Data, t.DType)
		return out
	}
	cols := t.Shape[len(t.Shape)-1]
	for r := range n / cols {
		t.Row(out[r*cols:(r+1)*cols], r)
	}
	return out
}

// unpack reads unsigned codes from a little-endian bit stream.
func unpack(dst []float32, src []byte, bits int) {
	mask := uint32(1)<<bits - 1
	var buf uint32
	have, at := 0, 0
	for i := range dst {
		for have < bits {
			buf |= uint32(src[at]) << have
			at++
			have += 8
		}
		dst[i] = float32(buf & mask)
		buf >>= bits
		have -= bits
	}
}

func decode(dst []float32, src []byte, d DType) {
	size := d.Size()
	for i := range dst {
		dst[i] = element(src[i*size:], d)
	}
}

// element reads one float of type d; src may start at any address.
func element(src []byte, d DType) float32 {
	switch d {
	case F32:
		return math.Float32frombits(binary.LittleEndian.Uint32(src))
	case BF16:
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(src)) << 16)
	case F16:
		return half(binary.LittleEndian.Uint16(src))
	}
	panic("models: " + d.String() + " is not a float type")
}

// half converts an IEEE 754 binary16 number.
func half(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp, frac := uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0: // zero and subnormal numbers: frac · 2^-24
		v := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// FromFloats makes an F32 tensor that holds values.
func FromFloats(name string, shape []int, values []float32) Tensor {
	data := make([]byte, 4*len(values))
	for i, v := range values {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(v))
	}
	return Tensor{Name: name, DType: F32, Shape: shape, Data: data}
}
