package goldentest

import (
	"context"
	"math"
	"testing"

	"clefbar/engine/cpu"
	"clefbar/engine/qwen"
)

// reducedTolerance is for engines with bfloat16 products: probabilities only.
const reducedTolerance = 0.05

// TestReducedPrecision runs the processor with bfloat16 products.
func TestReducedPrecision(t *testing.T) {
	cases := Cases(t)
	for _, dir := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-4bit", "tiny-9b-shape-mlx-8bit", "tiny-27b-shape-mlx-4bit"} {
		expected := Results(t, dir)
		f := openCheckpoint(t, dir)
		t.Run(dir, func(t *testing.T) {
			b, err := cpu.New(cpu.Options{Precision: cpu.BF16})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			e := load(t, b, f)
			worst := 0.0
			for name, c := range cases {
				hidden, err := e.qwen.Forward(context.Background(), qwen.Input{IDs: c.IDs})
				if err != nil {
					t.Fatal(err)
				}
				logits, err := e.head.Score(context.Background(), hidden, c.IDs, c.Spans())
				b.Free(hidden)
				if err != nil {
					t.Fatal(err)
				}
				for i, row := range logits {
					for k, p := range Softmax(row) {
						d := math.Abs(p - expected[name].Probs[i][k])
						worst = max(worst, d)
						if d > reducedTolerance {
							t.Errorf("%s question %d: got %v, want %v", name, i, p, expected[name].Probs[i][k])
						}
					}
				}
			}
			t.Logf("largest difference of a probability: %.4f", worst)
		})
	}
}
