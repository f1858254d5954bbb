package head

import (
	"context"
	"fmt"

	"clefbar/engine"
	"clefbar/engine/backend"
)

// blockRows bounds the scratch memory of work on all tokens.
const blockRows = 1024

// job is one call of Score.
type job struct {
	*Head
	questions []engine.QuestionSpans
	fields    []backend.Span // instruction of each question
	options   []backend.Span // every option, question by question
	owner     []int          // question of each option
	free      []backend.Buffer
}

// Score returns one logit for every option, questions and options in the order of
// qs (prompt order). hidden holds the backbone's final rows, one for each of ids, of which those
// outside Rows need not be finished; it is overwritten. Spans must lie inside ids and not be empty.
func (h *Head) Score(ctx context.Context, hidden backend.Buffer, ids []int32, qs []engine.QuestionSpans) ([][]float32, error) {
	j := &job{Head: h, questions: qs}
	if err := j.collect(hidden.Rows(), len(ids)); err != nil {
		return nil, err
	}
	h.b.Begin(ctx)
	defer func() { h.b.Free(j.free...) }()
	logits, err := j.run(hidden, ids)
	if err != nil {
		return nil, fmt.Errorf("run the head: %w", err)
	}
	return logits, nil
}

// collect flattens the questions' spans and checks them.
func (j *job) collect(rows, tokens int) error {
	if rows != tokens || rows == 0 {
		return fmt.Errorf("run the head: %d hidden rows for %d tokens", rows, tokens)
	}
	add := func(list *[]backend.Span, s engine.Span, what string) error {
		if s.From < 0 || s.From >= s.To || s.To > tokens {
			return fmt.Errorf("run the head: %s spans [%d, %d) of %d tokens", what, s.From, s.To, tokens)
		}
		*list = append(*list, backend.Span{From: s.From, To: s.To})
		return nil
	}
	for i, q := range j.questions {
		if err := add(&j.fields, q.Field, "question "+q.ID); err != nil {
			return err
		}
		if len(q.Options) == 0 {
			return fmt.Errorf("run the head: question %s has no options", q.ID)
		}
		for _, o := range q.Options {
			if err := add(&j.options, o.Span, "option "+o.Name+" of question "+q.ID); err != nil {
				return err
			}
			j.owner = append(j.owner, i)
		}
	}
	if len(j.fields) == 0 {
		return fmt.Errorf("run the head: no questions")
	}
	return nil
}

// buffer returns an Exact buffer that lives until Score ends.
func (j *job) buffer(rows, cols int) backend.Buffer {
	x := j.b.New(rows, cols, backend.Exact)
	j.free = append(j.free, x)
	return x
}

// apply returns x · wᵀ.
func (j *job) apply(x backend.Buffer, w backend.Weight) backend.Buffer {
	out := j.buffer(x.Rows(), w.Shape()[0])
	j.b.Linear([]backend.Buffer{out}, x, []backend.Weight{w}, nil, backend.None)
	return out
}

func (j *job) run(hidden backend.Buffer, ids []int32) ([][]float32, error) {
	var memory backend.Buffer
	if !j.shut() {
		memory = j.b.New(hidden.Rows(), j.cfg.Width, backend.Work)
		j.free = append(j.free, memory)
	}
	j.readSequence(hidden, memory)
	fields := j.buffer(len(j.fields), j.cfg.Hidden)
	j.b.MeanRows(fields, hidden, j.fields)
	last := hidden.Slice(hidden.Rows()-1, hidden.Rows())
	lexical := j.lexical(ids)
	if j.shut() {
		prior, err := j.prior(fields, last, lexical)
		if err != nil {
			return nil, err
		}
		return j.byQuestion(prior), nil
	}

	options := j.optionQueries(hidden, lexical)
	for i := range j.evidence {
		j.routeEvidence(i, options, memory)
	}
	base := j.apply(fields, j.question)
	j.show("head.base_fields", base)
	global := j.apply(last, j.global)

	state, err := j.fieldVectors(options, base, global)
	if err != nil {
		return nil, err
	}
	for i := range j.layers {
		j.decode(i, state, memory)
	}
	return j.logits(state, options, fields, last, lexical)
}

