package measure

import (
	"cmp"
	"math"
	"slices"
)

// Difference is one question that two deciders answer apart.
type Difference struct {
	Record   string  `json:"record"`
	Question string  `json:"question"`
	A        string  `json:"a"` // the most probable option
	B        string  `json:"b"`
	PA       float64 `json:"p_a"` // its probability
	PB       float64 `json:"p_b"`
	Margin   float64 `json:"margin"` // of A's answer over its second
	Changed  bool    `json:"changed"`
	Crossed  bool    `json:"crossed"` // one top probability reaches the threshold, the other does not
	Largest  float64 `json:"largest"` // largest difference of any option's probability
}

// Comparison says how far two deciders are apart.
type Comparison struct {
	Decisions   int          `json:"decisions"`
	Changed     int          `json:"changed"`
	Crossed     int          `json:"crossed"`
	Largest     float64      `json:"largest_difference"`
	Mean        float64      `json:"mean_difference"` // of all options' probabilities
	Differences []Difference `json:"differences"`     // changed or crossed, smallest margin first
}

// Compare pairs the outcomes of the same records. Questions that only one side has
// answered are left out.
func Compare(a, b []Outcome, threshold float64) Comparison {
	type key struct{ record, question string }
	of := map[key]*Outcome{}
	for i := range b {
		of[key{b[i].Record, b[i].Question}] = &b[i]
	}
	c := Comparison{Differences: []Difference{}}
	var sum, options float64
	for i := range a {
		x := &a[i]
		y := of[key{x.Record, x.Question}]
		if y == nil || len(y.Probs) != len(x.Probs) {
			continue
		}
		c.Decisions++
		d := difference(x, y, threshold)
		c.Largest = max(c.Largest, d.Largest)
		for k := range x.Probs {
			sum += math.Abs(x.Probs[k] - y.Probs[k])
			options++
		}
		if d.Changed {
			c.Changed++
		}
		if d.Crossed {
			c.Crossed++
		}
		if d.Changed || d.Crossed {
			c.Differences = append(c.Differences, d)
		}
	}
	if options > 0 {
		c.Mean = sum / options
	}
	slices.SortStableFunc(c.Differences, func(x, y Difference) int { return cmp.Compare(x.Margin, y.Margin) })
	return c
}

func difference(x, y *Outcome, threshold float64) Difference {
	bx, px := x.Best()
	by, py := y.Best()
	d := Difference{
		Record: x.Record, Question: x.Question, A: x.Options[bx], B: y.Options[by], PA: px, PB: py, Margin: x.Margin(),
		Changed: bx != by, Crossed: (px >= threshold) != (py >= threshold),
	}
	for k := range x.Probs {
		d.Largest = max(d.Largest, math.Abs(x.Probs[k]-y.Probs[k]))
	}
	return d
}
