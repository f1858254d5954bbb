package cpu

import (
	"runtime"
	"time"
)

// Go's monitor thread takes the scheduler's slot away from a goroutine that is inside C when all
// slots are busy, or when the goroutine has not gone through the scheduler for 10 ms; while it
// finds slots to take it wakes up every 20 microseconds. Workers do nothing but long calls of C, so on
// a machine that they fill it would interrupt them ten thousand times a second, and every one of
// their calls would end with a search for a new slot. It lets them alone when a slot is idle and
// every worker yields now and then.

// processors is the number of slots that the process started with: one per processor, or
// fewer where the system or GOMAXPROCS allows fewer.
var processors = runtime.GOMAXPROCS(0)

// keepSlotIdle makes sure that there are more slots than workers.
func keepSlotIdle(workers int) {
	if runtime.GOMAXPROCS(0) <= workers {
		runtime.GOMAXPROCS(workers + 1)
	}
}

// yieldEvery is well below 10 ms, tasks of a few milliseconds included.
const yieldEvery = 2 * time.Millisecond

// yielder belongs to one worker.
type yielder struct{ last time.Time }

// pause goes through the scheduler if the last time was too long ago. Each time costs a few
// microseconds, for the idle slot wakes up to look.
func (y *yielder) pause() {
	if now := time.Now(); now.Sub(y.last) > yieldEvery {
		runtime.Gosched()
		y.last = now
	}
}
