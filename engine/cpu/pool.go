package cpu

import (
	"context"
	"sync"
	"sync/atomic"
)

// pool is a fixed number of workers, the caller being one of them. Idle workers
// sleep on a channel; nobody spins.
type pool struct {
	size int
	wake []chan *batch // one per worker but the caller
	done sync.WaitGroup
}

// batch is a number of tasks that workers take one by one.
type batch struct {
	fn      func(worker, task int)
	tasks   int64
	next    atomic.Int64
	stop    <-chan struct{}
	stopped atomic.Bool
	busy    sync.WaitGroup
}

func newPool(size int) *pool {
	p := &pool{size: size}
	for i := 1; i < size; i++ {
		ch := make(chan *batch, 1)
		p.wake = append(p.wake, ch)
		p.done.Add(1)
		go func() {
			defer p.done.Done()
			for b := range ch {
				b.work(i)
				b.busy.Done()
			}
		}()
	}
	return p
}

// run does all tasks and reports whether it did: false means that ctx ended first. No task
// is running any more when it returns.
func (p *pool) run(ctx context.Context, tasks int, fn func(worker, task int)) bool {
	b := &batch{fn: fn, tasks: int64(tasks), stop: ctx.Done()}
	for i := 0; i < min(tasks, p.size)-1; i++ {
		b.busy.Add(1)
		p.wake[i] <- b
	}
	b.work(0)
	b.busy.Wait()
	return !b.stopped.Load()
}

// work takes tasks until none is left or the run is stopped.
func (b *batch) work(worker int) {
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
	}
}

func (p *pool) close() {
	for _, ch := range p.wake {
		close(ch)
	}
	p.done.Wait()
}
