// Package number converts between float32 and the 16-bit formats that a GPU
// computes with. All conversions round to nearest, ties to even. Slices are little
// endian, the byte order of every machine with Metal.
package number

import (
	"encoding/binary"
	"math"
)

// MaxHalf is the largest finite half.
const MaxHalf = 65504

// Half returns the half nearest to f; values out of range become infinities.
func Half(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	exp := int(b>>23&0xff) - 112
	frac := b & 0x7fffff
	switch {
	case exp == 0xff-112:
		if frac != 0 {
			return sign | 0x7e00
		}
		return sign | 0x7c00
	case exp >= 31:
		return sign | 0x7c00
	case exp <= 0: // subnormal, or zero
		if exp < -10 {
			return sign
		}
		shift := uint(14 - exp)
		return sign | uint16(round(frac|0x800000, shift))
	}
	// A carry out of the fraction raises the exponent, which is right, also into infinity.
	return sign | uint16(uint32(exp)<<10+round(frac, 13))
}

// round shifts v right and rounds to nearest even.
func round(v uint32, shift uint) uint32 {
	out := v >> shift
	rest, tie := v&(1<<shift-1), uint32(1)<<(shift-1)
	if rest > tie || rest == tie && out&1 == 1 {
		out++
	}
	return out
}

// FromHalf returns the value of a half.
func FromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&0x3ff
	switch exp {
	case 0:
		return math.Float32frombits(math.Float32bits(float32(frac)*(1.0/(1<<24))) | sign)
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// Bfloat returns the bfloat16 nearest to f.
func Bfloat(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// FromBfloat returns the value of a bfloat16.
func FromBfloat(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// Put writes floats as 16-bit numbers made by convert (Half or Bfloat). dst holds 2·len(src) bytes.
func Put(dst []byte, src []float32, convert func(float32) uint16) {
	for i, v := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], convert(v))
	}
}

// Get reads 16-bit numbers with convert (FromHalf or FromBfloat). src holds 2·len(dst) bytes.
func Get(dst []float32, src []byte, convert func(uint16) float32) {
	for i := range dst {
		dst[i] = convert(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// PutFloats writes floats unchanged. dst holds 4·len(src) bytes.
func PutFloats(dst []byte, src []float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
	}
}

// GetFloats reads floats unchanged. src holds 4·len(dst) bytes.
func GetFloats(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// HalfFromBfloats converts bfloat16 weights to half and reports whether all fit: no
// value is beyond MaxHalf or not a number. Values of at least 2^-17 keep every bit;
// smaller ones change by at most 2^-25. dst is as long as src.
func HalfFromBfloats(dst, src []byte) bool {
	fits := true
	for i := 0; i+1 < len(src); i += 2 {
		b := binary.LittleEndian.Uint16(src[i:])
		exp := b >> 7 & 0xff
		var h uint16
		switch {
		case exp > 112 && exp < 143: // normal in both: 7 bits of fraction become 10
			h = b&0x8000 | (exp-112)<<10 | b&0x7f<<3
		case exp >= 143:
			fits = false
		default:
			h = Half(FromBfloat(b))
		}
		binary.LittleEndian.PutUint16(dst[i:], h)
	}
	return fits
}
