package cpu

import (
	"runtime"
	"testing"
	"time"
)

// TestOneSlotStaysIdle: any number of backends together leave the default number of workers as it
// was, and slots for one goroutine more.
func TestOneSlotStaysIdle(t *testing.T) {
	for range 3 {
		b, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if got := b.(*CPU).pool.size; got != processors {
			t.Errorf("%d workers, want %d", got, processors)
		}
		if got := runtime.GOMAXPROCS(0); got <= processors {
			t.Errorf("%d slots for %d workers, want more", got, processors)
		}
	}
}

// TestWorkersYield: a worker that never waits goes through the scheduler often enough, and
// not for every task.
func TestWorkersYield(t *testing.T) {
	var y yielder
	yields := 0
	began := time.Now()
	for time.Since(began) < 50*time.Millisecond {
		before := y.last
		y.pause()
		if y.last != before {
			yields++
		}
	}
	if took := time.Since(began); yields < 2 || yields > int(took/yieldEvery)+1 {
		t.Errorf("%d yields in %v", yields, took)
	}
}
