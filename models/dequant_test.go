package models

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// quantCase is one setting of quant_golden.json.
type quantCase struct {
	Group  int         `json:"group_size"`
	Bits   int         `json:"bits"`
	Words  [][]uint32  `json:"u32"`
	Scales [][]float32 `json:"scales"`
	Biases [][]float32 `json:"biases"`
	Values [][]float32 `json:"dequant_f32_cols_0_8_and_last"`
}

func TestDequantizeGolden(t *testing.T) {
	var golden struct {
		Cases []quantCase `json:"cases"`
	}
	data, err := os.ReadFile(goldenDir + "quant_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) != 18 {
		t.Fatalf("got %d settings, want 6 bit widths times 3 group sizes", len(golden.Cases))
	}
	for _, c := range golden.Cases {
		t.Run(fmt.Sprintf("%d-bit group %d", c.Bits, c.Group), func(t *testing.T) {
			tensor := c.tensor()
			row := make([]float32, 128)
			if len(c.Values) != len(c.Words) {
				t.Fatalf("got %d rows of values, want %d", len(c.Values), len(c.Words))
			}
			for r, want := range c.Values {
				tensor.Row(row, r)
				for i, w := range want {
					if i == len(want)-1 {
						i = len(row) - 1
					}
					if d := math.Abs(float64(row[i] - w)); !(d <= 1e-6*math.Abs(float64(w))+1e-12) {
						t.Fatalf("row %d element %d: got %v, want %v", r, i, row[i], w)
					}
				}
			}
			if got := tensor.Floats(); len(got) != 6*128 || got[5*128+127] != row[127] {
				t.Errorf("Floats disagrees with Row")
			}
		})
	}
}

// tensor packs a golden case behind one odd byte, as in MLX files.
func (c quantCase) tensor() Tensor {
	codes := []byte{0xAA}
	var scales, biases []float32
	for r := range c.Words {
		for _, w := range c.Words[r] {
			codes = binary.LittleEndian.AppendUint32(codes, w)
		}
		scales, biases = append(scales, c.Scales[r]...), append(biases, c.Biases[r]...)
	}
	shape := []int{len(c.Words), 128 / c.Group}
	return Tensor{DType: U32, Shape: []int{len(c.Words), 128}, Data: codes[1:], Quant: &Quant{
		Bits: c.Bits, Group: c.Group, Scales: FromFloats("scales", shape, scales), Biases: FromFloats("biases", shape, biases),
	}}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 0x0400: 6.103515625e-05, 0x0001: 5.9604644775390625e-08,
		0x03FF: 6.097555160522461e-05, 0x3555: 0.333251953125, 0x8001: -5.9604644775390625e-08, 0xFC00: float32(math.Inf(-1)),
	} {
		if got := half(bits); got != want {
			t.Errorf("half(%#04x): got %v, want %v", bits, got, want)
		}
	}
	if got := half(0x8000); got != 0 || !math.Signbit(float64(got)) {
		t.Errorf("half(0x8000): got %v, want -0", got)
	}
	if got := half(0x7E00); got == got {
		t.Errorf("half(0x7e00): got %v, want NaN", got)
	}
}
