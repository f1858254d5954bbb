package local

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/models/fault"
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
	for {
		select {
		case j := <-m.jobs:
			j.done <- m.run(j)
		case <-m.closing:
			return
		}
	}
}

// run does one job.
func (m *Model) run(j *job) error {
	if j.ctx.Err() != nil {
		return j.ctx.Err()
	}
	if err := m.folder.Check(); err != nil {
		return modelError(m.info.Name, err)
	}
	return m.reading(func() error {
		err := j.work()
		if errors.Is(err, backend.ErrAgain) {
			err = j.work()
		}
		if err != nil {
			return runError(err, m.b.Sync())
		}
		return nil
	})
}

// reading does work that reads the weights. When their files are cut or their disk goes away meanwhile, nothing that
// came out of it counts, whether it failed or not.
func (m *Model) reading(work func() error) error {
	err := m.surviving(func() error { return fault.Guard(work) })
	if lost := m.folder.Check(); lost != nil {
		return modelError(m.folder.Name, lost)
	}
	return err
}

// surviving does work whose defects must not take the process with them: a panic becomes an error, and the next job
// starts afresh.
func (m *Model) surviving(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(m.folder.Name, p)
		}
	}()
	return work()
}

// panicError turns a panic into an error.
func panicError(name string, p any) error {
	cause := fmt.Errorf("%v\n%s", p, debug.Stack())
	return &engine.Error{Reason: engine.Failed, Message: fmt.Sprintf("The engine failed while %s was deciding: %v. It goes on with the next request", name, p), Err: cause}
}
