package cpu_test

import (
	"context"
	"math"
	"testing"

	"clefbar/engine/cpu"
	"clefbar/engine/goldentest"
	"clefbar/engine/head"
	"clefbar/engine/qwen"
	"clefbar/models"
)

// roughTolerance is for probabilities of an engine that does not compute in float32
// (README of the golden data).
const roughTolerance = 0.05

// native lists the paths that may exist; those that this machine lacks are skipped.
var native = []string{"avx512bf16", "avx512vnni", "avx512", "avx2", "neonbf16", "neondot", "neon", "go"}

// TestGoldenPaths runs golden cases on every path of this machine at every precision. The
// long cases are for the float32 run of package goldentest.
func TestGoldenPaths(t *testing.T) {
	for _, dir := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-4bit", "tiny-9b-shape-mlx-8bit", "tiny-27b-shape-mlx-4bit"} {
		f, err := models.Open(goldentest.Path(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cases, results := goldentest.Cases(t), goldentest.Results(t, dir)
		for _, path := range native {
			for _, precision := range []string{cpu.F32, cpu.BF16, cpu.Int8} {
				t.Run(dir+"/"+path+"/"+precision, func(t *testing.T) {
					t.Setenv("CLEFBAR_CPU", path)
					m := open(t, f, precision)
					longest := 560
					if path == "go" {
						longest = 300
					}
					var drift float64
					for _, name := range goldentest.Names(cases, results) {
						if c := cases[name]; len(c.IDs) <= longest {
							drift = max(drift, m.check(t, precision, c, results[name]))
						}
					}
					t.Logf("probabilities move by up to %.2g", drift)
				})
			}
		}
	}
}

// opened is a checkpoint on one path.
type opened struct {
	qwen *qwen.Model
	head *head.Head
}

func open(t *testing.T, f *models.Folder, precision string) opened {
	t.Helper()
	b, err := cpu.New(cpu.Options{Precision: precision})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { b.Close() })
	var m opened
	if m.qwen, err = qwen.Load(context.Background(), b, f, nil); err != nil {
		t.Fatal(err)
	}
	if m.head, err = head.Load(b, f); err != nil {
		t.Fatal(err)
	}
	return m
}

// check answers one case and returns the largest difference of a probability.
func (m opened) check(t *testing.T, precision string, c goldentest.Case, want goldentest.Expected) (drift float64) {
	t.Helper()
	hidden, err := m.qwen.Forward(context.Background(), qwen.Input{IDs: c.IDs})
	if err != nil {
		t.Fatal(err)
	}
	logits, err := m.head.Score(context.Background(), hidden, c.IDs, c.Spans())
	if err != nil {
		t.Fatal(err)
	}
	if precision == cpu.F32 {
		want.CheckLogits(t, logits)
	}
	for i, row := range want.Probs {
		got := goldentest.Softmax(logits[i])
		for k, p := range row {
			d := math.Abs(got[k] - p)
			if !(d <= roughTolerance) {
				t.Errorf("question %d option %d: got %v, want %v", i, k, got[k], p)
			}
			drift = max(drift, d)
		}
	}
	return drift
}
