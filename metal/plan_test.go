package metal

import (
	"context"
	"math"
	"testing"
	"time"

	"clefbar/metal/emu"
	"clefbar/metal/gpu"
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
		least := published[i].shape.Multiplies(r.Tokens)
		if more := r.Work.Multiplies/least - 1; r.Tokens == 500 && more > .03 || more < -.005 {
			t.Errorf("%s %d-bit, %d tokens: %.2f %% more multiplications than needed, want at most 3 %%", r.Shape, r.Bits, r.Tokens, 100*more)
		}
	}
	t.Logf("\n%s", FormatPlan("m2max38", rows))
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
		{"Apple M1", 8, "M1"},
		{"Apple M4 Pro", 16, "M4 Pro, 20 cores"},
		{"Apple M9 Ultra", 99, "M1"},
		{"", 0, "M1"},
	} {
		if got := ChipOf(gpu.Info{Name: c.name, Cores: c.cores, Family: gpu.Apple9}); got.Name != c.want || got.Family != gpu.Apple9 {
			t.Errorf("%s with %d cores: got %s, want %s", c.name, c.cores, got.Name, c.want)
		}
	}
}
