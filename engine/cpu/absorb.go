package cpu

import (
	"math"

	"clefbar/engine/backend"
)

// AttendRows implements [backend.Absorber] for a few queries over many rows. With Wk and Wv the
// head's parts of k and v, a score q·(Wk·m) is (Wkᵀ·q)·m, and the mean of Wv·m under weights
// that sum to one is Wv times the mean of m: both weights meet the queries instead of all
// rows. The bias of keys adds the same to all scores of a query and has no effect.
func (c *CPU) AttendRows(dst, q, m backend.Buffer, k, v, vBias backend.Weight, heads int) bool {
	kw, vw := k.(*weight), v.(*weight)
	want(kw.rows == q.Cols() && kw.cols == m.Cols() && vw.rows == dst.Cols() && vw.cols == m.Cols() && dst.Rows() == q.Rows() && dst.Cols() == q.Cols(),
		"AttendRows", q.Rows(), q.Cols(), m.Rows(), m.Cols(), kw.shape, vw.shape)
	if !c.absorbs(q, m.(*buffer), kw, vw, heads) {
		return false
	}
	if c.stopped() {
		return true
	}
	absorbed := c.New(q.Rows(), heads*m.Cols(), backend.Exact)
	// One row more than there are: heads are read as rows that begin inside another.
	pooled := c.New(q.Rows()+1, heads*m.Cols(), backend.Exact)
	defer c.Free(absorbed, pooled)
	c.absorb(absorbed, q, kw, heads)
	c.poolRows(pooled.Slice(0, q.Rows()), absorbed, m, heads, q.Cols()/heads)
	c.project(dst, pooled, vw, vectorOf(vBias), heads)
	return true
}

// absorbs reports whether fewer operations lead to the result this way, and the kernels can. The
// products over all rows may be twice as fast, being of bfloat16.
func (c *CPU) absorbs(q backend.Buffer, m *buffer, k, v *weight, heads int) bool {
	dim := q.Cols() / heads
	if k.bits > 0 || v.bits > 0 || dim*heads != q.Cols() || dim%16 != 0 || k.cols%c.path.shape().nr != 0 {
		return false
	}
	n, rows, inner, width := float64(q.Rows()), float64(m.rows), float64(q.Cols()), float64(m.cols)
	products := rows * inner * width
	if f, _ := c.formFor(m, k); f == formBF16 {
		products /= 2
	}
	return n*inner*width+n*float64(heads)*rows*width < products+n*rows*inner
}

// absorb multiplies the queries with the key projection, head by head.
func (c *CPU) absorb(dst, q backend.Buffer, k *weight, heads int) {
	x, d, dim := in(q), out(dst), q.Cols()/heads
	if c.grow(dim * c.path.shape().nr * 4); c.stopped() {
		return
	}
	c.parallel(heads, func(worker, head int) { c.path.absorb(d, x, k, head, dim, c.scratchFor(worker)) })
}

// poolRows takes the mean of the rows of m for every query and head.
func (c *CPU) poolRows(dst, q, m backend.Buffer, heads, dim int) {
	if c.stopped() {
		return
	}
	j := &attend{
		q: in(q), k: in(m), v: in(m), dst: out(dst), heads: heads, kvHeads: 1, dim: m.Cols(), form: formF32,
		scale: float32(1 / math.Sqrt(float64(dim))), tokens: min(ceil(q.Rows(), c.pool.size), max(1, attendRows/heads)),
	}
	room := c.spans(j, nil)
	defer c.mem.put(room)
	c.attend(j)
}

// project multiplies every head's mean with the head's part of the value projection.
func (c *CPU) project(dst, pooled backend.Buffer, v *weight, bias []float32, heads int) {
	if c.stopped() {
		return
	}
	x, d, dim := in(pooled), out(dst), v.rows/heads
	list := make([]gemm, heads)
	for h := range list {
		w := *v
		w.rows, w.data = dim, v.data[h*dim*v.rowBytes:(h+1)*dim*v.rowBytes]
		list[h] = gemm{
			w: &w, mode: store, dst: mat{data: d.data[h*dim:], rows: d.rows, cols: dim, stride: d.stride},
			a: &prepared{form: formF32, data: block(x.data[h*v.cols:]).bytes(), stride: x.stride * 4},
		}
		if bias != nil {
			list[h].bias = bias[h*dim:]
		}
	}
	c.multiply(list)
}
