package worker

import (
	"container/list"
	"context"
	"sync"
)

// line is the turn on one device: first come, first served. The zero value is free.
type line struct {
	mu      sync.Mutex
	busy    bool
	waiting list.List // of chan struct{}; closed when it is that one's turn
}

// enter waits for the turn. It returns ctx.Err() if ctx ends first.
func (l *line) enter(ctx context.Context) error {
	l.mu.Lock()
	if !l.busy {
		l.busy = true
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	place := l.waiting.PushBack(turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	select {
	case <-turn: // the turn came at the same moment: pass it on
		l.mu.Unlock()
		l.leave()
	default:
		l.waiting.Remove(place)
		l.mu.Unlock()
	}
	return ctx.Err()
}

// leave gives the turn to the next in line.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first := l.waiting.Front(); first != nil {
		close(l.waiting.Remove(first).(chan struct{}))
		return
	}
	l.busy = false
}

// taken reports whether somebody has the turn.
func (l *line) taken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy
}

// length returns how many wait.
func (l *line) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting.Len()
}
