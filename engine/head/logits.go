package head

import (
	"math"

	"clefbar/engine/backend"
)

// rows is a matrix on the host.
type rows struct {
	cols int
	data []float32
}

func (r rows) row(i int) []float32 { return r.data[i*r.cols : (i+1)*r.cols] }

func (j *job) read(x backend.Buffer) (rows, error) {
	out := rows{x.Cols(), make([]float32, x.Rows()*x.Cols())}
	return out, j.b.Read(out.data, x)
}

// readAll reads several buffers.
func (j *job) readAll(xs ...backend.Buffer) ([]rows, error) {
	out := make([]rows, len(xs))
	for i, x := range xs {
		var err error
		if out[i], err = j.read(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fieldVectors makes the questions' starting vectors: the instruction, a summary
// of the question's options, the whole prompt and the question's type (clef.md 6.4).
func (j *job) fieldVectors(options, base, global backend.Buffer) (backend.Buffer, error) {
	host, err := j.readAll(options, base, global)
	if err != nil {
		return nil, err
	}
	w := j.cfg.Width
	sums, rest := make([]float32, len(j.fields)*w), make([]float32, len(j.fields)*w)
	for i, group := range j.groups() {
		summary(sums[i*w:(i+1)*w], host[0], group, host[1].row(i))
		kind := int(j.questions[i].Kind)
		for c := range w {
			rest[i*w+c] = host[2].data[c] + j.types[kind*w+c]
		}
	}
	x, out := j.buffer(len(j.fields), w), j.buffer(len(j.fields), w)
	j.b.Write(x, sums)
	j.b.LayerNorm(out, x, j.summaryNorm.w, j.summaryNorm.b, normEps)
	j.show("head.option_summary_norm", out)
	j.b.Add(out, base)
	j.b.Write(x, rest)
	j.b.Add(out, x)
	return out, nil
}

// groups returns the half-open range of options of each question.
func (j *job) groups() []backend.Span {
	out := make([]backend.Span, 0, len(j.questions))
	at := 0
	for _, q := range j.questions {
		out = append(out, backend.Span{From: at, To: at + len(q.Options)})
		at += len(q.Options)
	}
	return out
}

// summary is the mean of a question's options, weighted by how well they match the question.
func summary(dst []float32, options rows, group backend.Span, base []float32) {
	weights := make([]float64, 0, group.To-group.From)
	top := math.Inf(-1)
	for o := group.From; o < group.To; o++ {
		s := dot(options.row(o), base) / math.Sqrt(float64(len(base)))
		weights = append(weights, s)
		top = max(top, s)
	}
	var total float64
	for i, s := range weights {
		weights[i] = math.Exp(s - top)
		total += weights[i]
	}
	for i, p := range weights {
		for c, v := range options.row(group.From + i) {
			dst[c] += float32(p / total * float64(v))
		}
	}
}

// logits compares every option with its question (clef.md 6.5).
func (j *job) logits(state, options, fields, last, lexical backend.Buffer) ([][]float32, error) {
	f, o := j.buffer(state.Rows(), state.Cols()), j.buffer(options.Rows(), options.Cols())
	j.b.LayerNorm(f, state, j.fieldNorm.w, j.fieldNorm.b, normEps)
	j.b.LayerNorm(o, options, j.optNorm.w, j.optNorm.b, normEps)
	j.show("head.field_norm", f)
	out, err := j.prior(fields, last, lexical)
	if err != nil {
		return nil, err
	}
	host, err := j.readAll(f, o)
	if err != nil {
		return nil, err
	}
	residual, err := j.residual(host[0], host[1])
	if err != nil {
		return nil, err
	}
	for k, i := range j.owner {
		joint := float64(j.jointScale)*cosine(host[0].row(i), host[1].row(k), 1e-8) + float64(residual.data[k])
		out[k] += float64(j.gate) * joint
	}
	return j.byQuestion(out), nil
}

// prior scores every option by how well its words match its instruction and the end of the prompt.
func (j *job) prior(fields, last, lexical backend.Buffer) ([]float64, error) {
	host, err := j.readAll(fields, last, lexical)
	if err != nil {
		return nil, err
	}
	anchors := make([][]float32, len(j.fields))
	for i := range anchors {
		anchors[i] = make([]float32, j.cfg.Hidden)
		for c, v := range host[0].row(i) {
			anchors[i][c] = v + host[1].data[c]
		}
	}
	out := make([]float64, len(j.options))
	for k, i := range j.owner {
		out[k] = float64(j.priorScale) * cosine(host[2].row(k), anchors[i], 1e-12)
	}
	return out, nil
}

// byQuestion groups the scores of all options.
func (j *job) byQuestion(scores []float64) [][]float32 {
	out := make([][]float32, len(j.questions))
	for k, i := range j.owner {
		out[i] = append(out[i], float32(scores[k]))
	}
	return out
}

// residual scores the features [F, o, F·o, |F−o|] of every option.
func (j *job) residual(f, o rows) (rows, error) {
	w := j.cfg.Width
	features := make([]float32, len(j.options)*4*w)
	for k, q := range j.owner {
		row := features[k*4*w:][:4*w]
		a, b := f.row(q), o.row(k)
		copy(row, a)
		copy(row[w:], b)
		for c := range w {
			row[2*w+c] = a[c] * b[c]
			row[3*w+c] = float32(math.Abs(float64(a[c] - b[c])))
		}
	}
	x, wide, out := j.buffer(len(j.options), 4*w), j.buffer(len(j.options), w), j.buffer(len(j.options), 1)
	j.b.Write(x, features)
	j.b.Linear([]backend.Buffer{wide}, x, []backend.Weight{j.scorer.w}, []backend.Weight{j.scorer.b}, backend.GELU)
	j.b.Linear([]backend.Buffer{out}, wide, []backend.Weight{j.scorerOut.w}, []backend.Weight{j.scorerOut.b}, backend.None)
	return j.read(out)
}

// cosine is the cosine of two vectors whose norms count as at least floor.
func cosine(a, b []float32, floor float64) float64 {
	return dot(a, b) / (max(math.Sqrt(dot(a, a)), floor) * max(math.Sqrt(dot(b, b)), floor))
}

func dot(a, b []float32) float64 {
	var sum float64
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}
