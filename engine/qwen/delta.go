package qwen

import "clefbar/engine/backend"

// deltaRule adds the gated delta part of layer i to x (clef.md 4.4, 4.5), block
// after block: the convolution's history and the state carry over.
func (m *Model) deltaRule(i int, x backend.Buffer, prefix, keep *Prefix, s *scratch) {
	l := &m.layers[i]
	d, c := l.delta, m.cfg
	history, state := m.deltaState(i, prefix, x.Rows() > s.rows || keep != nil)
	t := s.phase()
	defer t.end()
	normed, qkv, conv := t.work(c.Hidden), t.work(c.QKV()), t.work(c.QKV())
	z, o, gated := t.work(c.ValueHeads*c.ValueDim), t.work(c.ValueHeads*c.ValueDim), t.work(c.ValueHeads*c.ValueDim)
	b, a, g, beta := t.exact(c.ValueHeads), t.exact(c.ValueHeads), t.exact(c.ValueHeads), t.exact(c.ValueHeads)
	for from := 0; from < x.Rows(); from += s.rows {
		part := x.Slice(from, min(from+s.rows, x.Rows()))
		n := part.Rows()
		normed, qkv, conv := normed.Slice(0, n), qkv.Slice(0, n), conv.Slice(0, n)
		z, o, gated := z.Slice(0, n), o.Slice(0, n), gated.Slice(0, n)
		b, a, g, beta := b.Slice(0, n), a.Slice(0, n), g.Slice(0, n), beta.Slice(0, n)
		m.b.RMSNorm(normed, part, l.inNorm, c.Eps)
		m.b.Linear([]backend.Buffer{qkv, z, b, a}, normed, d.in, nil, backend.None)
		m.b.CausalConv(conv, qkv, d.taps, history)
		m.b.DeltaGates(g, beta, a, b, d.rule)
		m.b.GatedDelta(o, conv, g, beta, d.rule, state)
		m.b.NormGate(gated, o, z, d.norm, c.Eps)
		if m.probe != nil {
			for name, x := range map[string]backend.Buffer{
				"input_layernorm": normed, "in_proj_qkv": qkv, "in_proj_z": z, "in_proj_b": b, "in_proj_a": a,
				"conv": conv, "g": g, "beta": beta, "delta_out": o, "gated_norm": gated,
			} {
				m.showIn(i, name, from, x)
			}
		}
		m.b.LinearAdd(part, gated, d.out, nil)
	}
	if keep != nil {
		keep.layers[i] = layerState{history: history, state: state}
		return
	}
	m.freeAll(history, state)
}

// deltaState returns the convolution history and the delta state to start from:
// copies of the prefix's, zeros when they have to carry over, else nil.
func (m *Model) deltaState(i int, prefix *Prefix, carry bool) (history, state backend.Buffer) {
	if prefix == nil && !carry {
		return nil, nil
	}
	c := m.cfg
	history = m.b.New(c.ConvTaps-1, c.QKV(), backend.Work)
	state = m.b.New(c.ValueHeads*c.KeyDim, c.ValueDim, backend.Exact)
	if prefix != nil {
		m.b.Copy(history, prefix.layers[i].history)
		m.b.Copy(state, prefix.layers[i].state)
	}
	return history, state
}

func (m *Model) freeAll(bs ...backend.Buffer) {
	for _, b := range bs {
		if b != nil {
			m.b.Free(b)
		}
	}
}
