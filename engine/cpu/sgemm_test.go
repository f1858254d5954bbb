package cpu

import (
	"context"
	"testing"
	"time"

	"clefbar/engine/backend"
	"clefbar/models"
)

// plainSgemm is a library that gives c = a·bᵀ times a factor.
func plainSgemm(factor float32, calls *int) sgemm {
	return func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
		*calls++
		for i := range m {
			for j := range n {
				var s float32
				for l := range k {
					s += a[i*lda+l] * b[j*ldb+l]
				}
				c[i*ldc+j] = factor * s
			}
		}
	}
}

// slow is a path whose products take long, so that a library is sooner.
type slow struct{ path }

func (s slow) gemm(g *gemm, m0, m1, n0, n1 int, scratch []byte) {
	time.Sleep(20 * time.Millisecond)
	s.path.gemm(g, m0, m1, n0, n1, scratch)
}

// TestLibraryOnTrial: a library is used when it is right and sooner, and results are right
// in every case.
func TestLibraryOnTrial(t *testing.T) {
	for name, tt := range map[string]struct {
		below  path
		factor float32
		used   bool
	}{
		"right and sooner": {slow{goPath{}}, 1, true},
		"wrong":            {slow{goPath{}}, 1.01, false},
		"late":             {paths()[0].path, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			c := benchable(t)
			c.precision = F32
			c.path = &libraryPath{path: tt.below, label: "test", call: plainSgemm(tt.factor, &calls)}
			c.pool.close()
			c.pool = newPool(1)
			p := newPair(t, c)
			p.sides[0].Begin(context.Background())
			src := newSource(4)
			const rows, in, outs = 70, 200, 65
			x, w, up, bias := p.buffer(rows, in, backend.Work, src.floats(rows*in)), p.weight(dense(src.floats(in*outs), models.BF16, outs, in), backend.Matrix), p.weight(dense(src.floats(in*outs), models.F32, outs, in), backend.Matrix), p.vector(src.floats(outs))
			sum, gated := p.buffer(rows, outs, backend.Exact, src.floats(rows*outs)), p.buffer(rows, outs, backend.Work, nil)
			for i, s := range p.sides {
				s.LinearAdd(sum[i], x[i], w[i], bias[i])
				s.SwiGLU(gated[i], x[i], w[i], up[i])
			}
			p.same("LinearAdd", sum, 2e-5)
			p.same("SwiGLU", gated, 2e-5)
			if used := calls > 1; used != tt.used {
				t.Errorf("the library was called %d times, want used: %v", calls, tt.used)
			}
		})
	}
}
