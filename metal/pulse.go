package metal

import (
	"sync"
	"time"
)

// How long and how often memory is kept resident after the last work. The system takes
// pages of an idle process away, which costs the next decision a quarter of a second.
const (
	pulseEvery = time.Second
	pulseWarm  = 3 * time.Minute
)

// pulse does something at intervals while a device is in use and for a while after, and
// something else once when that is over. An idle program has no timer running.
type pulse struct {
	beat, cold func()

	mu      sync.Mutex
	last    time.Time
	timer   *time.Timer // nil while cold
	stopped bool
	running sync.WaitGroup
}

// touch says that the device is in use.
func (p *pulse) touch() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	if p.timer == nil && !p.stopped {
		p.arm()
	}
}

// arm starts the timer. The caller holds the lock.
func (p *pulse) arm() {
	p.running.Add(1)
	p.timer = time.AfterFunc(pulseEvery, p.tick)
}

// tick acts and then starts the timer again, so that acts never overlap.
func (p *pulse) tick() {
	defer p.running.Done()
	p.mu.Lock()
	act, warm := p.beat, time.Since(p.last) < pulseWarm
	if !warm {
		act = p.cold
	}
	stopped := p.stopped
	p.mu.Unlock()
	if stopped {
		return
	}
	act()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopped:
	case warm || time.Since(p.last) < pulseWarm: // used while it went cold
		p.arm()
	default:
		p.timer = nil
	}
}

// stop ends the intervals and returns when nothing runs any more. It must not be called
// from beat or cold.
func (p *pulse) stop() {
	p.mu.Lock()
	p.stopped = true
	if p.timer != nil && p.timer.Stop() {
		p.running.Done()
	}
	p.mu.Unlock()
	p.running.Wait()
}
