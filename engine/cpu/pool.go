package cpu

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// pool is a fixed number of workers, the caller being one of them. Idle workers sleep on a
// channel. Within a run one batch follows the other sooner than a sleeping thread wakes up, so
// whoever is done looks around for lingerFor first; nobody spins longer than that.
type pool struct {
	size    int
	caller  yielder
	workers []worker // all but the caller
	done    sync.WaitGroup
}

// worker is one goroutine. next holds a batch for it while it looks around, and asleep while
// it waits for wake.
type worker struct {
	next atomic.Pointer[batch]
	wake chan *batch
}

// batch is a number of tasks that workers take one by one.
type batch struct {
	fn       func(worker, task int)
	tasks    int64
	next     atomic.Int64
	stop     <-chan struct{}
	stopped  atomic.Bool
	panicked atomic.Pointer[any] // what the first task that panicked said
	left     atomic.Int64        // workers that are not done
	busy     sync.WaitGroup
}

// lingerFor is about as long as the last task of a product.
const lingerFor = 150 * time.Microsecond

// asleep stands in worker.next for "wake me".
var asleep = &batch{}

func newPool(size int) *pool {
	keepSlotIdle(size)
	p := &pool{size: size, workers: make([]worker, max(0, size-1))}
	for i := range p.workers {
		w := &p.workers[i]
		w.wake = make(chan *batch, 1)
		p.done.Add(1)
		go func() {
			defer p.done.Done()
			debug.SetPanicOnFault(true) // a lost file is the caller's to handle, see package fault
			var y yielder
			for b := w.await(); b != nil; b = w.await() {
				b.work(i+1, &y)
				b.left.Add(-1)
				b.busy.Done()
			}
		}()
	}
	return p
}

// linger looks until ready or for lingerFor, and reports whether it was ready.
func linger(ready func() bool) bool {
	for began := time.Now(); ; {
		for range 64 {
			if ready() {
				return true
			}
		}
		if time.Since(began) > lingerFor {
			return false
		}
	}
}

// await returns the next batch, or nil when the pool is closed.
func (w *worker) await() *batch {
	if linger(func() bool { return w.next.Load() != nil }) || !w.next.CompareAndSwap(nil, asleep) {
		return w.next.Swap(nil)
	}
	return <-w.wake
}

// hand gives a worker that is done a batch.
func (w *worker) hand(b *batch) {
	if !w.next.CompareAndSwap(nil, b) {
		w.next.Store(nil)
		w.wake <- b
	}
}

// run does all tasks and reports whether it did: false means that ctx ended first. No task
// is running any more when it returns, or when it panics because one of them has.
func (p *pool) run(ctx context.Context, tasks int, fn func(worker, task int)) bool {
	b := &batch{fn: fn, tasks: int64(tasks), stop: ctx.Done()}
	n := max(0, min(tasks, p.size)-1)
	b.left.Store(int64(n))
	b.busy.Add(n)
	for i := range n {
		p.workers[i].hand(b)
	}
	b.work(0, &p.caller)
	if !linger(func() bool { return b.left.Load() == 0 }) {
		b.busy.Wait()
	}
	if p := b.panicked.Load(); p != nil {
		panic(*p)
	}
	return !b.stopped.Load()
}

// work takes tasks until none is left or the run is stopped, which a panic does too.
func (b *batch) work(worker int, y *yielder) {
	defer func() {
		if p := recover(); p != nil {
			b.panicked.CompareAndSwap(nil, &p)
			b.stopped.Store(true)
		}
	}()
	for {
		select {
		case <-b.stop:
			b.stopped.Store(true)
		default:
		}
		if b.stopped.Load() {
			return
		}
		i := b.next.Add(1) - 1
		if i >= b.tasks {
			return
		}
		b.fn(worker, int(i))
		y.pause()
	}
}

func (p *pool) close() {
	for i := range p.workers {
		close(p.workers[i].wake)
	}
	p.done.Wait()
}
