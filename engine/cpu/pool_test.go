package cpu

import (
	"context"
	"sync/atomic"
	"testing"
)

// TestPoolHandsPanicsOver: a panic of any worker ends the run, is the caller's, and leaves the pool as it was.
func TestPoolHandsPanicsOver(t *testing.T) {
	p := newPool(3)
	defer p.close()
	for bad := range 24 {
		var running atomic.Int32
		got := func() (got any) {
			defer func() { got = recover() }()
			p.run(context.Background(), 24, func(_, task int) {
				running.Add(1)
				defer running.Add(-1)
				if task == bad {
					panic("boom")
				}
			})
			return nil
		}()
		if got != "boom" || running.Load() != 0 {
			t.Errorf("task %d: got %v with %d tasks still running, want boom and none", bad, got, running.Load())
		}
		var done atomic.Int32
		if !p.run(context.Background(), 24, func(int, int) { done.Add(1) }) || done.Load() != 24 {
			t.Fatalf("after a panic %d of 24 tasks ran", done.Load())
		}
	}
}