// readSequence normalises hidden in place, block by block, and fills the memory (T, Width) unless it is nil.
// The memory and its norms are Work: unless the backend absorbs them, their products run over
// all tokens and six times, the other products of the head over a few rows.
func (j *job) readSequence(hidden, memory backend.Buffer) {
	tmp := j.b.New(min(blockRows, hidden.Rows()), hidden.Cols(), backend.Exact)
	for from := 0; from < hidden.Rows(); from += blockRows {
		to := min(from+blockRows, hidden.Rows())
		part, normed := hidden.Slice(from, to), tmp.Slice(0, to-from)
		j.b.LayerNorm(normed, part, j.hiddenNorm.w, j.hiddenNorm.b, normEps)
		j.b.Copy(part, normed)
		if memory != nil {
			j.b.Linear([]backend.Buffer{memory.Slice(from, to)}, normed, []backend.Weight{j.memory}, nil, backend.None)
		}
	}
	j.b.Free(tmp)
	j.show("head.hidden_norm", hidden)
	if memory != nil {
		j.show("head.memory", memory)
	}
}

// lexical averages the output embeddings of each option's tokens (clef.md 6.3).
func (j *job) lexical(ids []int32) backend.Buffer {
	out := j.buffer(len(j.options), j.cfg.Hidden)
	lists := make([][]int32, len(j.options))
	for i, s := range j.options {
		lists[i] = ids[s.From:s.To]
	}
	j.b.MeanTable(out, j.lmHead, lists)
	return out
}

// optionQueries starts the option vectors from context, meaning and question.
func (j *job) optionQueries(hidden, lexical backend.Buffer) backend.Buffer {
	mean := j.buffer(len(j.options), j.cfg.Hidden)
	j.b.MeanRows(mean, hidden, j.options)
	out := j.apply(mean, j.context)
	j.b.LinearAdd(out, lexical, j.lexic, nil)
	asked := make([]backend.Span, len(j.options))
	for i, q := range j.owner {
		asked[i] = j.fields[q]
	}
	j.b.MeanRows(mean, hidden, asked)
	j.b.LinearAdd(out, mean, j.optionQuestion, nil)
	return out
}

// routeEvidence lets every option attend to all tokens, then transforms it.
func (j *job) routeEvidence(i int, options, memory backend.Buffer) {
	e := &j.evidence[i]
	m := j.b.New(memory.Rows(), memory.Cols(), backend.Work)
	j.b.LayerNorm(m, memory, e.memoryNorm.w, e.memoryNorm.b, normEps)
	q := j.normed(options, e.queryNorm)
	j.attend(options, q, m, e.attn)
	j.feedForward(options, e.ffNorm, e.up, e.down)
	j.b.Free(m, q)
	j.show(fmt.Sprintf("head.evidence%d", i), options)
}

// decode is one pre-norm decoder layer; the memory is not normalised.
func (j *job) decode(i int, state, memory backend.Buffer) {
	l := &j.layers[i]
	n := j.normed(state, l.norm1)
	j.attend(state, n, n, l.self)
	j.b.LayerNorm(n, state, l.norm2.w, l.norm2.b, normEps)
	j.attend(state, n, memory, l.cross)
	j.feedForward(state, l.norm3, l.up, l.down)
	j.b.Free(n)
	j.show(fmt.Sprintf("head.field%d", i), state)
}

// attend adds multi-head attention of q over kv to x. A backend may do without keys and values
// where q has few rows: it is the same sum in another order.
func (j *job) attend(x, q, kv backend.Buffer, a attention) {
	w := j.cfg.Width
	query, out := j.b.New(q.Rows(), w, backend.Exact), j.b.New(q.Rows(), w, backend.Exact)
	j.b.Linear([]backend.Buffer{query}, q, []backend.Weight{a.q.w}, []backend.Weight{a.q.b}, backend.None)
	if b, ok := j.b.(backend.Absorber); !ok || !b.AttendRows(out, query, kv, a.k.w, a.v.w, a.v.b, j.cfg.Heads) {
		keys, values := j.b.New(kv.Rows(), w, backend.Exact), j.b.New(kv.Rows(), w, backend.Exact)
		j.b.Linear([]backend.Buffer{keys, values}, kv, []backend.Weight{a.k.w, a.v.w}, []backend.Weight{a.k.b, a.v.b}, backend.None)
		j.b.MHA(out, query, keys, values, j.cfg.Heads, nil)
		j.b.Free(keys, values)
	}
	j.b.LinearAdd(x, out, a.out.w, a.out.b)
	j.b.Free(query, out)
}

// feedForward adds down(GELU(up(LN(x)))) to x.
func (j *job) feedForward(x backend.Buffer, n norm, up, down linear) {
	normed := j.normed(x, n)
	wide := j.b.New(x.Rows(), j.cfg.FeedForward, backend.Exact)
	j.b.Linear([]backend.Buffer{wide}, normed, []backend.Weight{up.w}, []backend.Weight{up.b}, backend.GELU)
	j.b.LinearAdd(x, wide, down.w, down.b)
	j.b.Free(normed, wide)
}
