package metal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"clefbar/engine/backend"
	"clefbar/metal/emu"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
	"clefbar/models"
)

// chain is a run of several operations whose result can be compared.
func chain(s *scene) ([]float32, error) {
	x, h := s.input(33, 64, backend.Exact, 1), s.New(33, 96, backend.Work)
	for range 3 {
		n := s.New(33, 64, backend.Work)
		s.RMSNorm(n, x, s.vector(64, 1), 1e-6)
		s.SwiGLU(h, n, s.matrix(s.dense(96, 64, models.BF16)), s.matrix(s.dense(96, 64, models.BF16)))
		s.LinearAdd(x, h, s.matrix(s.codes(64, 96, 4, 32, models.BF16)), nil)
		s.Free(n)
	}
	return s.read(x)
}

// TestRetry: work that the system took away is done once more in shorter pieces, with the same result.
func TestRetry(t *testing.T) {
	calm, _ := emulated(t, emu.DeviceOptions{})
	want, err := chain(newScene(calm))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		failures int
		err      error
		recovers bool
	}{
		{"one timeout", 1, gpu.ErrTimeout, true},
		{"timeouts for ever", 1 << 30, gpu.ErrTimeout, false},
		{"another failure", 1, errors.New("page fault"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			armed, left, most := false, c.failures, 0
			o := emu.DeviceOptions{Fail: func(list []gpu.Dispatch) error {
				if armed && left > 0 {
					left--
					return fmt.Errorf("GPU: %w", c.err)
				}
				most = max(most, len(list))
				return nil
			}}
			b, _ := emulated(t, o)
			armed = true
			got, err := chain(newScene(b))
			if !c.recovers {
				if !errors.Is(err, c.err) {
					t.Errorf("got error %v, want %v", err, c.err)
				}
				left = 0
				if again, err := chain(newScene(b)); err != nil || !sameBits(again, want) {
					t.Errorf("the next run: got error %v, want the right numbers", err)
				}
				return
			}
			if err != nil || !sameBits(got, want) {
				t.Errorf("got error %v, want the numbers of a calm run", err)
			}
		})
	}
}

// TestShortCommandBuffers: where the recorded list is cut changes nothing, and barriers
// stand in the right places after a cut, too.
func TestShortCommandBuffers(t *testing.T) {
	var want []float32
	for _, budget := range []float64{0, 1e-9, 1.5e-5, 2.5e-5, 5e-5, 3e-4} {
		m, b, _ := backbone(t, "tiny-9b-shape-mlx-4bit", emu.DeviceOptions{Order: emu.Seeded, Seed: 3})
		if budget > 0 {
			b.budget = budget
		}
		got := hidden(t, m, b, tokens(45), nil)
		if want == nil {
			want = got
		}
		if !sameBits(got, want) {
			t.Errorf("command buffers of %g s: other bits than one command buffer", budget)
		}
		if n := b.rec.submitted; budget == 1e-9 && n < 70 {
			t.Errorf("command buffers of %g s: got %d of them, want one for each dispatch", budget, n)
		}
	}
}

// TestNoRetryOfWhatIsGone: a run that has overwritten what it started from is not repeated.
func TestNoRetryOfWhatIsGone(t *testing.T) {
	armed := false
	b, _ := emulated(t, emu.DeviceOptions{Fail: func([]gpu.Dispatch) error {
		if armed {
			armed = false
			return gpu.ErrTimeout
		}
		return nil
	}})
	s := newScene(b)
	x, y := s.input(5, 8, backend.Exact, 1), s.input(5, 8, backend.Exact, 1)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	s.Begin(context.Background())
	armed = true
	s.Add(x, y) // in place, on numbers of the run before
	if err := s.Sync(); !errors.Is(err, gpu.ErrTimeout) || !errors.Is(err, backend.ErrAgain) {
		t.Errorf("got %v, want the timeout, and to be asked again", err)
	}
}

