//go:build unix

package cpu

import (
	"fmt"
	"syscall"
	"testing"

	"clefbar/engine/backend"
	"clefbar/models"
)

// benchBackend opens the best path with one thread per processor.
func benchBackend(b *testing.B, precision string) *CPU {
	x, err := New(Options{Precision: precision})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { x.Close() })
	return x.(*CPU)
}

// computing returns the seconds that all threads of the process have computed. Benchmarks count
// these, not the clock: other programs on the machine hardly change them.
func computing() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkLinear times one product of 504 rows and reports operations for each second that a
// thread computes, and their share of what a loop over registers reaches right after.
func BenchmarkLinear(b *testing.B) {
	for _, s := range [][2]int{{4096, 4096}, {1024, 3584}, {3584, 1024}} {
		values := newSource(1).floats(s[0] * s[1])
		for _, w := range []struct {
			name       string
			tensor     backend.Tensor
			precisions []string
		}{
			{"bf16", dense(values, models.BF16, s[1], s[0]), []string{F32, BF16}},
			{"4bit", quantised(values, s[1], s[0], 4, 64), []string{F32, BF16, Int8}},
			{"8bit", quantised(values, s[1], s[0], 8, 64), []string{BF16, Int8}},
		} {
			for _, precision := range w.precisions {
				b.Run(fmt.Sprintf("%s/%s/%dx%d", precision, w.name, s[0], s[1]), func(b *testing.B) { benchLinear(b, precision, w.tensor, 504) })
			}
		}
	}
}

func benchLinear(b *testing.B, precision string, t backend.Tensor, rows int) {
	c := benchBackend(b, precision)
	w, err := c.Load(t, backend.Matrix)
	if err != nil {
		b.Fatal(err)
	}
	out, in := t.Shape[0], t.Shape[1]
	x, y := c.New(rows, in, backend.Work), c.New(rows, out, backend.Work)
	c.Write(x, newSource(2).floats(rows*in))
	f, _ := c.formFor(x.(*buffer), w.(*weight))
	run := func() { c.Linear([]backend.Buffer{y}, x, []backend.Weight{w}, nil, backend.None) }
	run()
	began, before := computing(), c.Operations()
	for b.Loop() {
		run()
	}
	speed := (c.Operations() - before) / (computing() - began)
	began = computing()
	peak := c.path.peak(f, 1<<22) / (computing() - began)
	b.ReportMetric(speed/1e9, "Gop/s")
	b.ReportMetric(100*speed/peak, "%peak")
	b.ReportMetric(0, "ns/op")
}
