package metal

import (
	"context"
	"math"
	"testing"
	"time"

	"clefbar/metal/emu"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// TestPlan: the predictions for an M2 Max are ahead of every published row, and the
// arithmetic is within 3 % of what the model needs.
func TestPlan(t *testing.T) {
	rows, err := Plan("m2max38")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if r.Seconds >= r.Published || r.Seconds < .3*r.Published {
			t.Errorf("%s %d-bit, %d tokens: predicted %.2f s, published %.2f s", r.Shape, r.Bits, r.Tokens, r.Seconds, r.Published)
		}
		if m := r.PublishedMemory; m > 0 && (float64(r.Memory) >= m || float64(r.Memory) < .6*m) {
			t.Errorf("%s %d-bit, %d tokens: predicted %.1f GB, published %.1f GB", r.Shape, r.Bits, r.Tokens, float64(r.Memory)/1e9, m/1e9)
		}
		full := published[i].shape.Layers / published[i].shape.FullEvery
		if most := 10*(published[i].shape.Layers-full) + 8*full; r.Tokens == 500 && r.Work.Dispatches > most {
			t.Errorf("%s %d-bit: got %d dispatches, want at most 10 for a gated-delta layer and 8 for an attention layer: %d", r.Shape, r.Bits, r.Work.Dispatches, most)
		}
		least := published[i].shape.Multiplies(r.Tokens)
		if more := r.Work.Multiplies/least - 1; r.Tokens == 500 && more > .03 || more < -.005 {
			t.Errorf("%s %d-bit, %d tokens: %.2f %% more multiplications than needed, want at most 3 %%", r.Shape, r.Bits, r.Tokens, 100*more)
		}
	}
	t.Logf("\n%s", FormatPlan("m2max38", rows))
	tensor, err := Plan("m5max40")
	if err != nil {
		t.Fatal(err)
	}
	simd := Chips["m5max40"]
	simd.Tensor = 0
	for i, r := range tensor {
		without := Predict(simd, published[i].shape, r.Bits, r.Tokens)
		if r.Work.OnTensor == 0 || r.Seconds >= without.Seconds {
			t.Errorf("M5 Max, %s %d-bit, %d tokens: predicted %.2f s with tensor units, %.2f s without", r.Shape, r.Bits, r.Tokens, r.Seconds, without.Seconds)
		}
	}
	t.Logf("\n%s", FormatPlan("m5max40", tensor))
	if _, err := Plan("m9"); err == nil {
		t.Error("an unknown chip: got no error")
	}
}

// TestShapeArithmetic compares the counts with those of the specification: 6.92 and 24.35 billion weights.
func TestShapeArithmetic(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		want float64
	}{{Shape9B, 6918.5e6}, {Shape27B, 24350.6e6}} {
		delta := float64(c.s.Layers-c.s.Layers/c.s.FullEvery) * 3 * float64(c.s.ValueHeads*c.s.KeyDim*c.s.ValueDim)
		attention := float64(c.s.Layers/c.s.FullEvery) * 2 * float64(c.s.Heads*c.s.HeadDim)
		if got := c.s.Multiplies(1) - delta - attention; math.Abs(got/c.want-1) > 1e-3 {
			t.Errorf("%s: got %.1f million weights, want %.1f", c.s.Name, got/1e6, c.want/1e6)
		}
	}
}

// TestPlanIsTheModel: the planned operations are those that engine/qwen asks for.
func TestPlanIsTheModel(t *testing.T) {
	const n = 70
	m, b, _ := backbone(t, "tiny-9b-shape-mlx-4bit", emu.DeviceOptions{})
	hidden(t, m, b, tokens(n), nil)
	real := b.rec
	tiny := Shape{
		Hidden: 64, MLP: 192, Layers: 8, FullEvery: 4, Heads: 8, KVHeads: 2, HeadDim: 64, Rotary: 16,
		KeyHeads: 2, ValueHeads: 4, KeyDim: 64, ValueDim: 64, Taps: 4,
	}
	plan := dry(b.chip)
	plan.Begin(context.Background())
	tiny.forward(plan, n, 4)
	for name, want := range plan.rec.byOp {
		got := real.byOp[name]
		if name == "rms_norm" {
			got-- // the final norm is not planned
		}
		if got != want {
			t.Errorf("%s: the model asks %d times, the plan %d times", name, got, want)
		}
	}
	if d := math.Abs(real.total.Multiplies/plan.rec.total.Multiplies - 1); d > 1e-3 {
		t.Errorf("multiplications differ by %g", d)
	}
}

