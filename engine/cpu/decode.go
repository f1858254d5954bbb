package cpu

import (
	"encoding/binary"
	"math"

	"clefbar/models"
)

// element reads number i of a dense run of bytes at any address.
func element(b []byte, i int, t models.DType) float32 {
	switch t {
	case models.F32:
		return math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	case models.BF16:
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16)
	}
	return halfFloat(binary.LittleEndian.Uint16(b[2*i:]))
}

// halfFloat widens an IEEE half float.
func halfFloat(h uint16) float32 {
	bits := uint32(h&0x7fff) << 13
	f := math.Float32frombits(bits) * 0x1p112
	u := math.Float32bits(f)
	if h&0x7c00 == 0x7c00 {
		u |= 0x7f800000
	}
	return math.Float32frombits(u | uint32(h&0x8000)<<16)
}

// roundBF16 rounds to the nearest bfloat16, ties to even.
func roundBF16(x float32) float32 {
	u := math.Float32bits(x)
	return math.Float32frombits((u + 0x7fff + u>>16&1) &^ 0xffff)
}

// decodeRow writes one stored row as float32.
func (w *weight) decodeRow(dst []float32, row int) {
	data := w.data[row*w.rowBytes : (row+1)*w.rowBytes]
	if w.bits == 0 {
		for i := range dst {
			dst[i] = element(data, i, w.dtype)
		}
		return
	}
	for g := 0; g*w.group < len(dst); g++ {
		s, b := w.groupScale(row, g)
		for i := g * w.group; i < (g+1)*w.group; i++ {
			dst[i] = s*float32(code(data, i, w.bits)) + b
		}
	}
}

// groupScale returns the scale and the bias of one group.
func (w *weight) groupScale(row, g int) (scale, bias float32) {
	at := row * w.groupBytes
	return element(w.scales[at:], g, w.groupType), element(w.biases[at:], g, w.groupType)
}

// code reads code i of a little-endian bit stream.
func code(b []byte, i, bits int) uint8 {
	at := i * bits
	v := uint16(b[at/8])
	if at%8+bits > 8 {
		v |= uint16(b[at/8+1]) << 8
	}
	return uint8(v >> (at % 8) & (1<<bits - 1))
}
