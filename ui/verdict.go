package ui

import (
	"clefbar/engine"
	"clefbar/ui/document"
)

// outcome is the last response, tied to the rows it was given for: rows keep their
// keys through renames and moves, so an old answer stays with its row.
type outcome struct {
	revision  uint64 // of the case that was asked
	model     string // that answered
	response  *engine.Response
	questions map[document.Key]*verdict
}

// verdict is the answer to one question and the rows it speaks of.
type verdict struct {
	engine.Answer
	rows map[document.Key]int // index into Probs
}

// newOutcome ties a response to the questions it was asked for.
func newOutcome(asked question, r *engine.Response) *outcome {
	o := &outcome{revision: asked.revision, model: asked.model, response: r, questions: map[document.Key]*verdict{}}
	for i, q := range asked.list {
		if i >= len(r.Answers) {
			break
		}
		o.questions[q.Key] = newVerdict(q, r.Answers[i])
	}
	return o
}

func newVerdict(q document.Question, a engine.Answer) *verdict {
	v := &verdict{Answer: a, rows: map[document.Key]int{}}
	for i, o := range q.Asked() {
		if i < len(a.Probs) {
			v.rows[o.Key] = i
		}
	}
	return v
}

// of returns what the verdict says of a row.
func (v *verdict) of(k document.Key, stale bool) rowAnswer {
	if v == nil {
		return rowAnswer{p: noValue}
	}
	i, ok := v.rows[k]
	if !ok {
		return rowAnswer{p: noValue}
	}
	return rowAnswer{p: v.Probs[i], leads: i == v.Best, stale: stale}
}

// top is the probability of the leading option.
func (v *verdict) top() float64 { return v.Probs[v.Best] }