// TestEncodingCost: recording one 27B decision takes the host at most 3 ms.
func TestEncodingCost(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector is used with -short, and makes this ten times slower")
	}
	best := time.Hour
	for range 20 {
		b := dry(Chips["m2max38"])
		for range 2 { // the second run finds its memory in the pool, as every later decision does
			b.Begin(context.Background())
			start := time.Now()
			Shape27B.forward(b, 500, 4)
			best = min(best, time.Since(start))
		}
	}
	if best > 3*time.Millisecond {
		t.Errorf("recording a 27B decision took %v at best, want at most 3 ms", best)
	}
	t.Logf("recording a 27B decision: %v", best)
}

func BenchmarkEncode27B(b *testing.B) {
	dryBackend := dry(Chips["m2max38"])
	b.ReportAllocs()
	for b.Loop() {
		dryBackend.Begin(context.Background())
		Shape27B.forward(dryBackend, 500, 4)
	}
	b.ReportMetric(float64(dryBackend.rec.total.Dispatches), "dispatches")
}

// TestChipOf: predictions use the chip with the nearest core count, and the smallest one for strangers.
func TestChipOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		cores int
		want  string
	}{
		{"Apple M2 Max", 38, "M2 Max, 38 cores"},
		{"Apple M2 Max", 30, "M2 Max, 30 cores"},
		{"Apple M2 Max", 0, "M2 Max, 30 cores"},
		{"Apple M1", 8, "M1, 8 cores"},
		{"Apple M1", 7, "M1, 7 cores"},
		{"Apple M4 Pro", 16, "M4 Pro, 16 cores"},
		{"Apple M9 Ultra", 99, "M1, 8 cores"},
		{"", 0, "M1, 8 cores"},
	} {
		if got := ChipOf(gpu.Info{Name: c.name, Cores: c.cores, Family: gpu.Apple9}); got.Name != c.want || got.Family != gpu.Apple9 {
			t.Errorf("%s with %d cores: got %s, want %s", c.name, c.cores, got.Name, c.want)
		}
	}
	if got, want := ChipOf(gpu.Info{Name: "Apple M4 Pro", Cores: 16}).Peak, Chips["m4pro20"].Peak*16/20; math.Abs(got-want) > 1e-9 {
		t.Errorf("M4 Pro with 16 cores: got %g T multiply-adds a second, want %g", got, want)
	}
}

// TestFewRows: products of few rows are predicted faster with the slim tiles that the
// shipped table gives them than with the usual one, and those of many rows are not.
func TestFewRows(t *testing.T) {
	c := Chips["m2max38"]
	seconds := func(rows int, tile kernels.Tile) float64 {
		b := dry(c)
		b.table = &Table{Rules: []Rule{{Rows: 1 << 30, Tile: tile}}}
		b.Begin(context.Background())
		Shape27B.forward(b, rows, 4)
		return b.rec.predicted
	}
	for _, r := range []struct {
		rows   int
		faster bool
	}{{1, true}, {8, true}, {32, true}, {64, true}, {96, true}, {512, false}} {
		slim, tall := seconds(r.rows, Shipped().Choose(min(r.rows, 96), false).Tile), seconds(r.rows, tileTall)
		t.Logf("27B 4-bit, %d rows: %.0f ms with %v, %.0f ms with %v", r.rows, 1e3*slim, Shipped().Choose(min(r.rows, 96), false).Tile, 1e3*tall, tileTall)
		if (slim < tall) != r.faster {
			t.Errorf("%d rows: predicted %.4f s with %v, %.4f s with %v", r.rows, slim, Shipped().Choose(r.rows, false).Tile, tall, tileTall)
		}
	}
}
