package cpu_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"clefbar/engine"
	"clefbar/engine/cpu"
	"clefbar/engine/head"
	"clefbar/engine/qwen"
	"clefbar/models"
)

// BenchmarkDecision runs the backbone and the head of the folder that CLEFBAR_BENCH_MODEL names,
// at every precision.
func BenchmarkDecision(b *testing.B) {
	dir := os.Getenv("CLEFBAR_BENCH_MODEL")
	if dir == "" {
		b.Skip("CLEFBAR_BENCH_MODEL names no model folder")
	}
	f, err := models.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for _, precision := range []string{cpu.F32, cpu.BF16, cpu.Int8} {
		for _, tokens := range []int{64, 300, 500, 2000} {
			b.Run(fmt.Sprintf("%s/%d", precision, tokens), func(b *testing.B) { decide(b, f, precision, tokens) })
		}
	}
}

func decide(b *testing.B, f *models.Folder, precision string, tokens int) {
	x, err := cpu.New(cpu.Options{Precision: precision})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	m, err := qwen.Load(context.Background(), x, f, nil)
	if err != nil {
		b.Fatal(err)
	}
	h, err := head.Load(x, f)
	if err != nil {
		b.Fatal(err)
	}
	ids := make([]int32, tokens)
	for i := range ids {
		ids[i] = int32(7 * i % 400)
	}
	yes, no := engine.OptionSpan{Name: "true", Span: engine.Span{From: 30, To: 36}}, engine.OptionSpan{Name: "false", Span: engine.Span{From: 36, To: 42}}
	question := engine.QuestionSpans{ID: "q", Field: engine.Span{From: 20, To: 30}, Options: []engine.OptionSpan{yes, no}}
	for b.Loop() {
		hidden, err := m.Forward(context.Background(), qwen.Input{IDs: ids})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := h.Score(context.Background(), hidden, ids, []engine.QuestionSpans{question}); err != nil {
			b.Fatal(err)
		}
		x.Free(hidden)
	}
}
