package cpu

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/models"
)

func TestUnknownPrecision(t *testing.T) {
	_, err := New(Options{Precision: "fp4"})
	if engine.ReasonOf(err) != engine.BadUsage || !strings.Contains(err.Error(), "fp4") {
		t.Errorf("got %v, want BadUsage that names fp4", err)
	}
	t.Setenv("CLEFBAR_CPU", "mmx")
	if _, err := New(Options{}); engine.ReasonOf(err) != engine.BadUsage || !strings.Contains(err.Error(), "mmx") || !strings.Contains(err.Error(), "go") {
		t.Errorf("got %v, want BadUsage that names mmx and the paths of this machine", err)
	}
}

func TestInfo(t *testing.T) {
	eachPath(t, BF16, func(t *testing.T, c *CPU) {
		i := c.Info()
		if i.Device != "CPU" || i.Precision != BF16 || !strings.HasSuffix(i.Detail, ", 3 threads") {
			t.Errorf("got %+v", i)
		}
	})
}

// TestPoolDoesEveryTaskOnce runs more and fewer tasks than workers.
func TestPoolDoesEveryTaskOnce(t *testing.T) {
	p := newPool(4)
	defer p.close()
	for _, n := range []int{0, 1, 3, 4, 1000} {
		done := make([]atomic.Int32, n)
		var stray atomic.Int32
		if !p.run(context.Background(), n, func(worker, task int) {
			if worker < 0 || worker >= 4 {
				stray.Add(1)
			}
			done[task].Add(1)
		}) {
			t.Errorf("%d tasks were stopped", n)
		}
		for i := range done {
			if got := done[i].Load(); got != 1 {
				t.Errorf("task %d of %d ran %d times", i, n, got)
			}
		}
		if stray.Load() > 0 {
			t.Error("a worker has a number out of range")
		}
	}
}

func TestPoolStops(t *testing.T) {
	p := newPool(3)
	defer p.close()
	ctx, cancel := context.WithCancel(context.Background())
	var ran atomic.Int32
	whole := p.run(ctx, 1000, func(_, _ int) {
		if ran.Add(1) == 5 {
			cancel()
		}
	})
	if whole || ran.Load() > 20 {
		t.Errorf("%d tasks ran after the end of the context, complete: %v", ran.Load(), whole)
	}
}

// TestCloseEndsWorkers counts goroutines.
func TestCloseEndsWorkers(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		b, err := New(Options{Threads: 4})
		if err != nil {
			t.Fatal(err)
		}
		b.New(10, 10, backend.Work)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	// A goroutine that has done its last work is counted until the scheduler has seen it off.
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines are left over", after-before)
	}
}

// TestCancel: a long product ends within 100 ms of its context on every path, and the run
// does nothing afterwards. Other work on the machine may delay one attempt, not all.
func TestCancel(t *testing.T) {
	if testing.Short() {
		t.Skip("times on the clock mean nothing beside the race detector")
	}
	const rows, in, outs = 4096, 4096, 2048
	for _, precision := range []string{F32, Int8} {
		eachPath(t, precision, func(t *testing.T, c *CPU) {
			w, err := c.Load(quantised(make([]float32, in*outs), outs, in, 8, 64), backend.Matrix)
			if err != nil {
				t.Fatal(err)
			}
			x, y := c.New(rows, in, backend.Work), c.New(rows, outs, backend.Work)
			var late time.Duration
			for range 5 {
				if late = cancelled(t, c, x, y, w); late < 100*time.Millisecond {
					return
				}
			}
			t.Errorf("stopped %v after the context ended, want 100 ms", late)
		})
	}
}

