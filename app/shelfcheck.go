package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/engine/probe"
	"clefbar/ui"
)

// examined is what the last check of a model found.
type examined struct {
	verdict ui.Verdict
	answers probe.Answers // nil when it did not come so far
	model   probe.Model
}

// Check implements ui.Shelf: clefbar doctor, through the worker, so that no second model is opened beside the open one.
func (s *appShelf) Check(id string) { s.startCheck(id, "") }

// CheckAgainst implements ui.Shelf.
func (s *appShelf) CheckAgainst(id, record string) { s.startCheck(id, record) }

func (s *appShelf) startCheck(id, record string) {
	e, ok := s.find(id)
	if !ok || e.info.ServerSide {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.checks[id]; x != nil && x.verdict.Running {
		return
	}
	s.checks[id] = &examined{verdict: ui.Verdict{Running: true}}
	s.work.Go(func() {
		x := s.check(s.ends, e, record)
		s.mu.Lock()
		s.checks[id] = x
		s.mu.Unlock()
		s.ring()
	})
	s.ring()
}

// doing tells how far a check has come.
func (s *appShelf) doing(id, what string) {
	s.mu.Lock()
	if x := s.checks[id]; x != nil && x.verdict.Running {
		x.verdict.Doing = what
	}
	s.mu.Unlock()
	s.ring()
}

// check examines a model; nil when the app ends meanwhile.
func (s *appShelf) check(ctx context.Context, e entry, record string) *examined {
	d := newDiagnosis(e.key)
	extra, err := doctorFlags{against: record, tolerance: recordTolerance}.reference()
	if err != nil {
		return &examined{verdict: ui.Verdict{Text: sentence(err)}}
	}
	reading := func(done, total int64) {
		s.doing(e.key, fmt.Sprintf("Reading the files, %d %%", 100*done/max(1, total)))
	}
	tooLarge := false
	if s.lib.checkFiles(ctx, d, e.key, reading) {
		s.doing(e.key, "Opening the model")
		m := patient{s.worker, e}
		info, err := m.open(ctx)
		switch tooLarge = engine.ReasonOf(err) == engine.NoMemory; {
		case tooLarge:
			d.Checks = append(d.Checks, check{Name: "answers", Skipped: true, Detail: "it does not fit into memory here, so it was not asked anything"})
		case err != nil:
			d.note("opens", err, "")
		default:
			d.model.Precision, d.model.Device = info.Precision, info.Device
			d.ask(ctx, m, extra, func(p probe.Probe) { s.doing(e.key, "Asking the built-in probe "+p.ID) })
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	x := &examined{verdict: d.verdict(), answers: d.answers, model: d.model}
	if tooLarge {
		x.verdict.Text = "The files are right. It does not fit into memory here, so it was not asked anything."
	}
	return x
}

// verdict tells the window what was found.
func (d *diagnosis) verdict() ui.Verdict {
	v := ui.Verdict{
		Good: d.OK, Text: sentence(errors.New(d.sentence())), Answered: d.answers != nil, Difference: d.Largest,
		Damaged: d.damaged && strings.Contains(d.Path, "snapshots"),
	}
	for _, c := range d.Checks {
		v.Findings = append(v.Findings, ui.Finding{Name: c.Name, Detail: clean(c.Detail), Good: c.OK, Skipped: c.Skipped})
	}
	for _, p := range d.Probes {
		f := ui.Finding{Name: "probe " + p.Probe, Good: p.OK, Skipped: p.Source == "", Detail: probeDetail(p, "its answer can be recorded as one")}
		if p.Source != "" {
			v.Compared++
		}
		v.Findings = append(v.Findings, f)
	}
	if v.Good && v.Compared > 0 {
		v.Text = fmt.Sprintf("The files are right, and every answer agrees with the reference: %d compared.", v.Compared)
	}
	v.Findings = append(v.Findings, ui.Finding{Name: "machine", Skipped: true, Detail: d.Machine.String()})
	var report strings.Builder
	d.write(&report, "FAIL")
	v.Report = report.String()
	return v
}

// Record implements ui.Shelf.
func (s *appShelf) Record(id, file string, done func(error)) {
	s.mu.Lock()
	x := s.checks[id]
	s.mu.Unlock()
	s.work.Go(func() {
		if x == nil || x.answers == nil {
			done(errors.New("check the model first: there are no answers to keep yet"))
			return
		}
		done(writeRecording(file, x.model, x.answers))
	})
}

// patient asks one model of the worker and waits while it is opening.
type patient struct {
	worker *worker.Worker
	entry  entry
}

// Decide implements engine.Decider.
func (p patient) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	mine := *r
	mine.Model = p.entry.info.Name
	for {
		resp, err := p.worker.Decide(ctx, &mine)
		if reason := engine.ReasonOf(err); err == nil || reason != engine.Loading && reason != engine.Busy {
			return resp, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", p.entry.info.Name, ctx.Err())
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// open opens the model and says how it computes.
func (p patient) open(ctx context.Context) (engine.ModelInfo, error) {
	r, err := engine.ParseRequest([]byte(`{"state":"","questions":{"ready":{"type":"noul"}}}`), engine.Limits{})
	if err != nil {
		return engine.ModelInfo{}, err
	}
	if _, err := p.Decide(ctx, r); err != nil {
		return engine.ModelInfo{}, err
	}
	return p.worker.Opened(p.entry.key)
}
