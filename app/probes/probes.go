// Package probes holds the requests that clefbar doctor asks a model, and what it
// should answer: our own record for Etude, published numbers for the real models.
package probes

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"clefbar/engine"
)

// Probe is one request.
type Probe struct {
	ID      string
	Request *engine.Request
}

// Answers are probabilities by probe, question and option.
type Answers map[string]map[string]map[string]float64

// Record is what one model answered on one machine: to be kept, and to hold another
// machine, precision or program against.
type Record struct {
	Model     string  `json:"model"`
	Weights   string  `json:"weights"` // SHA-256 of the weights, hexadecimal
	Precision string  `json:"precision"`
	Device    string  `json:"device"`
	Answers   Answers `json:"answers"`
}

// Reference is what a model should answer. A probe that it does not know is not
// compared.
type Reference struct {
	Source    string
	Tolerance float64 // largest difference of a probability that is still right
	Answers   Answers
}

// Tolerances: the exact path differs from its own record by rounding only. For
// published numbers the bound is the one that other ports use (clef.md 8.2).
const (
	ExactTolerance     = 1e-4
	RoundedTolerance   = 0.05
	publishedTolerance = 0.04
)

//go:embed probes.json
var probesJSON []byte

//go:embed published.json
var publishedJSON []byte

//go:embed etude.json
var etudeJSON []byte

// All returns the probes, in order.
func All() ([]Probe, error) {
	list, err := engine.ParseValue(probesJSON, engine.Limits{})
	if err != nil {
		return nil, fmt.Errorf("the built-in probes: %w", err)
	}
	var all []Probe
	for _, f := range list.Fields {
		r, err := engine.ParseRequest(f.Value.JSON(), engine.Limits{KeepNullSides: true})
		if err != nil {
			return nil, fmt.Errorf("the built-in probe %s: %w", f.Name, err)
		}
		all = append(all, Probe{f.Name, r})
	}
	return all, nil
}

// Etude returns the record of the embedded model's answers.
func Etude() (Record, error) { return Parse(etudeJSON) }

// Parse reads a record.
func Parse(data []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("not a record of doctor: %w", err)
	}
	if len(r.Answers) == 0 {
		return r, fmt.Errorf("the record holds no answers")
	}
	return r, nil
}

// Published returns the published numbers for a size ("9b", "27b") in a layout
// ("bf16", "4-bit", …).
func Published(size, layout string) (Reference, bool) {
	var all map[string]struct {
		Source  string  `json:"source"`
		Answers Answers `json:"answers"`
	}
	if err := json.Unmarshal(publishedJSON, &all); err != nil {
		panic("probes: the published numbers are not JSON: " + err.Error()) // they are embedded and tested
	}
	r, ok := all[size+" "+layout]
	return Reference{r.Source, publishedTolerance, r.Answers}, ok
}

// Of returns the probabilities of a response.
func Of(resp *engine.Response) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for _, a := range resp.Answers {
		byName := map[string]float64{}
		for i, p := range a.Probs {
			name := a.Options[i]
			if a.Kind == engine.Score {
				name = strconv.Itoa(i)
			}
			byName[name] = p
		}
		out[a.ID] = byName
	}
	return out
}

// Difference is the place where two sets of answers are farthest apart.
type Difference struct {
	Probe, Question, Option string
	Got, Want               float64
	Compared                int // probabilities
	Missing                 int // probabilities that only the reference has
}

// Size returns the absolute difference.
func (d Difference) Size() float64 { return math.Abs(d.Got - d.Want) }

// Compare finds the largest difference between answers and a reference.
func Compare(got, want Answers) Difference {
	var worst Difference
	compared, missing := 0, 0
	for _, probe := range sorted(want) {
		for _, question := range sorted(want[probe]) {
			for _, option := range sorted(want[probe][question]) {
				g, ok := got[probe][question][option]
				if !ok {
					missing++
					continue
				}
				compared++
				d := Difference{Probe: probe, Question: question, Option: option, Got: g, Want: want[probe][question][option]}
				if compared == 1 || d.Size() > worst.Size() {
					worst = d
				}
			}
		}
	}
	worst.Compared, worst.Missing = compared, missing
	return worst
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
