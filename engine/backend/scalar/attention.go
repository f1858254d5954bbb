package scalar

import "clefbar/engine/backend"

// AttnPrep splits, normalises and rotates what the projections of a full
// attention layer produced (clef.md 4.6, 4.7).
func (b *Backend) AttnPrep(q, gate, k, qg, kRaw, cos, sin backend.Buffer, a backend.Attn) {
	if b.stopped() {
		return
	}
	n := a.HeadDim
	if qg == nil {
		a.Heads = 0
	}
	if kRaw == nil {
		a.KVHeads = 0
	}
	for t := range of(cos).rows {
		cs, sn := of(cos).row(t), of(sin).row(t)
		for h := range a.Heads {
			pair := of(qg).row(t)[h*2*n:][:2*n]
			head := of(q).row(t)[h*n:][:n]
			rmsNorm(head, pair[:n], floats(a.QNorm), a.Eps)
			rotate(head, cs, sn, a.Rotary/2)
			copy(of(gate).row(t)[h*n:][:n], pair[n:])
		}
		for h := range a.KVHeads {
			head := of(k).row(t)[h*n:][:n]
			rmsNorm(head, of(kRaw).row(t)[h*n:][:n], floats(a.KNorm), a.Eps)
			rotate(head, cs, sn, a.Rotary/2)
		}
	}
}

// Rotate turns every head of x in place.
func (b *Backend) Rotate(x, cos, sin backend.Buffer) {
	if b.stopped() {
		return
	}
	half := of(cos).cols
	for t := range of(x).rows {
		row := of(x).row(t)
		for at := 0; at < len(row); at += 2 * half {
			rotate(row[at:], of(cos).row(t), of(sin).row(t), half)
		}
	}
}

// rotate turns the pairs (i, i+half) of a head by the given angles.
func rotate(x, cos, sin []float32, half int) {
	for i := range half {
		a, b := x[i], x[i+half]
		x[i] = a*cos[i] - b*sin[i]
		x[i+half] = b*cos[i] + a*sin[i]
	}
}

// Attention is causal attention with a sigmoid gate on its output.
func (b *Backend) Attention(dst, q, gate, k, v backend.Buffer, past int, a backend.Attn) {
	n, group := a.HeadDim, a.Heads/a.KVHeads
	for t := range of(q).rows {
		if b.stopped() {
			return
		}
		for h := range a.Heads {
			out := of(dst).row(t)[h*n:][:n]
			attend(out, of(q).row(t)[h*n:][:n], of(k), of(v), h/group*n, 0, past+t+1)
			for i := range out {
				out[i] *= sigmoid(of(gate).row(t)[h*n+i])
			}
		}
	}
}

// MHA is multi-head attention without mask.
func (b *Backend) MHA(dst, q, k, v backend.Buffer, heads int, rows []backend.Span) {
	n := of(q).cols / heads
	for t := range of(q).rows {
		if b.stopped() {
			return
		}
		seen := backend.Span{From: 0, To: of(k).rows}
		if rows != nil {
			seen = rows[t]
		}
		for h := range heads {
			attend(of(dst).row(t)[h*n:][:n], of(q).row(t)[h*n:][:n], of(k), of(v), h*n, seen.From, seen.To)
		}
	}
}

// attend writes softmax(q·kᵀ/√n)·v over rows [from, to) of k and v, whose head starts at column at.
func attend(out, q []float32, k, v *buffer, at, from, to int) {
	n := len(q)
	scores := make([]float32, to-from)
	for j := range scores {
		for i, x := range k.row(from + j)[at : at+n] {
			scores[j] += q[i] * x
		}
		scores[j] /= sqrt(float32(n))
	}
	softmax(scores)
	clear(out)
	for j, p := range scores {
		for i, x := range v.row(from + j)[at : at+n] {
			out[i] += p * x
		}
	}
}

func softmax(x []float32) {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	var sum float32
	for i, v := range x {
		x[i] = exp(v - top)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}
