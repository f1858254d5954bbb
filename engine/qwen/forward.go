package qwen

import (
	"context"
	"fmt"

	"clefbar/engine/backend"
)

// Input is a token sequence, or the rest of one behind a prefix.
type Input struct {
	IDs []int32
	// Positions has one entry for each token of the whole sequence, prefix included; nil
	// means text.
	Positions []Position
	// Media replaces the embeddings of placeholder tokens.
	Media []Media
	// Prefix is the shared beginning that was run before; IDs continue it. nil starts afresh.
	Prefix *Prefix
	// Rows are the spans of the whole sequence that will be read; nil means all of it. Rows outside
	// are left unfinished where that saves work, but they are numbers. Prefill finishes all.
	Rows []backend.Span
}

// Media is a run of embedding rows that a vision tower made.
type Media struct {
	At   int // token of the first row, counted from the start of IDs
	Rows backend.Buffer
}

// Forward returns the final hidden rows, (T, Hidden) Exact, of the whole sequence:
// those of the prefix first. The caller frees them. Work is under the context of
// the backend's Begin, which Forward calls.
func (m *Model) Forward(ctx context.Context, in Input) (backend.Buffer, error) {
	m.b.Begin(ctx)
	x, err := m.run(in, nil)
	if err != nil {
		return nil, err
	}
	if err := m.b.Sync(); err != nil {
		m.b.Free(x)
		return nil, fmt.Errorf("run the backbone: %w", err)
	}
	return x, nil
}

// run computes the rows of in. If keep is set, the state behind every layer is
// left in it.
func (m *Model) run(in Input, keep *Prefix) (backend.Buffer, error) {
	past := in.Prefix.Len()
	rows := len(in.IDs)
	pos := in.Positions
	if pos == nil {
		pos = Positions(past+rows, nil)
	}
	if rows == 0 || len(pos) != past+rows {
		return nil, fmt.Errorf("run the backbone: %d tokens and %d positions behind a prefix of %d", rows, len(pos), past)
	}
	for _, id := range in.IDs {
		if id < 0 || int(id) >= m.cfg.Vocab {
			return nil, fmt.Errorf("run the backbone: token %d is outside the vocabulary of %d", id, m.cfg.Vocab)
		}
	}
	for _, r := range in.Rows {
		if r.From < 0 || r.From >= r.To || r.To > past+rows {
			return nil, fmt.Errorf("run the backbone: rows [%d, %d) of %d", r.From, r.To, past+rows)
		}
	}
	all := m.b.New(past+rows, m.cfg.Hidden, backend.Exact)
	x := all.Slice(past, past+rows)
	m.b.Embed(x, m.embed, in.IDs)
	for _, media := range in.Media {
		m.b.Copy(x.Slice(media.At, media.At+media.Rows.Rows()), media.Rows)
	}
	m.show("embed", 0, x)
	cos, sin := m.angles(pos[past:])
	s := newScratch(m.b, evenRows(rows, m.block))
	whole := len(m.layers) // layers that run for all rows
	some := in.Rows != nil && keep == nil && m.layers[whole-1].attn != nil
	if some {
		whole--
	}
	for i := range whole {
		if m.layers[i].attn != nil {
			m.attention(i, x, cos, sin, in.Prefix, keep, s)
		} else {
			m.deltaRule(i, x, in.Prefix, keep, s)
		}
		m.mlp(i, x, s)
		m.show(fmt.Sprintf("layer%d", i), 0, x)
	}
	if some {
		m.someRows(x, in.Rows, cos, sin, in.Prefix, s)
	} else {
		m.finalNorm(x, s)
		m.show("hidden", 0, x)
	}
	if past > 0 {
		m.b.Copy(all.Slice(0, past), in.Prefix.hidden)
	}
	s.release()
	m.b.Free(cos, sin)
	return all, nil
}

func (m *Model) show(name string, from int, x backend.Buffer) {
	if m.probe != nil {
		m.probe(name, from, x)
	}
}

// showIn shows an intermediate of one layer.
func (m *Model) showIn(layer int, name string, from int, x backend.Buffer) {
	if m.probe != nil {
		m.probe(fmt.Sprintf("L%d.%s", layer, name), from, x)
	}
}

// mlp adds the feed-forward part of layer i to x.
func (m *Model) mlp(i int, x backend.Buffer, s *scratch) {
	l := &m.layers[i]
	t := s.phase()
	defer t.end()
	normed, wide := t.work(m.cfg.Hidden), t.work(m.cfg.MLP)
	for from := 0; from < x.Rows(); from += s.rows {
		part := x.Slice(from, min(from+s.rows, x.Rows()))
		normed, wide := normed.Slice(0, part.Rows()), wide.Slice(0, part.Rows())
		m.b.RMSNorm(normed, part, l.postNorm, m.cfg.Eps)
		m.showIn(i, "post_attention_layernorm", from, normed)
		m.b.SwiGLU(wide, normed, l.gate, l.up)
		m.b.LinearAdd(part, wide, l.down, nil)
	}
}

// finalNorm normalises x in place, by way of scratch.
func (m *Model) finalNorm(x backend.Buffer, s *scratch) {
	t := s.phase()
	defer t.end()
	normed := t.exact(m.cfg.Hidden)
	for from := 0; from < x.Rows(); from += s.rows {
		part := x.Slice(from, min(from+s.rows, x.Rows()))
		normed := normed.Slice(0, part.Rows())
		m.b.RMSNorm(normed, part, m.norm, m.cfg.Eps)
		m.b.Copy(part, normed)
	}
}
