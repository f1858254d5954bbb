package cpu

import (
	"fmt"
	"testing"
	"time"

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

// BenchmarkLinear times one product of 504 rows and reports its speed, and the share of
// what a loop over registers reaches with as many threads in the same minute.
func BenchmarkLinear(b *testing.B) {
	for _, s := range [][2]int{{4096, 4096}, {1024, 3584}, {3584, 1024}} {
		values := newSource(1).floats(s[0] * s[1])
		for name, w := range map[string]backend.Tensor{
			"bf16": dense(values, models.BF16, s[1], s[0]),
			"4bit": quantised(values, s[1], s[0], 4, 64),
			"8bit": quantised(values, s[1], s[0], 8, 64),
		} {
			for _, precision := range []string{F32, BF16, Int8} {
				if precision == Int8 && name == "bf16" {
					continue
				}
				b.Run(fmt.Sprintf("%s/%s/%dx%d", precision, name, s[0], s[1]), func(b *testing.B) { benchLinear(b, precision, w, 504) })
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
	peak := c.Peak(f.String(), 20*time.Millisecond)
	for b.Loop() {
		run()
	}
	speed := 2 * float64(rows) * float64(in) * float64(out) * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(speed/1e9, "Gop/s")
	b.ReportMetric(100*speed/peak, "%peak")
	b.ReportMetric(0, "ns/op")
}
