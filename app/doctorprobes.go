package main

import (
	"context"
	"fmt"

	"clefbar/engine"
	"clefbar/engine/probe"
)

// ask asks the probes and compares the answers with what is known about the model, and with more references.
func (d *diagnosis) ask(ctx context.Context, m engine.Decider, more []probe.Reference, tell func(probe.Probe)) {
	answers, err := probe.Ask(ctx, m, tell)
	if ctx.Err() != nil || !d.note("answers", err, "%d probes, every answer a distribution, the same numbers twice", len(answers)) {
		return
	}
	d.answers = answers
	results := probe.Compare(answers, append(probe.For(d.model), more...), d.model.Precision)
	d.Probes = results
	compared := 0
	for _, r := range results {
		d.OK = d.OK && r.OK
		if r.Source != "" {
			compared++
		}
	}
	worst, ok := probe.Largest(results)
	switch {
	case !ok:
		d.Checks = append(d.Checks, check{Name: "reference", Skipped: true, Detail: "no reference yet for this model: these answers can be kept as one"})
	case !worst.OK:
		err = fmt.Errorf("%s: %s differs by %.6f, at most %g is right (%s)", worst.Probe, worst.Where, worst.Largest, worst.Tolerance, worst.Source)
		fallthrough
	default:
		d.Reference, d.Largest = worst.Source, worst.Largest
		d.note("reference", err, "%d of %d probes compared, the largest difference is %.6f (%s)", compared, len(probe.Probes()), worst.Largest, worst.Source)
	}
}

// sentence sums a diagnosis up.
func (d *diagnosis) sentence() string {
	failed, bad := d.failure()
	switch {
	case bad:
		return fmt.Sprintf("%s: %s", failed.Name, failed.Detail)
	case d.Reference == "":
		return "files and answers hold; there are no reference numbers for this model yet"
	}
	return fmt.Sprintf("files and answers hold, largest difference %.4f", d.Largest)
}
