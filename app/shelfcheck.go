package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/ui"
)

// Check implements ui.Shelf: clefbar doctor, through the worker, so that no second model is opened beside the open one.
func (s *appShelf) Check(id string) {
	e, ok := s.find(id)
	if !ok || e.info.ServerSide {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.verdicts[id]; v != nil && v.Running {
		return
	}
	s.verdicts[id] = &ui.Verdict{Running: true}
	s.work.Go(func() {
		v := s.check(s.ends, e)
		s.mu.Lock()
		s.verdicts[id] = v
		s.mu.Unlock()
		s.ring()
	})
	s.ring()
}

func (s *appShelf) check(ctx context.Context, e entry) *ui.Verdict {
	d := newDiagnosis(e.key)
	if s.lib.checkFiles(ctx, d, e.key, func(int64, int64) {}) {
		m := patient{s.worker, e}
		if info, err := m.open(ctx); err != nil {
			if engine.ReasonOf(err) == engine.NoMemory {
				return &ui.Verdict{Good: true, Text: "The files are right. It does not fit into memory here, so it was not asked anything."}
			}
			d.note("opens", err, "")
		} else {
			d.model.Precision, d.model.Device = info.Precision, info.Device
			d.ask(ctx, m, nil, nil)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return &ui.Verdict{Good: d.OK, Text: sentence(errors.New(d.sentence()))}
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
