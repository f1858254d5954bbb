package measure

import (
	"math"

	"clefbar/engine"
)

// Outcome is one answered question.
type Outcome struct {
	Record   string
	Question string
	Kind     engine.Kind
	Options  []string
	Probs    []float64
	Logits   []float64 // what a temperature divides
	Gold     int       // -1 if unknown
}

// Outcomes pairs the answers of a response with what they should be.
func Outcomes(rec *Record, resp *engine.Response) []Outcome {
	var all []Outcome
	for i, a := range resp.Answers {
		if i >= len(rec.Gold) {
			break
		}
		all = append(all, Outcome{
			Record: rec.ID, Question: a.ID, Kind: a.Kind, Options: a.Options, Probs: a.Probs, Logits: logitsOf(a), Gold: rec.Gold[i],
		})
	}
	return all
}

// floor keeps logarithms of probabilities finite where a server tells no logits.
const floor = 1e-12

func logitsOf(a engine.Answer) []float64 {
	out := make([]float64, len(a.Probs))
	for i, p := range a.Probs {
		if len(a.Logits) == len(a.Probs) {
			out[i] = float64(a.Logits[i])
		} else {
			out[i] = math.Log(max(p, floor))
		}
	}
	return out
}

// Best returns the index of the most probable option and its probability.
func (o *Outcome) Best() (int, float64) {
	best := 0
	for i, p := range o.Probs {
		if p > o.Probs[best] {
			best = i
		}
	}
	return best, o.Probs[best]
}

// Margin is the distance between the two most probable options, 1 if there is one.
func (o *Outcome) Margin() float64 {
	best, top := o.Best()
	second := 0.0
	for i, p := range o.Probs {
		if i != best {
			second = max(second, p)
		}
	}
	return top - second
}

// Summary says how good a set of labelled answers is.
type Summary struct {
	Decisions int     `json:"decisions"`
	Accuracy  float64 `json:"accuracy"` // share whose most probable option is the right one
	// ECE is the expected calibration error over ten bins of equal width of the top
	// probability: the mean distance between it and the accuracy (Guo et al. 2017).
	ECE float64 `json:"ece"`
	// Brier is the mean over decisions of Σ (p − [right])² over their options.
	Brier   float64 `json:"brier"`
	LogLoss float64 `json:"log_loss"` // mean of −ln p[right], nats
	// Share of the decisions whose top probability reaches the threshold, and their
	// accuracy, 0 if there are none.
	Share         float64 `json:"share_above"`
	ShareAccuracy float64 `json:"accuracy_above"`
}

const bins = 10

// Summarise measures the labelled ones among all.
func Summarise(all []Outcome, threshold float64) Summary {
	var s Summary
	var count, right, above, rightAbove float64
	var inBin, topIn, rightIn [bins]float64
	for i := range all {
		o := &all[i]
		if o.Gold < 0 {
			continue
		}
		best, top := o.Best()
		hit := 0.0
		if best == o.Gold {
			hit = 1
		}
		count, right = count+1, right+hit
		bin := min(int(top*bins), bins-1)
		inBin[bin], topIn[bin], rightIn[bin] = inBin[bin]+1, topIn[bin]+top, rightIn[bin]+hit
		if top >= threshold {
			above, rightAbove = above+1, rightAbove+hit
		}
		for k, p := range o.Probs {
			if k == o.Gold {
				s.LogLoss -= math.Log(max(p, floor))
				p--
			}
			s.Brier += p * p
		}
	}
	if count == 0 {
		return s
	}
	for b := range bins {
		s.ECE += math.Abs(topIn[b]-rightIn[b]) / count
	}
	s.Decisions, s.Accuracy, s.Share = int(count), right/count, above/count
	s.Brier, s.LogLoss = s.Brier/count, s.LogLoss/count
	if above > 0 {
		s.ShareAccuracy = rightAbove / above
	}
	return s
}

// ByKind summarises each kind of question that occurs, and "all".
func ByKind(all []Outcome, threshold float64) map[string]Summary {
	out := map[string]Summary{"all": Summarise(all, threshold)}
	for _, kind := range []engine.Kind{engine.Noul, engine.Choice, engine.Score} {
		var part []Outcome
		for _, o := range all {
			if o.Kind == kind {
				part = append(part, o)
			}
		}
		if s := Summarise(part, threshold); s.Decisions > 0 {
			out[kind.String()] = s
		}
	}
	return out
}