// cancelled starts far more work than 20 ms of it, cancels after those and returns how long
// the rest took.
func cancelled(t *testing.T, c *CPU, x, y backend.Buffer, w backend.Weight) time.Duration {
	ctx, cancel := context.WithCancel(context.Background())
	c.Begin(ctx)
	ended := make(chan time.Time, 1)
	time.AfterFunc(20*time.Millisecond, func() {
		ended <- time.Now()
		cancel()
	})
	for range 50 {
		c.Linear([]backend.Buffer{y}, x, []backend.Weight{w}, nil, backend.None)
	}
	late := time.Since(<-ended)
	if err := c.Sync(); !errors.Is(err, context.Canceled) {
		t.Errorf("Sync: got %v, want %v", err, context.Canceled)
	}
	if err := c.Read(make([]float32, y.Rows()*y.Cols()), y); !errors.Is(err, context.Canceled) {
		t.Errorf("Read after the end: got %v, want %v", err, context.Canceled)
	}
	c.Begin(context.Background())
	if err := c.Sync(); err != nil {
		t.Errorf("the next run still fails: %v", err)
	}
	return late
}

// TestBuffersAreZeroed: a new buffer reads as zeros, however its memory was used before.
func TestBuffersAreZeroed(t *testing.T) {
	eachPath(t, F32, func(t *testing.T, c *CPU) {
		for range 3 {
			b := c.New(7, 33, backend.Work)
			got := make([]float32, 7*33)
			if err := c.Read(got, b); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != 0 {
					t.Fatalf("element %d is %v, want 0", i, v)
				}
			}
			c.Write(b, newSource(1).floats(7*33))
			c.Free(b)
		}
		parent := c.New(4, 8, backend.Exact)
		c.Write(parent.Slice(1, 3), newSource(2).floats(16))
		got := make([]float32, 32)
		if err := c.Read(got, parent); err != nil {
			t.Fatal(err)
		}
		if got[0] != 0 || got[31] != 0 || got[8] == 0 || got[23] == 0 {
			t.Errorf("a slice was not written into zeros: %v", got)
		}
	})
}

// TestSlicesAreZeroed writes parts of a buffer in every order; what is left reads as zeros.
func TestSlicesAreZeroed(t *testing.T) {
	const rows, cols = 9, 20
	eachPath(t, F32, func(t *testing.T, c *CPU) {
		for _, parts := range [][][2]int{{{0, 3}, {3, 6}}, {{6, 9}, {3, 6}}, {{7, 8}, {1, 2}}, {{2, 5}, {4, 7}, {0, 1}}, {{4, 4}, {2, 3}}, {{0, 9}}} {
			dirty := c.New(rows, cols, backend.Work)
			c.Write(dirty, newSource(1).floats(rows*cols))
			c.Free(dirty)
			x, want := c.New(rows, cols, backend.Work), make([]float32, rows*cols)
			for i, p := range parts {
				values := newSource(uint64(i)).floats((p[1] - p[0]) * cols)
				copy(want[p[0]*cols:], values)
				part := x.Slice(0, rows).Slice(p[0], p[1])
				c.Write(part, values)
				if got := contents(t, c, part); !slices.Equal(got, values) {
					t.Errorf("%v: rows %v read %v, want %v", parts, p, got, values)
				}
			}
			if got := contents(t, c, x); !slices.Equal(got, want) {
				t.Errorf("%v: got %v, want %v", parts, got, want)
			}
			c.Free(x)
		}
	})
}

func TestEmptyBuffers(t *testing.T) {
	eachPath(t, F32, func(t *testing.T, c *CPU) {
		x, y := c.New(0, 16, backend.Work), c.New(0, 8, backend.Work)
		w, err := c.Load(dense(make([]float32, 128), models.F32, 8, 16), backend.Matrix)
		if err != nil {
			t.Fatal(err)
		}
		c.Linear([]backend.Buffer{y}, x, []backend.Weight{w}, nil, backend.None)
		c.Add(x, x)
		c.Free(x, y)
		if err := c.Sync(); err != nil {
			t.Error(err)
		}
	})
}