// TestCancel: an ended context stops a run and is what Sync returns; the next run works.
func TestCancel(t *testing.T) {
	b, dev := emulated(t, emu.DeviceOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	s := newScene(b)
	b.Begin(ctx)
	x, y := s.input(5, 8, backend.Exact, 1), s.New(5, 4, backend.Exact)
	w := s.matrix(s.dense(4, 8, models.BF16))
	s.Linear([]backend.Buffer{y}, x, []backend.Weight{w}, nil, backend.None)
	cancel()
	before := dev.Ran()["gemm"]
	for range 100 {
		s.Linear([]backend.Buffer{y}, x, []backend.Weight{w}, nil, backend.None)
	}
	if err := s.Sync(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if err := s.Read(make([]float32, 20), y); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: got %v, want context.Canceled", err)
	}
	if n := dev.Ran()["gemm"] - before; n > 2 {
		t.Errorf("%d products ran after the end of the context", n)
	}
	if _, err := chain(newScene(b)); err != nil {
		t.Errorf("the next run: %v", err)
	}
}

// TestCancelAfterClose: a context that ends late finds nothing to touch.
func TestCancelAfterClose(t *testing.T) {
	dev, err := emu.NewDevice(emu.DeviceOptions{})
	if err != nil {
		t.Skip(err)
	}
	b, err := New(dev, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.Begin(context.Background())
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b.cancel(b.pool.run)
}

// TestCancelOfAnEarlierRun: a context that ends after its run does not disturb the next one.
func TestCancelOfAnEarlierRun(t *testing.T) {
	b, _ := emulated(t, emu.DeviceOptions{})
	want, err := chain(newScene(b))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	b.Begin(ctx)
	earlier := b.pool.run
	s := newScene(b)
	end()
	b.cancel(earlier) // as if the end had been under way when the next run began
	got, err := chain(s)
	if err != nil || !sameBits(got, want) {
		t.Errorf("got error %v, want the numbers of an undisturbed run", err)
	}
}

// TestMemoryRunsOut: a run that does not fit fails with ErrMemory; smaller ones go on.
func TestMemoryRunsOut(t *testing.T) {
	b, _ := emulated(t, emu.DeviceOptions{Memory: 4 << 20})
	s := newScene(b)
	x := s.New(1024, 2048, backend.Exact)
	s.RMSNorm(x, s.New(1024, 2048, backend.Exact), s.vector(2048, 1), 1e-6)
	if err := s.Sync(); !errors.Is(err, backend.ErrMemory) {
		t.Errorf("got %v, want ErrMemory", err)
	}
	b.Free(x)
	if _, err := b.Load(s.dense(1024, 4096, models.F32), backend.Matrix); !errors.Is(err, backend.ErrMemory) && err != nil {
		t.Errorf("Load: got %v, want ErrMemory", err)
	}
	for range keptRuns + 3 {
		if _, err := chain(newScene(b)); err != nil {
			t.Fatalf("a small run: %v", err)
		}
	}
}

// TestCancelInsideACommandBuffer: kernels that are already committed look at the cancel word.
func TestCancelInsideACommandBuffer(t *testing.T) {
	b, _ := emulated(t, emu.DeviceOptions{})
	s := newScene(b)
	ctx, cancel := context.WithCancel(context.Background())
	b.Begin(ctx)
	x, y := s.input(5, 8, backend.Exact, 1), s.New(5, 4, backend.Exact)
	s.Linear([]backend.Buffer{y}, x, []backend.Weight{s.matrix(s.dense(4, 8, models.BF16))}, nil, backend.None)
	cancel()
	for *b.word(wordCancel) == 0 {
		time.Sleep(time.Millisecond)
	}
	b.ctx = context.Background() // as if the end came after the commit
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, v := range of(y).memory(inFull) {
		if v != 0 {
			t.Fatal("a cancelled kernel wrote results")
		}
	}
}

// TestOverflow: queries that leave the range of half are computed again with bfloat.
func TestOverflow(t *testing.T) {
	b, _ := emulated(t, emu.DeviceOptions{})
	run := func(size float32) ([]float32, error) {
		s := newScene(b)
		const d, rows = 64, 3
		loud := models.FromFloats("norm", []int{d}, make([]float32, d))
		for i := range d {
			copy(loud.Data[4*i:], words(floatBits(size)))
		}
		a := backend.Attn{Heads: 1, KVHeads: 1, HeadDim: d, Rotary: 16, Eps: 1e-6, QNorm: s.load(loud, backend.Vector), KNorm: s.vector(d, 1)}
		q, gate, k := s.New(rows, d, backend.Work), s.New(rows, d, backend.Work), s.New(rows, d, backend.Work)
		qg, raw := s.input(rows, 2*d, backend.Work, 2), s.input(rows, d, backend.Work, 2)
		cos, sin := s.input(rows, 8, backend.Exact, 1), s.input(rows, 8, backend.Exact, 1)
		s.AttnPrep(q, gate, k, qg, raw, cos, sin, a)
		return s.read(q)
	}
	if _, err := run(1); err != nil || b.wide {
		t.Fatalf("ordinary queries: got error %v, wide %v", err, b.wide)
	}
	got, err := run(1e5)
	if err != nil || !b.wide || b.Info().Precision != "bf16" {
		t.Fatalf("loud queries: got error %v, wide %v", err, b.wide)
	}
	loudest := float32(0)
	for _, v := range got {
		loudest = max(loudest, v)
	}
	if loudest < 70000 || loudest > 1e6 {
		t.Errorf("loudest query: got %v, want it beyond half", loudest)
	}
}

// TestWideKeepsOldHalves: what was stored as half before the switch to bfloat keeps its values.
func TestWideKeepsOldHalves(t *testing.T) {
	b, _ := emulated(t, emu.DeviceOptions{})
	s := newScene(b)
	x := s.halves(5, 8, 2)
	want, err := s.read(x)
	if err != nil {
		t.Fatal(err)
	}
	b.wide = true
	b.pool.reformat()
	s.Begin(context.Background())
	got, err := s.read(x)
	if err != nil || !sameBits(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// TestMixedOperandsAreOptional: a compiler that refuses products of two types gets products
// of one, and one that refuses products from device memory gets tiles.
func TestMixedOperandsAreOptional(t *testing.T) {
	plain, _ := emulated(t, emu.DeviceOptions{})
	want, err := chain(newScene(plain))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		refused func(l kernels.Library) bool
		unmixed bool
		unit    Unit
	}{
		{"two types", func(l kernels.Library) bool { return l.Name == "gemm" && l.Weights != operandFloat }, true, Simdgroups},
		{"two types, from device memory", func(l kernels.Library) bool { return l.Name != "tensor" && l.Weights != operandFloat && l.Tile.BM > 0 }, true, Direct},
		{"device memory", func(l kernels.Library) bool { return l.Name == "direct" }, false, Direct},
	} {
		b, dev := emulated(t, emu.DeviceOptions{Mutate: func(l kernels.Library, source string) string {
			if c.refused(l) {
				return "#error refused\n"
			}
			return source
		}})
		if c.unit == Direct {
			b.table = &Table{Rules: []Rule{{1 << 30, directOne, Direct}}}
		}
		got, err := chain(newScene(b))
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if d := differ(got, want); d > 1e-3 || b.unmixed != c.unmixed || dev.Ran()["gemm_direct"] > 0 {
			t.Errorf("%s: differs by %g, unmixed %v, ran %v", c.what, d, b.unmixed, dev.Ran())
		}
	}
}

// TestBadShapes: operations on shapes that do not fit fail the run with a message, and do not touch memory.
func TestBadShapes(t *testing.T) {
	b, _ := emulated(t, emu.DeviceOptions{})
	for _, c := range []struct {
		name, want string
		run        func(s *scene)
	}{
		{"product", "linear", func(s *scene) {
			s.Linear([]backend.Buffer{s.New(3, 4, backend.Exact)}, s.input(3, 8, backend.Exact, 1), []backend.Weight{s.matrix(s.dense(4, 9, models.F32))}, nil, backend.None)
		}},
		{"norm", "differ", func(s *scene) {
			s.RMSNorm(s.New(3, 4, backend.Exact), s.input(3, 8, backend.Exact, 1), s.vector(8, 1), 1)
		}},
		{"span", "average", func(s *scene) {
			s.MeanRows(s.New(1, 8, backend.Exact), s.input(3, 8, backend.Exact, 1), []backend.Span{{From: 2, To: 4}})
		}},
		{"token", "gather", func(s *scene) {
			s.Embed(s.New(1, 8, backend.Exact), s.load(s.dense(4, 8, models.BF16), backend.Table), []int32{4})
		}},
		{"heads", "attention", func(s *scene) {
			x := s.input(3, 20, backend.Exact, 1)
			s.MHA(s.New(3, 20, backend.Exact), x, x, x, 5, nil)
		}},
		{"state", "state", func(s *scene) {
			d := backend.Delta{KeyHeads: 1, ValueHeads: 1, KeyDim: 8, ValueDim: 8}
			g := s.input(2, 1, backend.Exact, 1)
			s.GatedDelta(s.New(2, 8, backend.Work), s.input(2, 24, backend.Work, 1), g, g, d, s.New(7, 8, backend.Exact))
		}},
		{"write", "write", func(s *scene) { s.Write(s.New(3, 4, backend.Exact), make([]float32, 11)) }},
	} {
		s := newScene(b)
		c.run(s)
		if err := s.Sync(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	if _, err := chain(newScene(b)); err != nil {
		t.Errorf("a run after failures: %v", err)
	}
}
