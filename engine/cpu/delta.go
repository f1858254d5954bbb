package cpu

import "clefbar/engine/backend"

// CausalConv convolves every channel over the rows; dst must not be x.
func (c *CPU) CausalConv(dst, x backend.Buffer, taps backend.Weight, history backend.Buffer) {
	if c.stopped() {
		return
	}
	s, d, w := in(x), out(dst), taps.(*weight)
	want(w.rows == s.cols && d.rows == s.rows && d.cols == s.cols, "CausalConv", s.rows, s.cols, d.rows, d.cols, w.shape)
	if w.taps.data == nil {
		w.taps = c.tapsByRow(w)
	}
	var past mat
	if history != nil {
		past = both(history)
		want(past.rows == w.cols-1 && past.cols == s.cols, "CausalConv", past.rows, past.cols)
	}
	if c.stopped() {
		return
	}
	c.overRows(s.rows, float64(s.cols)/2, func(from, to int) { c.path.conv(d, s, w.taps, past, from, to) })
	if history != nil {
		slideHistory(past, s)
	}
}

// tapsByRow turns (C, K) taps into K rows of C.
func (c *CPU) tapsByRow(w *weight) mat {
	m := mat{rows: w.cols, cols: w.rows, stride: strideFor(w.rows)}
	b := c.get(m.rows * m.stride * 4)
	if b == nil {
		return mat{}
	}
	clear(b)
	m.data = b[:m.rows*m.stride]
	for ch := range w.rows {
		for k := range w.cols {
			m.row(k)[ch] = w.vector[ch*w.cols+k]
		}
	}
	return m
}

// slideHistory keeps the last rows seen.
func slideHistory(past, x mat) {
	n := past.rows
	if x.rows >= n {
		for i := range n {
			copy(past.row(i), x.row(x.rows-n+i))
		}
		return
	}
	for i := range n {
		if from := i + x.rows; from < n {
			copy(past.row(i), past.row(from))
		} else {
			copy(past.row(i), x.row(from-n))
		}
	}
}

// DeltaGates computes decay and step size of every value head.
func (c *CPU) DeltaGates(g, beta, a, b backend.Buffer, d backend.Delta) {
	if c.stopped() {
		return
	}
	x, y, gm, bm := in(a), in(b), out(g), out(beta)
	aLog, dt := vectorOf(d.ALog), vectorOf(d.DtBias)
	want(x.cols == len(aLog) && len(dt) == len(aLog) && gm.cols == x.cols && bm.cols == x.cols, "DeltaGates", x.cols, len(aLog), len(dt))
	c.overRows(x.rows, float64(x.cols)*2, func(from, to int) { c.path.gates(gm, bm, x, y, aLog, dt, from, to) })
}

// delta is the gated delta rule as kernels see it. state holds the value heads' matrices one
// after the other, without padding, or is nil.
type delta struct {
	dst, qkv, g, beta    mat
	state                []float32
	keyHeads, valueHeads int
	keyDim, valueDim     int
	eps                  float32
}

// deltaTokens is DELTA_TOKENS of delta.h.
const deltaTokens = 8

// scratch is the memory of one head in bytes: its state in blocks of columns, padded, and
// unit queries and keys of some tokens.
func (d *delta) scratch() int {
	width := ceil(d.keyDim, 16) * 16
	return (d.keyDim*ceil(d.valueDim, 32)*32 + 2*deltaTokens*width) * 4
}

// GatedDelta runs the heads in parallel, each over all rows.
func (c *CPU) GatedDelta(dst, qkv, g, beta backend.Buffer, d backend.Delta, state backend.Buffer) {
	if c.stopped() {
		return
	}
	j := &delta{
		qkv: in(qkv), g: in(g), beta: in(beta), dst: out(dst), keyHeads: d.KeyHeads, valueHeads: d.ValueHeads,
		keyDim: d.KeyDim, valueDim: d.ValueDim, eps: d.NormEps,
	}
	want(j.qkv.cols == 2*d.KeyHeads*d.KeyDim+d.ValueHeads*d.ValueDim && j.dst.cols == d.ValueHeads*d.ValueDim && j.dst.rows == j.qkv.rows,
		"GatedDelta", j.qkv.cols, j.dst.rows, j.dst.cols, d)
	if c.grow(j.scratch()); c.stopped() {
		return
	}
	var packed block
	if state != nil {
		s := both(state)
		want(s.rows == d.ValueHeads*d.KeyDim && s.cols == d.ValueDim, "GatedDelta", s.rows, s.cols)
		if packed = c.get(s.rows * s.cols * 4); packed == nil {
			return
		}
		defer c.mem.put(packed)
		for i := range s.rows {
			copy(packed[i*s.cols:], s.row(i))
		}
		j.state = packed
		defer func() {
			for i := range s.rows {
				copy(s.row(i), packed[i*s.cols:])
			}
		}()
	}
	c.parallel(d.ValueHeads, func(worker, head int) { c.path.delta(j, head, c.scratchFor(worker)) })
}

// NormGate normalises heads of len(w) columns and gates them.
func (c *CPU) NormGate(dst, o, z backend.Buffer, w backend.Weight, eps float32) {
	if c.stopped() {
		return
	}
	x, y, d, v := in(o), in(z), out(dst), vectorOf(w)
	want(len(v) > 0 && x.cols%len(v) == 0 && d.cols == x.cols && y.cols == x.cols && d.rows == x.rows, "NormGate", x.rows, x.cols, len(v))
	c.overRowsPacked(dst, float64(x.cols)/2, func(from, to int) { c.path.normGate(d, x, y, v, eps, from, to) })
}
