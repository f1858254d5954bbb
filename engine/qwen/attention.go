package qwen

import "clefbar/engine/backend"

// attention adds the full attention part of layer i to x (clef.md 4.6). Keys and
// values of the whole sequence are kept for the length of the layer only.
func (m *Model) attention(i int, x, cos, sin backend.Buffer, prefix, keep *Prefix, s *scratch) {
	l, c := &m.layers[i], m.cfg
	past, width := prefix.Len(), c.KVHeads*c.HeadDim
	keys, values := m.keysAndValues(i, x.Rows(), prefix)
	t := s.phase()
	defer t.end()
	queries := c.Heads * c.HeadDim
	normed, qg, kRaw := t.work(c.Hidden), t.work(2*queries), t.work(width)
	q, gate, o := t.work(queries), t.work(queries), t.work(queries)
	for from := 0; from < x.Rows(); from += s.rows {
		to := min(from+s.rows, x.Rows())
		part := x.Slice(from, to)
		n := part.Rows()
		normed, qg, kRaw := normed.Slice(0, n), qg.Slice(0, n), kRaw.Slice(0, n)
		q, gate, o := q.Slice(0, n), gate.Slice(0, n), o.Slice(0, n)
		k, v := keys.Slice(past+from, past+to), values.Slice(past+from, past+to)
		m.b.RMSNorm(normed, part, l.inNorm, c.Eps)
		m.b.Linear([]backend.Buffer{qg, kRaw, v}, normed, l.attn.in, nil, backend.None)
		m.b.AttnPrep(q, gate, k, qg, kRaw, cos.Slice(from, to), sin.Slice(from, to), l.attn.attn)
		m.b.Attention(o, q, gate, keys.Slice(0, past+to), values.Slice(0, past+to), past+from, l.attn.attn)
		if m.probe != nil {
			m.showIn(i, "q_proj", from, qg)
			m.showIn(i, "k_proj", from, kRaw)
			m.showIn(i, "v_proj", from, v)
			m.showIn(i, "gated_attn", from, o)
		}
		m.b.LinearAdd(part, o, l.attn.out, nil)
	}
	if keep != nil {
		keep.layers[i] = layerState{keys: keys, values: values}
		return
	}
	m.b.Free(keys, values)
}

// keysAndValues returns buffers for the keys and values of layer i, filled as far as the prefix goes.
func (m *Model) keysAndValues(i, rows int, prefix *Prefix) (keys, values backend.Buffer) {
	past, width := prefix.Len(), m.cfg.KVHeads*m.cfg.HeadDim
	keys, values = m.b.New(past+rows, width, backend.Work), m.b.New(past+rows, width, backend.Work)
	if past > 0 {
		m.b.Copy(keys.Slice(0, past), prefix.layers[i].keys)
		m.b.Copy(values.Slice(0, past), prefix.layers[i].values)
	}
	return keys, values
}
