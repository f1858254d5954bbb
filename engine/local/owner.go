package local

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"clefbar/engine"
	"clefbar/engine/backend"
)

// job is a piece of work for the goroutine that owns the device.
type job struct {
	ctx  context.Context
	work func() error
	done chan error
}

// do runs work on the device. It waits for its turn; ending ctx while it waits
// leaves the queue at once.
func (m *Model) do(ctx context.Context, work func() error) error {
	j := &job{ctx, work, make(chan error, 1)}
	select {
	case m.jobs <- j:
	case <-ctx.Done():
		return stopped(ctx)
	case <-m.closing:
		return &engine.Error{Reason: engine.ShuttingDown, Message: "The model " + m.info.Name + " is being closed"}
	}
	err := <-j.done
	if err != nil && ctx.Err() != nil {
		return stopped(ctx)
	}
	return err
}

// own is the goroutine that owns the device.
func (m *Model) own() {
	defer close(m.ended)
	// A mapped file that goes away raises a fault when its pages are touched. Here it becomes a panic that
	// run recovers; code outside Go cannot be saved so, hence Check before every run.
	debug.SetPanicOnFault(true)
	for {
		select {
		case j := <-m.jobs:
			j.done <- m.run(j)
		case <-m.closing:
			return
		}
	}
}

// run does one job. A defect must not take the process with it: it becomes an
// error, and the next job starts afresh.
func (m *Model) run(j *job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(m.info.Name, p)
		}
	}()
	if j.ctx.Err() != nil {
		return j.ctx.Err()
	}
	if err := m.folder.Check(); err != nil {
		return modelError(m.info.Name, err)
	}
	err = j.work()
	if errors.Is(err, backend.ErrAgain) {
		err = j.work()
	}
	if err != nil {
		return runError(err, m.b.Sync())
	}
	return nil
}

// panicError turns a panic into an error. A memory fault means that a mapped file went away.
func panicError(name string, p any) error {
	cause := fmt.Errorf("%v\n%s", p, debug.Stack())
	if fault, ok := p.(interface{ Addr() uintptr }); ok && fault.Addr() != 0 {
		return &engine.Error{Reason: engine.NoModel, Message: fmt.Sprintf("The files of %s can no longer be read: is their disk still connected?", name), Err: cause}
	}
	return &engine.Error{Reason: engine.Failed, Message: fmt.Sprintf("The engine failed while %s was deciding: %v. It goes on with the next request", name, p), Err: cause}
}
