package worker

import (
	"context"
	"time"
)

// Drain refuses new work, finishes the work that is there and closes every model.
// After patience, requests that still wait for their turn are refused with
// engine.ShuttingDown; the running one goes on until ctx ends. The worker cannot
// be used afterwards.
func (w *Worker) Drain(ctx context.Context, patience time.Duration) {
	w.mu.Lock()
	w.draining = true
	if w.idle != nil {
		w.idle.Stop()
	}
	w.announceLocked()
	w.mu.Unlock()

	impatient := time.AfterFunc(patience, func() { w.endWait(shuttingDown()) })
	defer impatient.Stop()
	defer context.AfterFunc(ctx, func() {
		w.endWait(shuttingDown())
		w.endWork(shuttingDown())
	})()
	w.mu.Lock()
	for w.admitted > 0 {
		w.changed.Wait()
	}
	w.mu.Unlock()

	w.endWait(shuttingDown())
	w.endWork(shuttingDown())
	w.opening.Lock()
	defer w.opening.Unlock()
	w.evict(func(*slot) bool { return true })
}
