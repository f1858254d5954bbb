package metal

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// thread is a goroutine that stays on one OS thread. Metal's autorelease pools belong
// to threads, so everything that touches a device runs on one.
type thread struct {
	jobs chan func()
	done chan struct{}
}

func newThread() *thread {
	t := &thread{make(chan func()), make(chan struct{})}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		defer close(t.done)
		for job := range t.jobs {
			job()
		}
	}()
	return t
}

// do runs f on the thread and waits for it. A panic becomes one of the caller's, with
// the stack of where it happened.
func (t *thread) do(f func()) {
	var failed any
	finished := make(chan struct{})
	t.jobs <- func() {
		defer close(finished)
		defer func() {
			if p := recover(); p != nil {
				failed = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
		}()
		f()
	}
	<-finished
	if failed != nil {
		panic(failed)
	}
}

// stop ends the thread after what it does now.
func (t *thread) stop() {
	close(t.jobs)
	<-t.done
}
