package modeltest

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// TestQuantizeGolden compares with what mlx itself packs, 6 rows in 18 settings.
func TestQuantizeGolden(t *testing.T) {
	data, err := os.ReadFile("../../engine/testdata/golden/quant_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		W     [][]float32 `json:"w"`
		Cases []struct {
			Group  int         `json:"group_size"`
			Bits   int         `json:"bits"`
			Words  [][]uint32  `json:"u32"`
			Scales [][]float32 `json:"scales"`
			Biases [][]float32 `json:"biases"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	for _, c := range golden.Cases {
		for r, w := range golden.W {
			codes, scales, biases := Quantize(w, 1, len(w), c.Bits, c.Group)
			got := fmt.Sprint(Words(codes), scales, biases)
			if want := fmt.Sprint(c.Words[r], c.Scales[r], c.Biases[r]); got != want {
				t.Errorf("%d bits, group %d, row %d:\ngot  %s\nwant %s", c.Bits, c.Group, r, got, want)
			}
		}
	}
}
