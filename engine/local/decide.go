package local

import (
	"context"
	"time"

	"clefbar/engine"
	"clefbar/engine/answer"
	"clefbar/engine/prompt"
	"clefbar/engine/qwen"
)

// plan is an encoded request: one prompt for all questions, or one for each.
type plan struct {
	prompts []*engine.Encoding
	shared  int // tokens that all prompts begin with; 0 for a single prompt
}

// plan encodes a request.
func (m *Model) plan(r *engine.Request) (*plan, error) {
	if len(r.Images) > 0 && !m.info.Vision {
		return nil, engine.InvalidAt("media_unsupported", []any{"images", 0}, "The model %s reads no images", m.info.Name)
	}
	opt := prompt.Options{Limit: m.info.Limit}
	if r.Independent {
		i, err := prompt.EncodeIndependent(m.tok, r, opt)
		if err != nil {
			return nil, err
		}
		return &plan{i.Prompts, i.Shared}, nil
	}
	e, err := prompt.Encode(m.tok, r, opt)
	if err != nil {
		return nil, err
	}
	return &plan{[]*engine.Encoding{e}, 0}, nil
}

// Encode returns what the model would read for a request, without running it. For
// an independent request that is the prompt of its first question.
func (m *Model) Encode(r *engine.Request) (*engine.Encoding, error) {
	p, err := m.plan(r)
	if err != nil {
		return nil, err
	}
	p.prompts[0].Model = m.info.Name
	return p.prompts[0], nil
}

// Decide answers a request. The first answer of a model also tells how long it took to open.
func (m *Model) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	began := time.Now()
	p, err := m.plan(r)
	if err != nil {
		return nil, err
	}
	out := &engine.Response{Model: m.info.Name, Practice: m.info.Practice, Truncated: p.prompts[0].Truncated}
	out.Timing.Encode = time.Since(began)
	queued := time.Now()
	var spans []engine.QuestionSpans
	var logits [][]float32
	err = m.do(ctx, func() error {
		out.Timing.Queue = time.Since(queued)
		var err error
		spans, logits, err = m.score(ctx, p, &out.Timing)
		return err
	})
	if err != nil {
		return nil, runError(err)
	}
	if out.Answers, err = answer.Build(r, spans, logits, m.answer); err != nil {
		return nil, err
	}
	out.Usage.InputTokens = p.tokens()
	out.Timing.Load = m.load.take()
	out.Timing.Total = time.Since(began)
	out.Timing.PeakBytes = peakBytes()
	return out, nil
}

// tokens counts what the model reads; a shared beginning is read once.
func (p *plan) tokens() int {
	n := p.shared
	for _, e := range p.prompts {
		n += len(e.IDs) - p.shared
	}
	return n
}

// score runs the prompts and returns the logits of all questions.
func (m *Model) score(ctx context.Context, p *plan, t *engine.Timing) (spans []engine.QuestionSpans, logits [][]float32, err error) {
	var prefix *qwen.Prefix
	if p.shared > 0 {
		began := time.Now()
		if prefix, err = m.qwen.Prefill(ctx, qwen.Input{IDs: p.prompts[0].IDs[:p.shared]}); err != nil {
			return nil, nil, err
		}
		defer m.qwen.FreePrefix(prefix)
		t.Prefill += time.Since(began)
	}
	for _, e := range p.prompts {
		began := time.Now()
		hidden, err := m.qwen.Forward(ctx, qwen.Input{IDs: e.IDs[p.shared:], Prefix: prefix})
		if err != nil {
			return nil, nil, err
		}
		t.Prefill += time.Since(began)
		began = time.Now()
		part, err := m.head.Score(ctx, hidden, e.IDs, e.Questions)
		m.b.Free(hidden)
		if err != nil {
			return nil, nil, err
		}
		t.Head += time.Since(began)
		spans, logits = append(spans, e.Questions...), append(logits, part...)
	}
	return spans, logits, nil
}
