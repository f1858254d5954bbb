package measure

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// MinLabelled is the fewest labelled decisions from which a temperature is fitted:
// below, it would follow chance.
const MinLabelled = 50

// ErrTooFew is wrapped by the error of Calibrate for too few labelled decisions.
var ErrTooFew = errors.New("too few labelled decisions")

// The range of a temperature, and the number of random halves.
const (
	coldest = 0.05
	hottest = 20
	splits  = 20
)

// Calibration is what fitting one temperature brings. Everything but Decisions is
// measured on halves that the fit has not seen.
type Calibration struct {
	Decisions   int        `json:"decisions"`
	Temperature float64    `json:"temperature"` // median over the splits
	Quartiles   [2]float64 `json:"quartiles"`
	ECEBefore   float64    `json:"ece_before"`
	ECEAfter    float64    `json:"ece_after"`
	LossBefore  float64    `json:"log_loss_before"`
	LossAfter   float64    `json:"log_loss_after"`
	BrierBefore float64    `json:"brier_before"`
	BrierAfter  float64    `json:"brier_after"`
	Splits      int        `json:"splits"`
}

// Calibrate fits one temperature on half of the records and measures it on the other
// half, for twenty random splits that are always the same. A temperature changes no
// answer, only how sure it sounds.
func Calibrate(all []Outcome) (Calibration, error) {
	var labelled []Outcome
	var ids []string
	for _, o := range all {
		if o.Gold >= 0 {
			labelled = append(labelled, o)
			if !slices.Contains(ids[max(0, len(ids)-1):], o.Record) {
				ids = append(ids, o.Record)
			}
		}
	}
	c := Calibration{Decisions: len(labelled), Splits: splits}
	if len(labelled) < MinLabelled || len(ids) < 2 {
		return c, fmt.Errorf("%w: %d, at least %d are needed", ErrTooFew, len(labelled), MinLabelled)
	}
	var fits []float64
	for i := range uint64(splits) {
		fit, held := halves(labelled, ids, rand.New(rand.NewPCG(20261130, i)))
		t := Fit(fit)
		fits = append(fits, t)
		before, after := Summarise(Tempered(held, 1), 1), Summarise(Tempered(held, t), 1)
		c.ECEBefore, c.ECEAfter = c.ECEBefore+before.ECE/splits, c.ECEAfter+after.ECE/splits
		c.LossBefore, c.LossAfter = c.LossBefore+before.LogLoss/splits, c.LossAfter+after.LogLoss/splits
		c.BrierBefore, c.BrierAfter = c.BrierBefore+before.Brier/splits, c.BrierAfter+after.Brier/splits
	}
	slices.Sort(fits)
	c.Temperature = quantile(fits, 0.5)
	c.Quartiles = [2]float64{quantile(fits, 0.25), quantile(fits, 0.75)}
	return c, nil
}

// halves splits by record: the questions of one record depend on each other.
func halves(all []Outcome, ids []string, r *rand.Rand) (fit, held []Outcome) {
	first := map[string]bool{}
	for _, i := range r.Perm(len(ids))[:len(ids)/2] {
		first[ids[i]] = true
	}
	for _, o := range all {
		if first[o.Record] {
			fit = append(fit, o)
		} else {
			held = append(held, o)
		}
	}
	return fit, held
}

// quantile interpolates in sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}

// Tempered returns the outcomes with the probabilities softmax(logits / t).
func Tempered(all []Outcome, t float64) []Outcome {
	out := slices.Clone(all)
	for i := range out {
		out[i].Probs = softmax(out[i].Logits, t)
	}
	return out
}

func softmax(logits []float64, t float64) []float64 {
	top := slices.Max(logits)
	p, sum := make([]float64, len(logits)), 0.0
	for i, z := range logits {
		p[i] = math.Exp((z - top) / t)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Fit returns the temperature with the least log loss on labelled outcomes, by golden
// section over its logarithm.
func Fit(all []Outcome) float64 {
	loss := func(u float64) (sum float64) {
		t := math.Exp(u)
		for i := range all {
			o := &all[i]
			top := slices.Max(o.Logits)
			norm := 0.0
			for _, z := range o.Logits {
				norm += math.Exp((z - top) / t)
			}
			sum += math.Log(norm) - (o.Logits[o.Gold]-top)/t
		}
		return sum
	}
	ratio := (math.Sqrt(5) - 1) / 2
	low, high := math.Log(coldest), math.Log(hottest)
	a, b := high-ratio*(high-low), low+ratio*(high-low)
	fa, fb := loss(a), loss(b)
	for high-low > 1e-6 {
		if fa < fb {
			high, b, fb = b, a, fa
			a = high - ratio*(high-low)
			fa = loss(a)
		} else {
			low, a, fa = a, b, fb
			b = low + ratio*(high-low)
			fb = loss(b)
		}
	}
	return math.Exp((low + high) / 2)
}
