package qwen

import "clefbar/engine/backend"

// scratch holds the intermediates of one block of rows. They are shared by all
// layers, so memory does not grow with the depth of the model.
type scratch struct {
	normed, wide, final backend.Buffer
	// gated delta rule
	qkv, conv, z, b, a, g, beta, o, gated backend.Buffer
	// full attention
	qg, k, q, gate, attended backend.Buffer
}

func newScratch(m *Model, rows int) *scratch {
	c := m.cfg
	work := func(cols int) backend.Buffer { return m.b.New(rows, cols, backend.Work) }
	exact := func(cols int) backend.Buffer { return m.b.New(rows, cols, backend.Exact) }
	s := &scratch{normed: work(c.Hidden), wide: work(c.MLP), final: exact(c.Hidden)}
	var delta, full bool
	for _, f := range c.Full {
		full, delta = full || f, delta || !f
	}
	if delta {
		values := c.ValueHeads * c.ValueDim
		s.qkv, s.conv, s.z, s.o, s.gated = work(c.QKV()), work(c.QKV()), work(values), work(values), work(values)
		s.b, s.a, s.g, s.beta = exact(c.ValueHeads), exact(c.ValueHeads), exact(c.ValueHeads), exact(c.ValueHeads)
	}
	if full {
		queries := c.Heads * c.HeadDim
		s.qg, s.k = work(2*queries), work(c.KVHeads*c.HeadDim)
		s.q, s.gate, s.attended = work(queries), work(queries), work(queries)
	}
	return s
}

func (s *scratch) free(b backend.Backend) {
	for _, x := range []backend.Buffer{
		s.normed, s.wide, s.final, s.qkv, s.conv, s.z, s.b, s.a, s.g, s.beta, s.o, s.gated,
		s.qg, s.k, s.q, s.gate, s.attended,
	} {
		if x != nil {
			b.Free(x)
		}
	}
}
