package cpu

import (
	"math"
	"unsafe"
)

// floatsOf views bytes at a 4-byte address as floats.
func floatsOf(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func (p goPath) gemm(g *gemm, m0, m1, n0, n1 int, _ []byte) {
	row := make([]float32, g.w.cols)
	other := make([]float32, m1-m0)
	for n := n0; n < n1; n++ {
		var bias float32
		if g.bias != nil {
			bias = g.bias[n]
		}
		if g.up != nil {
			p.column(g, g.up, n, m0, m1, row, other)
		}
		sums := make([]float32, m1-m0)
		p.column(g, g.w, n, m0, m1, row, sums)
		for i, x := range sums {
			d := &g.dst.row(m0 + i)[n]
			*d = g.finish(x+bias, other[i], *d)
		}
	}
}

// finish is the epilogue of one element.
func (g *gemm) finish(x, up, old float32) float32 {
	switch {
	case g.mode == swiGLU:
		return silu(x) * up
	case g.act == 1:
		x = gelu(x)
	case g.act == 2:
		x = geluTanh(x)
	}
	if g.mode == add {
		return old + x
	}
	return x
}

// column multiplies output n of w with rows [m0, m1).
func (goPath) column(g *gemm, w *weight, n, m0, m1 int, row, sums []float32) {
	if g.a.form == formInt8 {
		g.intColumn(w, n, m0, m1, sums)
		return
	}
	w.decodeRow(row, n)
	if g.a.rounded {
		for i, v := range row {
			row[i] = roundBF16(v)
		}
	}
	m := m0
	for ; m+4 <= m1; m += 4 {
		a, b, c, d := g.a.row(m), g.a.row(m+1), g.a.row(m+2), g.a.row(m+3)
		a, b, c, d = a[:len(row)], b[:len(row)], c[:len(row)], d[:len(row)]
		var s, t, u, v float32
		for k, x := range row {
			s += x * a[k]
			t += x * b[k]
			u += x * c[k]
			v += x * d[k]
		}
		copy(sums[m-m0:], []float32{s, t, u, v})
	}
	for ; m < m1; m++ {
		var s float32
		for k, x := range g.a.row(m)[:len(row)] {
			s += x * row[k]
		}
		sums[m-m0] = s
	}
}

// row returns a row of float32 activations.
func (p *prepared) row(m int) []float32 { return floatsOf(p.data[m*p.stride : (m+1)*p.stride]) }

// intColumn multiplies bytes with codes, group by group.
func (g *gemm) intColumn(w *weight, n, m0, m1 int, sums []float32) {
	data := w.data[n*w.rowBytes : (n+1)*w.rowBytes]
	q := make([]int32, w.cols)
	for i := range q {
		q[i] = int32(code(data, i, w.bits))
	}
	a := g.a
	for m := m0; m < m1; m++ {
		x := a.data[m*a.stride : m*a.stride+w.cols]
		var total float32
		for k := range a.groups {
			var dot int32
			for i := k * a.group; i < (k+1)*a.group; i++ {
				dot += q[i] * int32(int8(x[i]))
			}
			s, b := w.groupScale(n, k)
			at := m*a.groups + k
			total += float32(dot)*a.scale[at]*s + a.sum[at]*b
		}
		sums[m-m0] = total
	}
}

func (goPath) delta(d *delta, head int, scratch []byte) {
	key := head / (d.valueHeads / d.keyHeads)
	state := floatsOf(scratch)[:d.keyDim*d.valueDim]
	clear(state)
	if d.state != nil {
		state = d.state[head*len(state) : (head+1)*len(state)]
	}
	u, o := make([]float32, d.valueDim), make([]float32, d.valueDim)
	q, k := make([]float32, d.keyDim), make([]float32, d.keyDim)
	for t := range d.qkv.rows {
		row := d.qkv.row(t)
		unit(q, row[key*d.keyDim:], d.eps)
		unit(k, row[(d.keyHeads+key)*d.keyDim:], d.eps)
		scaleBy(q, float32(1/math.Sqrt(float64(d.keyDim))))
		v := row[2*d.keyHeads*d.keyDim+head*d.valueDim:]
		scaleBy(state, exp(d.g.row(t)[head]))
		clear(u)
		for i, x := range k {
			addScaled(u, state[i*d.valueDim:(i+1)*d.valueDim], x)
		}
		for j := range u {
			u[j] = d.beta.row(t)[head] * (v[j] - u[j])
		}
		clear(o)
		for i, x := range k {
			s := state[i*d.valueDim : (i+1)*d.valueDim]
			addScaled(s, u, x)
			addScaled(o, s, q[i])
		}
		copy(d.dst.row(t)[head*d.valueDim:(head+1)*d.valueDim], o)
	}
}

// unit writes x divided by its length.
func unit(dst, x []float32, eps float32) {
	r := rsqrt(sumSquares(x[:len(dst)], 0) + eps)
	for i := range dst {
		dst[i] = x[i] * r
	}
}

func addScaled(dst, x []float32, f float32) {
	for i, v := range x {
		dst[i] += f * v
	}
}

func (goPath) absorb(dst, q mat, k *weight, head, dim int, _ []byte) {
	row := make([]float32, k.cols)
	for i := range q.rows {
		clear(dst.row(i)[head*k.cols : (head+1)*k.cols])
	}
	for n := head * dim; n < (head+1)*dim; n++ {
		k.decodeRow(row, n)
		for i := range q.rows {
			addScaled(dst.row(i)[head*k.cols:(head+1)*k.cols], row, q.row(i)[n])
		}
	}
}

func (goPath) attend(a *attend, kvHead, from, to int, _ []byte) {
	group := a.heads / a.kvHeads
	weights := make([]float32, a.k.rows)
	for t := from; t < to; t++ {
		lo, hi := 0, a.past+t+1
		if a.spans != nil {
			lo, hi = int(a.spans[2*t]), int(a.spans[2*t+1])
		}
		for h := kvHead * group; h < (kvHead+1)*group; h++ {
			a.answer(t, h*a.dim, kvHead*a.dim, lo, hi, weights)
		}
	}
}

// answer attends with one row of one head to keys [lo, hi).
func (a *attend) answer(t, col, kvCol, lo, hi int, weights []float32) {
	q, d := a.q.row(t)[col:col+a.dim], a.dst.row(t)[col:col+a.dim]
	top := float32(math.Inf(-1))
	for k := lo; k < hi; k++ {
		var s float32
		for i, x := range a.k.row(k)[kvCol : kvCol+a.dim] {
			s += x * q[i]
		}
		weights[k] = s * a.scale
		top = max(top, weights[k])
	}
	clear(d)
	var total float32
	for k := lo; k < hi; k++ {
		w := exp(weights[k] - top)
		total += w
		addScaled(d, a.v.row(k)[kvCol:kvCol+a.dim], w)
	}
	for i := range d {
		if total > 0 {
			d[i] /= total
		}
		if a.gate.data != nil {
			d[i] *= sigmoid(a.gate.row(t)[col+i])
		}
	}
}
