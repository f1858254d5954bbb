package worker

import (
	"context"
	"slices"
	"time"

	"clefbar/engine"
)

// Status is what the worker does at a moment.
type Status struct {
	Chosen      engine.ModelInfo // the default model
	Ready       bool             // the default model is open
	Loaded      []string         // names of the open models
	Open        []string         // their keys
	Loading     string           // name of the model that is opening, or ""
	Done, Total int64            // bytes opened of it; 0 if unknown
	Left        time.Duration    // estimate of how long it will still take
	Running     bool             // a decision runs
	Waiting     int              // requests that wait
	Err         error            // why the last Choose failed
}

// Status returns what the worker does now.
func (w *Worker) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.statusLocked()
}

func (w *Worker) statusLocked() Status {
	st := Status{Running: w.line.taken(), Err: w.failure}
	st.Chosen, _ = w.shelf.Info(w.chosen)
	for _, s := range w.slots {
		switch {
		case s.open():
			st.Loaded, st.Open = append(st.Loaded, s.info.Name), append(st.Open, s.key)
			if s.key == w.chosen {
				st.Chosen, st.Ready = s.info, true
			}
		case st.Loading == "" || s.key == w.chosen:
			st.Loading, st.Left = s.info.Name, s.left()
			st.Done, st.Total = s.done.Load(), s.total.Load()
		}
	}
	slices.Sort(st.Loaded)
	st.Waiting = max(0, w.admitted-btoi(st.Running))
	return st
}

// Watch calls fn with every change from now on. fn must return at once and must
// not call the worker.
func (w *Worker) Watch(fn func(Status)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watchers = append(w.watchers, fn)
}

func (w *Worker) announce() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.announceLocked()
}

func (w *Worker) announceLocked() {
	if len(w.watchers) == 0 {
		return
	}
	st := w.statusLocked()
	for _, fn := range w.watchers {
		fn(st)
	}
}

// Chosen returns the key of the default model.
func (w *Worker) Chosen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.chosen
}

// Choose makes the model of key the default and opens it. Requests that run finish
// on the old model, later ones use the new. If it cannot be opened the old default
// stays, and the reason is returned and kept in Status.Err.
func (w *Worker) Choose(ctx context.Context, key string) error {
	w.mu.Lock()
	before := w.chosen
	w.chosen, w.failure = key, nil
	s, _ := w.slotLocked(key)
	s.refs++
	w.announceLocked()
	w.mu.Unlock()
	defer w.release(s)

	var err error
	select {
	case <-s.ready:
		err = s.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.chosen == key {
		w.chosen = before
	}
	w.failure = err
	w.announceLocked()
	return err
}

// Unload closes every model once its work is done.
func (w *Worker) Unload() {
	w.opening.Lock()
	defer w.opening.Unlock()
	w.evict(func(*slot) bool { return true })
}

// RetryAfter estimates when a request that was refused for reason will be welcome:
// one to eight seconds, the most that the official clients wait for (endpoint.md 6).
func (w *Worker) RetryAfter(reason engine.Reason) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := time.Second
	switch reason {
	case engine.Loading:
		wait = w.statusLocked().Left
	case engine.Busy:
		wait = w.recent * time.Duration(max(1, w.admitted/2))
	}
	return min(max(wait, time.Second), 8*time.Second)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Opened describes the open model of a key as it runs. Errors: engine.NoModel when it is not open now.
func (w *Worker) Opened(key string) (engine.ModelInfo, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.slots[key]; ok && s.open() {
		return s.info, nil
	}
	return engine.ModelInfo{}, &engine.Error{Reason: engine.NoModel, Message: "the model " + key + " is not open"}
}
