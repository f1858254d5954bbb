package cpu

import (
	"math"
	"sync"
	"time"
)

// sgemm computes c = a·bᵀ in float32: a has m rows of k numbers, b has n. Strides count
// numbers.
type sgemm func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int)

// libraryPath does float32 products with a matrix library of the system and everything else
// with the path below it. The library is on trial with its first product: it is used only
// if it gives what our kernel gives, and sooner.
type libraryPath struct {
	path
	label string
	call  sgemm
	trial sync.Once
	good  bool
	room  sync.Pool // of *[]float32
}

func (p *libraryPath) name() string { return p.label }

// trialTolerance is relative to the largest result of the trial.
const trialTolerance = 1e-4

func (p *libraryPath) gemm(g *gemm, m0, m1, n0, n1 int, scratch []byte) {
	if g.a.form != formF32 {
		p.path.gemm(g, m0, m1, n0, n1, scratch)
		return
	}
	p.trial.Do(func() { p.good = p.passes(g, m0, m1, n0, n1, scratch) })
	if !p.good {
		p.path.gemm(g, m0, m1, n0, n1, scratch)
		return
	}
	p.product(g, g.dst, m0, m1, n0, n1)
}

// passes computes one task on both sides, into a copy of the result's place.
func (p *libraryPath) passes(g *gemm, m0, m1, n0, n1 int, scratch []byte) bool {
	theirs := mat{data: append([]float32(nil), g.dst.data...), rows: g.dst.rows, cols: g.dst.cols, stride: g.dst.stride}
	saved := append([]float32(nil), g.dst.data...)
	began := time.Now()
	p.product(g, theirs, m0, m1, n0, n1)
	library := time.Since(began)
	began = time.Now()
	p.path.gemm(g, m0, m1, n0, n1, scratch)
	ours := time.Since(began)
	var top, off float64
	for m := m0; m < m1; m++ {
		for n := n0; n < n1; n++ {
			want := float64(g.dst.row(m)[n])
			top = math.Max(top, math.Abs(want))
			off = math.Max(off, math.Abs(want-float64(theirs.row(m)[n])))
		}
	}
	copy(g.dst.data, saved) // the caller computes again: an added product must not be added twice
	return off <= trialTolerance*top && library < ours
}

// product computes rows [m0, m1) of outputs [n0, n1) into dst.
func (p *libraryPath) product(g *gemm, dst mat, m0, m1, n0, n1 int) {
	rows, n, k := m1-m0, n1-n0, g.w.cols
	a := floatsOf(g.a.data)[m0*g.a.stride/4:]
	room := p.take(n*k + 2*rows*n)
	defer p.room.Put(&room)
	b, c, up := room[:n*k], room[n*k:n*k+rows*n], room[n*k+rows*n:n*k+2*rows*n]
	multiply := func(w *weight, out []float32) {
		for i := range n {
			w.decodeRow(b[i*k:(i+1)*k], n0+i)
		}
		if g.a.rounded {
			for i, x := range b {
				b[i] = roundBF16(x)
			}
		}
		p.call(rows, n, k, a, g.a.stride/4, b, k, out, n)
	}
	if g.up != nil {
		multiply(g.up, up)
	}
	multiply(g.w, c)
	for m := range rows {
		d := dst.row(m0 + m)[n0:n1]
		for i := range d {
			var bias float32
			if g.bias != nil {
				bias = g.bias[n0+i]
			}
			d[i] = g.finish(c[m*n+i]+bias, up[m*n+i], d[i])
		}
	}
}

// take returns memory for n numbers.
func (p *libraryPath) take(n int) []float32 {
	if x, ok := p.room.Get().(*[]float32); ok && cap(*x) >= n {
		return (*x)[:n]
	}
	return make([]float32, n)
}
