package main

import (
	"slices"
	"sync"
	"time"
)

// bellPause is the least time between two rings: a burst of changes is told once.
const bellPause = 30 * time.Millisecond

// bell tells watchers that something has changed, on a goroutine of its own: whoever rings may hold any lock, and a
// watcher may ask anything. Make it with newBell, end it with close.
type bell struct {
	rung chan struct{}
	quit chan struct{}
	done sync.WaitGroup

	mu       sync.Mutex
	watchers []func()
}

func newBell() *bell {
	b := &bell{rung: make(chan struct{}, 1), quit: make(chan struct{})}
	b.done.Go(b.run)
	return b
}

func (b *bell) run() {
	for {
		select {
		case <-b.quit:
			return
		case <-b.rung:
		}
		b.mu.Lock()
		watchers := slices.Clone(b.watchers)
		b.mu.Unlock()
		for _, f := range watchers {
			f()
		}
		select {
		case <-b.quit:
			return
		case <-time.After(bellPause):
		}
	}
}

// ring returns at once.
func (b *bell) ring() {
	select {
	case b.rung <- struct{}{}:
	default:
	}
}

// Watch calls changed after every change from now on.
func (b *bell) Watch(changed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watchers = append(b.watchers, changed)
}

// close waits for the last watcher; none is called afterwards.
func (b *bell) close() {
	close(b.quit)
	b.done.Wait()
}
