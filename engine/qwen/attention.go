package qwen

import "clefbar/engine/backend"

// attention adds the full attention part of layer i to x (clef.md 4.6). Keys and
// values of the whole sequence are kept for the length of the layer only.
func (m *Model) attention(i int, x, cos, sin backend.Buffer, prefix, keep *Prefix, s *scratch) {
	l := &m.layers[i]
	past, width := prefix.Len(), m.cfg.KVHeads*m.cfg.HeadDim
	keys := m.b.New(past+x.Rows(), width, backend.Work)
	values := m.b.New(past+x.Rows(), width, backend.Work)
	if past > 0 {
		m.b.Copy(keys.Slice(0, past), prefix.layers[i].keys)
		m.b.Copy(values.Slice(0, past), prefix.layers[i].values)
	}
	for from := 0; from < x.Rows(); from += m.block {
		to := min(from+m.block, x.Rows())
		part := x.Slice(from, to)
		n := part.Rows()
		h, qg, kRaw := s.normed.Slice(0, n), s.qg.Slice(0, n), s.k.Slice(0, n)
		q, gate, o := s.q.Slice(0, n), s.gate.Slice(0, n), s.attended.Slice(0, n)
		k, v := keys.Slice(past+from, past+to), values.Slice(past+from, past+to)
		m.b.RMSNorm(h, part, l.inNorm, m.cfg.Eps)
		m.b.Linear([]backend.Buffer{qg, kRaw, v}, h, l.attn.in, nil, backend.None)
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
