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
	"reflect"

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

// Ask runs the probes one after the other, and at the end the first one again. tell, which may be nil, hears the probe
// that is asked next. The first probe that fails ends it: by the model's own error, which is wrapped, by probabilities that
// are none, or by other numbers the second time.
func Ask(ctx context.Context, d engine.Decider, tell func(Probe)) (Answers, error) {
	all := Answers{}
	probes := Probes()
	for i, p := range append(probes, probes[0]) {
		if tell != nil {
			tell(p)
		}
		resp, err := d.Decide(ctx, p.Request)
		if err != nil {
			return nil, fmt.Errorf("probe %s: %w", p.ID, err)
		}
		got, err := distributions(resp)
		if err != nil {
			return nil, fmt.Errorf("probe %s, %w", p.ID, err)
		}
		if i == len(probes) && !reflect.DeepEqual(got, all[p.ID]) {
			return nil, fmt.Errorf("probe %s: two runs gave different numbers", p.ID)
		}
		all[p.ID] = got
	}
	return all, nil
}

// distributions reads the answers of a response. Each has to be a distribution.
func distributions(resp *engine.Response) (map[string]map[string]float64, error) {
	of := map[string]map[string]float64{}
	for _, a := range resp.Answers {
		p := probabilities(a)
		sum := 0.0
		for _, x := range p {
			sum += x
		}
		if math.IsNaN(sum) || math.Abs(sum-1) > 1e-5 {
			return nil, fmt.Errorf("question %s: the probabilities sum to %v", a.ID, sum)
		}
		of[a.ID] = p
	}
	return of, nil
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
	Probe     string  `json:"probe"`
	Source    string  `json:"reference"`          // where the reference comes from; "" when there is none yet
	Largest   float64 `json:"largest_difference"` // of a probability
	Where     string  `json:"where,omitempty"`    // "question, option" of it
	Tolerance float64 `json:"tolerance,omitempty"`
	OK        bool    `json:"ok"` // no difference is over Tolerance, or there is no reference
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
