package worker

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"clefbar/engine"
)

// slot is one model that is open or opening. Its fields are guarded by Worker.mu,
// except model and err, which never change once ready is closed.
type slot struct {
	key   string
	info  engine.ModelInfo // known before the model is open
	began time.Time
	ready chan struct{}
	model Model
	err   error
	refs  int // requests that hold or wait for the model

	done, total atomic.Int64 // progress of opening, in bytes
}

func (s *slot) open() bool {
	select {
	case <-s.ready:
		return s.err == nil
	default:
		return false
	}
}

func (s *slot) heavy() bool { return !Light(s.info) }

// Light tells models that may stay open beside others.
func Light(info engine.ModelInfo) bool { return info.WeightBytes < heavyBytes }

// left estimates how long opening will still take.
func (s *slot) left() time.Duration {
	spent := time.Since(s.began)
	done, total := s.done.Load(), s.total.Load()
	if done <= 0 || total <= done {
		return min(max(spent, time.Second), 8*time.Second)
	}
	return time.Duration(float64(spent) * float64(total-done) / float64(done))
}

// acquire returns the open model of key and how long this request waited for it
// to open because it was the one that asked first. Give it back with release.
func (w *Worker) acquire(ctx context.Context, key string) (*slot, time.Duration, error) {
	w.mu.Lock()
	s, first := w.slotLocked(key)
	s.refs++
	name := s.info.Name
	w.mu.Unlock()

	ctx, done := tie(ctx, w.waits)
	defer done()
	start := time.Now()
	hold := time.NewTimer(w.opt.Hold)
	defer hold.Stop()
	var err error
	select {
	case <-s.ready:
		err = s.err
	case <-hold.C:
		err = &engine.Error{Reason: engine.Loading, Message: fmt.Sprintf("the model %s is still loading", name)}
	case <-ctx.Done():
		err = stopped(ctx, ctx.Err())
	}
	if err != nil {
		w.release(s)
		return nil, 0, err
	}
	if first {
		return s, time.Since(start), nil
	}
	return s, 0, nil
}

// slotLocked returns the slot of key and starts to open the model if there is none.
func (w *Worker) slotLocked(key string) (s *slot, first bool) {
	if s, ok := w.slots[key]; ok {
		return s, false
	}
	info, ok := w.shelf.Info(key)
	if !ok {
		info = engine.ModelInfo{Name: key}
	}
	s = &slot{key: key, info: info, began: time.Now(), ready: make(chan struct{})}
	w.slots[key] = s
	w.announceLocked()
	go w.load(s)
	return s, true
}

func (w *Worker) release(s *slot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.refs--
	w.changed.Broadcast()
	if s.refs == 0 && s.heavy() {
		w.restLocked()
	}
}

// SetIdle changes Options.Idle; models that rest already are closed so much later.
func (w *Worker) SetIdle(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d != w.opt.Idle {
		w.opt.Idle = d
		w.restLocked()
	}
}

// load opens the model of s. Models are opened one after the other, and a heavy
// one only after the heavy ones before it have finished their work and are closed:
// two of them may not fit into memory together.
func (w *Worker) load(s *slot) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if s.heavy() {
		w.evict(func(other *slot) bool { return other != s && other.heavy() })
	}
	w.mu.Lock()
	s.began = time.Now()
	w.mu.Unlock()
	m, err := w.shelf.Open(w.works, s.key, func(done, total int64) {
		s.done.Store(done)
		s.total.Store(total)
		w.announce()
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	s.model, s.err = m, err
	if err == nil {
		s.info = m.Info()
	} else if w.slots[s.key] == s {
		delete(w.slots, s.key)
	}
	close(s.ready)
	w.announceLocked()
}

// lose sees to it that the next request opens the model of s anew: its files went away under it, and may be back.
func (w *Worker) lose(s *slot) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slots[s.key] != s {
		return
	}
	delete(w.slots, s.key)
	w.lost = append(w.lost, s)
	go func() { // Drain closes what this has not come to
		w.opening.Lock()
		defer w.opening.Unlock()
		w.evict(func(*slot) bool { return false })
	}()
}

// evict closes the open models that match and those that are lost. New requests for them
// open them again; those that already hold them finish first.
func (w *Worker) evict(match func(*slot) bool) {
	w.mu.Lock()
	gone := w.lost
	w.lost = nil
	for key, s := range w.slots {
		if s.open() && match(s) {
			delete(w.slots, key)
			gone = append(gone, s)
		}
	}
	for _, s := range gone {
		for s.refs > 0 {
			w.changed.Wait()
		}
	}
	w.announceLocked()
	w.mu.Unlock()
	for _, s := range gone {
		_ = s.model.Close() // nothing is left that could use it
	}
}

// restLocked starts the clock after which idle heavy models are closed, if they ever are.
func (w *Worker) restLocked() {
	if w.idle != nil {
		w.idle.Stop()
	}
	if w.opt.Idle <= 0 {
		return
	}
	w.idle = time.AfterFunc(w.opt.Idle, func() {
		w.opening.Lock()
		defer w.opening.Unlock()
		w.evict(func(s *slot) bool { return s.heavy() && s.refs == 0 })
	})
}
