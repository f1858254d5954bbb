package scalar

import "clefbar/engine/backend"

// CausalConv is a depthwise causal convolution followed by SiLU.
func (b *Backend) CausalConv(dst, x backend.Buffer, taps backend.Weight, history backend.Buffer) {
	if b.stopped() {
		return
	}
	d, src, w := of(dst), of(x), floats(taps)
	k := len(w) / src.cols
	// seen holds the k-1 rows before row 0 and then x.
	seen := make([]float32, (k-1)*src.cols, (k-1)*src.cols+len(src.data))
	if history != nil {
		copy(seen, of(history).data)
	}
	seen = append(seen, src.data...)
	for t := range src.rows {
		out := d.row(t)
		for c := range out {
			var sum float32
			for j := range k {
				sum += w[c*k+j] * seen[(t+j)*src.cols+c]
			}
			out[c] = silu(sum)
		}
	}
	if history != nil {
		copy(of(history).data, seen[src.rows*src.cols:])
	}
}

// DeltaGates computes the log decay g and the write strength beta.
func (b *Backend) DeltaGates(g, beta, a, bIn backend.Buffer, d backend.Delta) {
	if b.stopped() {
		return
	}
	aLog, dt := floats(d.ALog), floats(d.DtBias)
	for t := range of(a).rows {
		for h := range d.ValueHeads {
			of(g).row(t)[h] = -exp(aLog[h]) * softplus(of(a).row(t)[h]+dt[h])
			of(beta).row(t)[h] = sigmoid(of(bIn).row(t)[h])
		}
	}
}

// GatedDelta runs the gated delta rule token by token (clef.md 4.5): the state
// decays, forgets what it predicts for the key, and stores the value instead.
func (b *Backend) GatedDelta(dst, qkv, g, beta backend.Buffer, d backend.Delta, state backend.Buffer) {
	if b.stopped() {
		return
	}
	s := make([]float32, d.ValueHeads*d.KeyDim*d.ValueDim)
	if state != nil {
		s = of(state).data
	}
	width := d.KeyHeads * d.KeyDim
	group := d.ValueHeads / d.KeyHeads
	q, k := make([]float32, d.KeyDim), make([]float32, d.KeyDim)
	for t := range of(qkv).rows {
		if b.stopped() {
			return
		}
		row := of(qkv).row(t)
		for h := range d.ValueHeads {
			at := h / group * d.KeyDim
			l2norm(q, row[at:at+d.KeyDim], d.NormEps)
			l2norm(k, row[width+at:width+at+d.KeyDim], d.NormEps)
			for i := range q {
				q[i] /= sqrt(float32(d.KeyDim))
			}
			v := row[2*width+h*d.ValueDim:][:d.ValueDim]
			out := of(dst).row(t)[h*d.ValueDim:][:d.ValueDim]
			deltaStep(out, s[h*d.KeyDim*d.ValueDim:][:d.KeyDim*d.ValueDim], q, k, v, exp(of(g).row(t)[h]), of(beta).row(t)[h])
		}
	}
}

// deltaStep advances the (key, value) state of one head by one token.
func deltaStep(out, s, q, k, v []float32, decay, beta float32) {
	n := len(v)
	for j := range v {
		var predicted float32
		for i := range k {
			s[i*n+j] *= decay
			predicted += s[i*n+j] * k[i]
		}
		delta := beta * (v[j] - predicted)
		var sum float32
		for i := range k {
			s[i*n+j] += k[i] * delta
			sum += s[i*n+j] * q[i]
		}
		out[j] = sum
	}
}

func l2norm(dst, x []float32, eps float32) {
	sum := eps
	for _, v := range x {
		sum += v * v
	}
	scale := 1 / sqrt(sum)
	for i, v := range x {
		dst[i] = v * scale
	}
}

// NormGate normalises each head of o and gates it with silu(z).
func (b *Backend) NormGate(dst, o, z backend.Buffer, w backend.Weight, eps float32) {
	if b.stopped() {
		return
	}
	n := len(floats(w))
	for at := 0; at < len(of(o).data); at += n {
		out := of(dst).data[at : at+n]
		rmsNorm(out, of(o).data[at:at+n], floats(w), eps)
		for i := range out {
			out[i] *= silu(of(z).data[at+i])
		}
	}
}
