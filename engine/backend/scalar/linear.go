package scalar

import "clefbar/engine/backend"

// Linear computes dst[i] = act(x · w[i]ᵀ + bias[i]).
func (b *Backend) Linear(dst []backend.Buffer, x backend.Buffer, w, bias []backend.Weight, act backend.Activation) {
	for i := range w {
		var bi backend.Weight
		if bias != nil {
			bi = bias[i]
		}
		b.product(of(x), w[i], bi, func(r, c int, v float32) { of(dst[i]).row(r)[c] = activate(v, act) })
	}
}

// LinearAdd computes dst += x · wᵀ + bias.
func (b *Backend) LinearAdd(dst, x backend.Buffer, w, bias backend.Weight) {
	b.product(of(x), w, bias, func(r, c int, v float32) { of(dst).row(r)[c] += v })
}

// SwiGLU computes dst = silu(x · gateᵀ) ⊙ (x · upᵀ).
func (b *Backend) SwiGLU(dst, x backend.Buffer, gate, up backend.Weight) {
	d := of(dst)
	b.product(of(x), gate, nil, func(r, c int, v float32) { d.row(r)[c] = silu(v) })
	b.product(of(x), up, nil, func(r, c int, v float32) { d.row(r)[c] *= v })
}

// product calls put with every element of x · wᵀ + bias. Each weight row is
// decoded once; products are summed from left to right.
func (b *Backend) product(x *buffer, w, bias backend.Weight, put func(r, c int, v float32)) {
	m := w.(*matrix)
	row := make([]float32, m.cols)
	for c := range m.rows {
		if b.stopped() {
			return
		}
		m.t.Row(row, c)
		var offset float32
		if bias != nil {
			offset = floats(bias)[c]
		}
		for r := range x.rows {
			var sum float32
			for i, v := range x.row(r) {
				sum += v * row[i]
			}
			put(r, c, sum+offset)
		}
	}
}