// TestMemoryIsReused: runs of one shape take no more memory after the first.
func TestMemoryIsReused(t *testing.T) {
	eachPath(t, BF16, func(t *testing.T, c *CPU) {
		w, err := c.Load(dense(make([]float32, 256*256), models.BF16, 256, 256), backend.Matrix)
		if err != nil {
			t.Fatal(err)
		}
		run := func() {
			x, y := c.New(500, 256, backend.Work), c.New(500, 256, backend.Exact)
			c.Linear([]backend.Buffer{y}, x, []backend.Weight{w}, nil, backend.None)
			c.Free(x, y)
			if err := c.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		run()
		first := c.mem.peak
		for range 20 {
			run()
		}
		if c.mem.peak > first {
			t.Errorf("memory grew from %d to %d bytes", first, c.mem.peak)
		}
		if spare := c.mem.total - c.mem.used; spare > keepSpare {
			t.Errorf("%d spare bytes are kept, want at most %d", spare, keepSpare)
		}
	})
}

// TestNoMemory: what the system refuses is an error of the run, not a crash.
func TestNoMemory(t *testing.T) {
	c := benchable(t)
	x := c.New(1<<24, 1<<24, backend.Work) // an exabyte
	c.Add(x, x)
	c.RMSNorm(x.Slice(0, 1), x.Slice(0, 1), nil, 1)
	c.Free(x)
	if err := c.Sync(); engine.ReasonOf(err) != engine.NoMemory {
		t.Errorf("got %v, want NoMemory", err)
	}
}

func benchable(t *testing.T) *CPU {
	t.Helper()
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	b.Begin(context.Background())
	return b.(*CPU)
}

func TestLoadRefuses(t *testing.T) {
	good := quantised(make([]float32, 4*128), 4, 128, 4, 64)
	change := func(f func(*backend.Tensor, *models.Quant)) backend.Tensor {
		x, q := good, *good.Quant
		f(&x, &q)
		x.Quant = &q
		return x
	}
	for what, x := range map[string]backend.Tensor{
		"short data":      {Name: "w", DType: models.BF16, Shape: []int{2, 3}, Data: make([]byte, 11)},
		"long data":       {Name: "w", DType: models.F32, Shape: []int{2, 3}, Data: make([]byte, 28)},
		"integers":        {Name: "w", DType: models.I32, Shape: []int{2, 3}, Data: make([]byte, 24)},
		"negative shape":  {Name: "w", DType: models.F32, Shape: []int{-2, 3}, Data: nil},
		"huge shape":      {Name: "w", DType: models.F32, Shape: []int{1 << 40, 1 << 40}, Data: nil},
		"seven bits":      change(func(_ *backend.Tensor, q *models.Quant) { q.Bits = 7 }),
		"no group":        change(func(_ *backend.Tensor, q *models.Quant) { q.Group = 0 }),
		"short codes":     change(func(t *backend.Tensor, _ *models.Quant) { t.Data = t.Data[:8] }),
		"short scales":    change(func(_ *backend.Tensor, q *models.Quant) { q.Scales.Data = q.Scales.Data[:2] }),
		"mixed scales":    change(func(_ *backend.Tensor, q *models.Quant) { q.Biases.DType = models.F32 }),
		"group too large": change(func(t *backend.Tensor, q *models.Quant) { t.Shape, q.Group = []int{4, 96}, 128 }),
	} {
		for _, use := range []backend.Use{backend.Matrix, backend.Table, backend.Vector} {
			if _, err := benchable(t).Load(x, use); engine.ReasonOf(err) != engine.BadModel || !strings.Contains(err.Error(), x.Name) {
				t.Errorf("%s: got %v, want BadModel that names the tensor", what, err)
			}
		}
	}
	if w, err := benchable(t).Load(good, backend.Matrix); err != nil || w.Shape()[0] != 4 || w.Shape()[1] != 128 {
		t.Errorf("a good tensor: got %v", err)
	}
}
