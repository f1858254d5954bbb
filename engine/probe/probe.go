// Package probe asks a model a few fixed questions and compares its probabilities with stored ones. It tells a model
// whose files are right but whose numbers are not (a damaged tensor, a wrong conversion, a faulty device) from a good one.
//
// References are Etude's own, recorded on the float32 path, and the few numbers that are published for the real models.
// Everything else can be recorded from one model, machine or precision and held against another.
package probe

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"

	"clefbar/engine"
)

// Probe is one request.
type Probe struct {
	ID, About string
	Request   *engine.Request
}

//go:embed probes.json
var probesFile []byte

// Probes returns the built-in probes, short ones first.
func Probes() []Probe {
	var raw []struct {
		ID, About string
		Request   json.RawMessage
	}
	if err := json.Unmarshal(probesFile, &raw); err != nil {
		panic("probe: probes.json: " + err.Error())
	}
	list := make([]Probe, len(raw))
	for i, p := range raw {
		r, err := engine.ParseRequest(p.Request, engine.Limits{})
		if err != nil {
			panic("probe: probes.json: " + p.ID + ": " + err.Error())
		}
		list[i] = Probe{p.ID, p.About, r}
	}
	return list
}

// Answers are probabilities by probe, question and option. Options are in request order in
// the request and by name here.
type Answers map[string]map[string]map[string]float64

// Ask runs the probes one after the other. tell, which may be nil, hears the probe that is asked next. A model that fails
// a probe fails them all: the error names the probe and wraps the model's.
func Ask(ctx context.Context, d engine.Decider, tell func(Probe)) (Answers, error) {
	all := Answers{}
	for _, p := range Probes() {
		if tell != nil {
			tell(p)
		}
		resp, err := d.Decide(ctx, p.Request)
		if err != nil {
			return nil, fmt.Errorf("probe %s: %w", p.ID, err)
		}
		of := map[string]map[string]float64{}
		for _, a := range resp.Answers {
			of[a.ID] = probabilities(a)
		}
		all[p.ID] = of
	}
	return all, nil
}

// probabilities are the model's own, before any fitted temperature.
func probabilities(a engine.Answer) map[string]float64 {
	p := a.Raw
	if len(p) != len(a.Options) {
		p = a.Probs
	}
	of := make(map[string]float64, len(p))
	for i, name := range a.Options {
		of[name] = p[i]
	}
	return of
}

// Result is what comparing one probe found.
type Result struct {
	Probe     string
	Source    string  // where the reference comes from; "" when there is none yet
	Largest   float64 // largest difference of a probability
	Where     string  // "question, option" of it
	Tolerance float64
	OK        bool // no difference is over Tolerance, or there is no reference
}

// Compare holds answers against references, a result for each probe and reference that knows it. A probe that none
// knows gets a result without a source. precision is that of the model that answered.
func Compare(got Answers, refs []Reference, precision string) []Result {
	var out []Result
	for _, p := range Probes() {
		known := false
		for _, ref := range refs {
			if want, ok := ref.Answers[p.ID]; ok {
				out = append(out, compare(p.ID, got[p.ID], want, ref, ref.tolerance(precision)))
				known = true
			}
		}
		if !known {
			out = append(out, Result{Probe: p.ID, OK: true})
		}
	}
	return out
}

// compare finds the largest difference. An option that one side lacks counts as wholly wrong: the
// reference may name the options of a question in part, never others.
func compare(id string, got, want map[string]map[string]float64, ref Reference, tolerance float64) Result {
	r := Result{Probe: id, Source: ref.Source, Tolerance: tolerance, Largest: -1}
	for q, options := range want {
		for name, p := range options {
			d := 1.0
			if g, ok := got[q][name]; ok && !math.IsNaN(g) {
				d = math.Abs(g - p)
			}
			if where := q + ", " + name; d > r.Largest || d == r.Largest && where < r.Where {
				r.Largest, r.Where = d, where
			}
		}
	}
	r.Largest = max(0, r.Largest)
	r.OK = r.Largest <= tolerance
	return r
}

// Largest returns the worst result that has a reference, ok is false when none has.
func Largest(results []Result) (worst Result, ok bool) {
	for _, r := range results {
		if r.Source != "" && (!ok || r.Largest-r.Tolerance > worst.Largest-worst.Tolerance) {
			worst, ok = r, true
		}
	}
	return worst, ok
}
