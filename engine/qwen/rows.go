package qwen

import "clefbar/engine/backend"

// someRows finishes x, the rows behind the prefix, for the spans of the whole sequence alone: it runs
// the last layer, which is full attention, and the final norm. All rows give keys and values,
// the wanted ones alone go on.
func (m *Model) someRows(x backend.Buffer, spans []backend.Span, cos, sin backend.Buffer, prefix *Prefix, s *scratch) {
	i := len(m.layers) - 1
	past := prefix.Len()
	keys, values := m.keysAndValues(i, x.Rows(), prefix)
	m.fillKeys(i, x, keys.Slice(past, past+x.Rows()), values.Slice(past, past+x.Rows()), cos, sin, s)

	wanted, total := behind(spans, past)
	if total > 0 {
		y := m.b.New(total, x.Cols(), backend.Exact)
		c, n := m.b.New(total, cos.Cols(), backend.Exact), m.b.New(total, sin.Cols(), backend.Exact)
		for _, w := range wanted {
			from, to := w.at, w.at+w.To-w.From
			m.b.Copy(y.Slice(from, to), x.Slice(w.From, w.To))
			m.b.Copy(c.Slice(from, to), cos.Slice(w.From, w.To))
			m.b.Copy(n.Slice(from, to), sin.Slice(w.From, w.To))
		}
		m.look(i, y, wanted, c, n, keys, values, past, s)
		m.mlp(i, y, s)
		m.finalNorm(y, s)
		for _, w := range wanted {
			m.b.Copy(x.Slice(w.From, w.To), y.Slice(w.at, w.at+w.To-w.From))
		}
		m.b.Free(y, c, n)
	}
	m.b.Free(keys, values)
}

// gathered is a span of rows and where its first row stands among the gathered ones.
type gathered struct {
	backend.Span
	at int
}

// behind returns the parts of spans behind the first past rows, counted from there, and their rows in all.
func behind(spans []backend.Span, past int) (out []gathered, total int) {
	for _, s := range spans {
		s.From, s.To = max(s.From-past, 0), s.To-past
		if s.From < s.To {
			out = append(out, gathered{s, total})
			total += s.To - s.From
		}
	}
	return out, total
}

// fillKeys computes the keys and values of layer i for all rows of x.
func (m *Model) fillKeys(i int, x, keys, values, cos, sin backend.Buffer, s *scratch) {
	l, c := &m.layers[i], m.cfg
	t := s.phase()
	defer t.end()
	normed, kRaw := t.work(c.Hidden), t.work(keys.Cols())
	for from := 0; from < x.Rows(); from += s.rows {
		to := min(from+s.rows, x.Rows())
		normed, kRaw := normed.Slice(0, to-from), kRaw.Slice(0, to-from)
		m.b.RMSNorm(normed, x.Slice(from, to), l.inNorm, c.Eps)
		m.b.Linear([]backend.Buffer{kRaw, values.Slice(from, to)}, normed, l.attn.in[1:], nil, backend.None)
		m.b.AttnPrep(nil, nil, keys.Slice(from, to), nil, kRaw, cos.Slice(from, to), sin.Slice(from, to), l.attn.attn)
	}
}

// look adds the attention of layer i to the gathered rows y.
func (m *Model) look(i int, y backend.Buffer, wanted []gathered, cos, sin, keys, values backend.Buffer, past int, s *scratch) {
	l, c := &m.layers[i], m.cfg
	t := s.phase()
	defer t.end()
	width := c.Heads * c.HeadDim
	normed, qg := t.work(c.Hidden), t.work(2*width)
	q, gate, o := t.work(width), t.work(width), t.work(width)
	for from := 0; from < y.Rows(); from += s.rows {
		to := min(from+s.rows, y.Rows())
		n := to - from
		normed, qg, q, gate, o := normed.Slice(0, n), qg.Slice(0, n), q.Slice(0, n), gate.Slice(0, n), o.Slice(0, n)
		m.b.RMSNorm(normed, y.Slice(from, to), l.inNorm, c.Eps)
		m.b.Linear([]backend.Buffer{qg}, normed, l.attn.in[:1], nil, backend.None)
		m.b.AttnPrep(q, gate, nil, qg, nil, cos.Slice(from, to), sin.Slice(from, to), l.attn.attn)
		for _, w := range wanted {
			a, b := max(w.at, from), min(w.at+w.To-w.From, to) // of this block
			if a >= b {
				continue
			}
			first := past + w.From + a - w.at
			seen := first + b - a
			m.b.Attention(o.Slice(a-from, b-from), q.Slice(a-from, b-from), gate.Slice(a-from, b-from), keys.Slice(0, seen), values.Slice(0, seen), first, l.attn.attn)
		}
		m.b.LinearAdd(y.Slice(from, to), o, l.attn.out, nil)
	}
}
