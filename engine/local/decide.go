package local

import (
	"context"
	"time"

	"clefbar/engine"
	"clefbar/engine/answer"
	"clefbar/engine/prompt"
	"clefbar/engine/qwen"
	"clefbar/engine/vision"
)

// plan is an encoded request: one prompt for all questions, or one for each.
type plan struct {
	prompts []*engine.Encoding
	shared  int // tokens that all prompts begin with; 0 for a single prompt
	grids   []qwen.Grid
	images  []*vision.Pixels
}

// plan encodes a request. Images are measured, but not decoded yet.
func (m *Model) plan(r *engine.Request) (*plan, error) {
	opt := prompt.Options{Limit: m.info.Limit}
	for i, img := range r.Images {
		if m.vision == nil {
			return nil, engine.InvalidAt("media_unsupported", []any{"images", i}, "The model %s reads no images", m.info.Name)
		}
		n, err := m.vision.Tokens(img.Data)
		if err != nil {
			return nil, badImage(i, err)
		}
		opt.MediaTokens = append(opt.MediaTokens, n)
	}
	if r.Independent {
		i, err := prompt.EncodeIndependent(m.tok, r, opt)
		if err != nil {
			return nil, err
		}
		return &plan{prompts: i.Prompts, shared: i.Shared}, nil
	}
	e, err := prompt.Encode(m.tok, r, opt)
	if err != nil {
		return nil, err
	}
	return &plan{prompts: []*engine.Encoding{e}}, nil
}

func badImage(i int, err error) error {
	return engine.InvalidAt("image_invalid", []any{"images", i}, "Not a usable image: %v", err)
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

// Decide answers a request, which must not be changed afterwards. The first answer of
// a model also tells how long it took to open.
func (m *Model) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	began := time.Now()
	p, err := m.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	out := &engine.Response{Model: m.info.Name, Practice: m.info.Practice, Truncated: p.prompts[0].Truncated}
	out.Timing.Encode = time.Since(began)
	queued := time.Now()
	var spans []engine.QuestionSpans
	var logits [][]float32
	err = m.do(ctx, func() error {
		if out.Timing.Queue == 0 {
			out.Timing.Queue = time.Since(queued)
		}
		var err error
		spans, logits, err = m.score(ctx, p, &out.Timing)
		return err
	})
	if err != nil {
		return nil, err
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

// prepare encodes a request and decodes its images. That cannot be interrupted, so when
// ctx ends it is left to finish by itself; it touches nothing that Close takes away.
func (m *Model) prepare(ctx context.Context, r *engine.Request) (*plan, error) {
	type result struct {
		p   *plan
		err error
	}
	done := make(chan result, 1)
	go func() {
		var out result
		defer func() {
			if p := recover(); p != nil {
				out.err = panicError(m.info.Name, p)
			}
			done <- out
		}()
		if out.p, out.err = m.plan(r); out.err == nil {
			out.err = m.decodeImages(ctx, out.p, r.Images)
		}
	}()
	select {
	case out := <-done:
		return out.p, out.err
	case <-ctx.Done():
		return nil, stopped(ctx)
	}
}

// decodeImages prepares the images and finds their tokens in the prompt.
func (m *Model) decodeImages(ctx context.Context, p *plan, images []engine.Image) error {
	at, ids := 0, p.prompts[0].IDs
	for i, img := range images {
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		x, err := m.vision.Prepare(img.Data)
		if err != nil {
			return badImage(i, err)
		}
		for at < len(ids) && ids[at] != m.folder.Config.ImageToken {
			at++
		}
		p.images = append(p.images, x)
		p.grids = append(p.grids, qwen.Grid{At: at, Rows: x.Rows, Cols: x.Cols})
		at += x.Tokens()
	}
	return nil
}

// score runs the prompts and returns the logits of all questions.
func (m *Model) score(ctx context.Context, p *plan, t *engine.Timing) (spans []engine.QuestionSpans, logits [][]float32, err error) {
	began := time.Now()
	media, err := m.embedImages(ctx, p)
	defer m.freeMedia(media)
	if err != nil {
		return nil, nil, err
	}
	inPrompt := media
	var prefix *qwen.Prefix
	if p.shared > 0 {
		in := qwen.Input{IDs: p.prompts[0].IDs[:p.shared], Positions: qwen.Positions(p.shared, p.grids), Media: media}
		if prefix, err = m.qwen.Prefill(ctx, in); err != nil {
			return nil, nil, err
		}
		defer m.qwen.FreePrefix(prefix)
		inPrompt = nil // they are part of the prefix now
	}
	t.Prefill = time.Since(began)
	for _, e := range p.prompts {
		in := qwen.Input{IDs: e.IDs[p.shared:], Positions: qwen.Positions(len(e.IDs), p.grids), Media: inPrompt, Prefix: prefix}
		part, err := m.scoreOne(ctx, in, e, t)
		if err != nil {
			return nil, nil, err
		}
		spans, logits = append(spans, e.Questions...), append(logits, part...)
	}
	return spans, logits, nil
}

// scoreOne runs one prompt.
func (m *Model) scoreOne(ctx context.Context, in qwen.Input, e *engine.Encoding, t *engine.Timing) ([][]float32, error) {
	began := time.Now()
	in.Rows = m.head.Rows(e.Questions, len(e.IDs))
	hidden, err := m.qwen.Forward(ctx, in)
	if err != nil {
		return nil, err
	}
	defer m.b.Free(hidden)
	t.Prefill += time.Since(began)
	began = time.Now()
	logits, err := m.head.Score(ctx, hidden, e.IDs, e.Questions)
	t.Head += time.Since(began)
	return logits, err
}

// embedImages runs the vision tower. What it returns must be freed, also on error.
func (m *Model) embedImages(ctx context.Context, p *plan) (media []qwen.Media, err error) {
	for i, x := range p.images {
		rows, err := m.vision.Embed(ctx, x)
		if err != nil {
			return media, err
		}
		media = append(media, qwen.Media{At: p.grids[i].At, Rows: rows})
	}
	return media, nil
}

func (m *Model) freeMedia(media []qwen.Media) {
	for _, x := range media {
		m.b.Free(x.Rows)
	}
}
