// Package answer turns logits into answers: softmax, order of the request, numbers
// rounded so that every distribution sums to exactly 1, and what is derived from them
// (clef.md 7, endpoint.md 4.6 and 4.7).
package answer

import (
	"fmt"
	"math"

	"clefbar/engine"
)

// Options says how logits are read.
type Options struct {
	// Temperature divides the logits, by kind of question: 0 and 1 leave the
	// probabilities as the model gave them. Raw and Logits never change.
	Temperature [3]float64
}

// Build returns the answers to r in request order. spans are the questions as they
// were encoded, and logits[i] belongs to spans[i], in prompt order. A logit that is
// not finite is a Device error: nothing can be said from it.
func Build(r *engine.Request, spans []engine.QuestionSpans, logits [][]float32, opt Options) ([]engine.Answer, error) {
	if len(spans) != len(r.Questions) || len(logits) != len(spans) {
		return nil, &engine.Error{Message: fmt.Sprintf("%d questions were encoded as %d and scored as %d", len(r.Questions), len(spans), len(logits))}
	}
	answers := make([]engine.Answer, len(spans))
	for i := range spans {
		q := &r.Questions[i]
		ordered, err := requestOrder(q, spans[i].Order, logits[i])
		if err != nil {
			return nil, err
		}
		t := opt.Temperature[q.Kind]
		if t != 0 && (!(t > 0) || math.IsInf(t, 0)) {
			return nil, &engine.Error{Message: fmt.Sprintf("The temperature %v of %s questions is not a positive number", t, q.Kind)}
		}
		raw := softmax(ordered, 1)
		shown := raw
		if t != 0 && t != 1 {
			shown = softmax(ordered, t)
		}
		answers[i] = FromProbabilities(q, shown)
		answers[i].Raw, answers[i].Logits = raw, ordered
	}
	return answers, nil
}

// requestOrder puts logits of the prompt's options in the order of the request's.
func requestOrder(q *engine.Question, order []int, logits []float32) ([]float32, error) {
	names := optionNames(q)
	if len(order) != len(names) || len(logits) != len(names) {
		return nil, &engine.Error{Message: fmt.Sprintf("Question %q has %d options, %d were encoded and %d scored", q.ID, len(names), len(order), len(logits))}
	}
	ordered := make([]float32, len(logits))
	for k, z := range logits {
		if v := float64(z); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, &engine.Error{
				Reason:  engine.Device,
				Message: fmt.Sprintf("The model gave no number for option %q of question %q; start the engine again, and check the model's files if it happens again", names[order[k]], q.ID),
			}
		}
		ordered[order[k]] = z
	}
	return ordered, nil
}

// softmax is computed in float32's range and precision, as the reference's is, with
// the sum in float64.
func softmax(logits []float32, temperature float64) []float64 {
	most := logits[0]
	for _, z := range logits {
		most = max(most, z)
	}
	p := make([]float64, len(logits))
	sum := 0.0
	for i, z := range logits {
		p[i] = float64(float32(math.Exp((float64(z) - float64(most)) / temperature)))
		sum += p[i]
	}
	for i := range p {
		p[i] = float64(float32(p[i] / sum))
	}
	return p
}

// FromProbabilities returns the answer that a distribution over q's options, in
// request order, makes: rounded, with everything that derives from it. p has one
// finite, non-negative number for each option and a positive sum.
func FromProbabilities(q *engine.Question, p []float64) engine.Answer {
	units := round(p)
	a := engine.Answer{ID: q.ID, Kind: q.Kind, Options: optionNames(q), Raw: p, Probs: make([]float64, len(units))}
	for i, u := range units {
		a.Probs[i] = float64(u) / one
		if u > units[a.Best] {
			a.Best = i
		}
	}
	switch q.Kind {
	case engine.Noul:
		a.Noul = a.Probs[0]
	case engine.Choice:
		a.Confidence = choiceConfidence(units, a.Best)
	case engine.Score:
		a.Score = expectation(units)
		a.Confidence = scoreConfidence(units, a.Best)
		for _, o := range q.Options {
			a.Legend = append(a.Legend, o.Description)
		}
	}
	return a
}

// optionNames lists a question's options; a noul always has its two sides.
func optionNames(q *engine.Question) []string {
	if q.Kind == engine.Noul {
		return []string{"true", "false"}
	}
	names := make([]string, len(q.Options))
	for i, o := range q.Options {
		names[i] = o.Name
	}
	return names
}
