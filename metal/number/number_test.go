package number

import (
	"encoding/binary"
	"math"
	"testing"
)

// TestEveryHalf: all 65536 halves survive the way to float and back.
func TestEveryHalf(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		f := FromHalf(h)
		if f != f {
			if got := FromHalf(Half(f)); got == got {
				t.Errorf("NaN %#x: got %v, want NaN", h, got)
			}
			continue
		}
		if got := Half(f); got != h {
			t.Errorf("half %#x = %v: got %#x back", h, f, got)
		}
	}
}

// TestRounding: values between two neighbours go to the nearer one, ties to even.
func TestRounding(t *testing.T) {
	for i := range 1<<15 - 1<<10 - 1 {
		lo, hi := FromHalf(uint16(i)), FromHalf(uint16(i+1))
		if math.IsInf(float64(hi), 0) {
			continue
		}
		mid := float32((float64(lo) + float64(hi)) / 2)
		even := uint16(i + i&1)
		for _, c := range []struct {
			f    float32
			want uint16
		}{{mid, even}, {math.Nextafter32(mid, 0), uint16(i)}, {math.Nextafter32(mid, 1e9), uint16(i + 1)}, {-mid, even | 0x8000}} {
			if got := Half(c.f); got != c.want {
				t.Fatalf("Half(%v): got %#x, want %#x", c.f, got, c.want)
			}
		}
	}
}

func TestSpecialValues(t *testing.T) {
	for _, c := range []struct {
		f    float32
		want uint16
	}{
		{65504, 0x7bff},
		{65519.996, 0x7bff},
		{65520, 0x7c00},
		{1e9, 0x7c00},
		{-1e9, 0xfc00},
		{float32(math.Inf(1)), 0x7c00},
		{0, 0},
		{5.9604645e-08, 1},
		{2.9802322e-08, 0},
		{2.9802326e-08, 1},
		{1e-20, 0},
	} {
		if got := Half(c.f); got != c.want {
			t.Errorf("Half(%v): got %#x, want %#x", c.f, got, c.want)
		}
	}
	for _, c := range []struct {
		f    float32
		want uint16
	}{{1, 0x3f80}, {1.00390625, 0x3f80}, {1.01171875, 0x3f82}, {float32(math.Inf(-1)), 0xff80}, {3.4e38, 0x7f80}} {
		if got := Bfloat(c.f); got != c.want {
			t.Errorf("Bfloat(%v): got %#x, want %#x", c.f, got, c.want)
		}
	}
	if got := FromBfloat(Bfloat(float32(math.NaN()))); got == got {
		t.Errorf("Bfloat(NaN): got %v, want NaN", got)
	}
}

// TestHalfFromBfloats compares the short way with the long one for every bfloat.
func TestHalfFromBfloats(t *testing.T) {
	src, dst := make([]byte, 2), make([]byte, 2)
	for i := range 1 << 16 {
		binary.LittleEndian.PutUint16(src, uint16(i))
		f := FromBfloat(uint16(i))
		fits := HalfFromBfloats(dst, src)
		if want := math.Abs(float64(f)) <= MaxHalf; fits != want {
			t.Errorf("bfloat %#x = %v fits: got %v, want %v", i, f, fits, want)
		}
		if got := binary.LittleEndian.Uint16(dst); fits && got != Half(f) {
			t.Errorf("bfloat %#x: got half %#x, want %#x", i, got, Half(f))
		}
	}
}

func TestSlices(t *testing.T) {
	src := []float32{1, -2.5, 0.333251953125, 1024}
	b := make([]byte, 16)
	got := make([]float32, 4)
	for name, pass := range map[string]func(){
		"half":   func() { Put(b, src, Half); Get(got, b, FromHalf) },
		"floats": func() { PutFloats(b, src); GetFloats(got, b) },
	} {
		pass()
		for i, v := range src {
			if got[i] != v {
				t.Errorf("%s %d: got %v, want %v", name, i, got[i], v)
			}
		}
	}
}
