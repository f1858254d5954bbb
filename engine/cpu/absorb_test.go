package cpu

import (
	"fmt"
	"testing"

	"clefbar/engine/backend"
	"clefbar/models"
)

// TestAttendRows compares with keys and values computed by the oracle, biases of keys included.
func TestAttendRows(t *testing.T) {
	for _, precision := range []string{F32, BF16} {
		eachPath(t, precision, func(t *testing.T, c *CPU) {
			for _, s := range []struct{ rows, tokens, heads, dim, in int }{{1, 100, 1, 16, 32}, {3, 500, 4, 16, 64}, {7, 300, 2, 32, 96}, {13, 129, 1, 64, 128}} {
				for _, d := range []models.DType{models.F32, models.BF16, models.F16} {
					testAttendRows(t, c, s.rows, s.tokens, s.heads, s.dim, s.in, d)
				}
			}
		})
	}
}

func testAttendRows(t *testing.T, c *CPU, rows, tokens, heads, dim, in int, d models.DType) {
	src, p, w := newSource(uint64(tokens)), newPair(t, c), heads*dim
	k, v := p.weight(dense(src.floats(w*in), d, w, in), backend.Matrix), p.weight(dense(src.floats(w*in), d, w, in), backend.Matrix)
	kBias, vBias := p.vector(src.floats(w)), p.vector(src.floats(w))
	q, m := p.buffer(rows, w, backend.Exact, src.floats(rows*w)), p.buffer(tokens, in, backend.Work, src.floats(tokens*in))
	out := p.buffer(rows, w, backend.Exact, nil)
	if !c.AttendRows(out[0], q[0], m[0], k[0], v[0], vBias[0], heads) {
		t.Fatalf("%d rows over %d were not taken", rows, tokens)
	}
	o := p.sides[1]
	keys, values := o.New(tokens, w, backend.Exact), o.New(tokens, w, backend.Exact)
	o.Linear([]backend.Buffer{keys, values}, m[1], []backend.Weight{k[1], v[1]}, []backend.Weight{kBias[1], vBias[1]}, backend.None)
	o.MHA(out[1], q[1], keys, values, heads, nil)
	p.same(fmt.Sprint(rows, tokens, heads, dim, d), out, 2e-5)
}

// TestAttendRowsDeclines: where keys and values are less work, and where the kernels do not fit.
func TestAttendRowsDeclines(t *testing.T) {
	eachPath(t, F32, func(t *testing.T, c *CPU) {
		for name, s := range map[string]struct {
			rows, tokens, heads, dim int
			quantised                bool
		}{
			"as many queries as rows": {rows: 200, tokens: 200, heads: 4, dim: 16},
			"heads of 24 columns":     {rows: 1, tokens: 500, heads: 4, dim: 24},
			"quantised weights":       {rows: 1, tokens: 500, heads: 4, dim: 16, quantised: true},
		} {
			w := s.heads * s.dim
			x := dense(make([]float32, w*w), models.F32, w, w)
			if s.quantised {
				x = quantised(make([]float32, w*w), w, w, 4, 64)
			}
			k, err := c.Load(x, backend.Matrix)
			if err != nil {
				t.Fatal(err)
			}
			q, m := c.New(s.rows, w, backend.Exact), c.New(s.tokens, w, backend.Work)
			if c.AttendRows(c.New(s.rows, w, backend.Exact), q, m, k, k, nil, s.heads) {
				t.Errorf("%s: taken", name)
			}
		}
	})
}
