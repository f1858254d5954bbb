package metal

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPulse: beats while warm, one last act, then silence until the next use.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		beats, colds := 0, 0
		p := &pulse{beat: func() { beats++ }, cold: func() { colds++ }}
		time.Sleep(time.Hour)
		if beats+colds != 0 {
			t.Errorf("before any use: got %d beats", beats+colds)
		}
		p.touch()
		time.Sleep(pulseWarm / 2)
		p.touch()
		time.Sleep(pulseWarm + 2*pulseEvery)
		synctest.Wait()
		if want := int(pulseWarm * 3 / 2 / pulseEvery); beats < want-2 || beats > want || colds != 1 {
			t.Errorf("one and a half times the warm period: got %d beats and %d ends, want about %d and 1", beats, colds, want)
		}
		before := beats
		time.Sleep(time.Hour)
		if beats != before || colds != 1 {
			t.Errorf("idle: got %d more beats", beats-before)
		}
		p.touch()
		time.Sleep(pulseEvery + time.Millisecond)
		synctest.Wait()
		if beats != before+1 {
			t.Errorf("used again: got %d more beats, want 1", beats-before)
		}
		p.stop()
		p.touch()
		time.Sleep(time.Hour)
		if beats != before+1 || colds != 1 {
			t.Errorf("stopped: got %d more beats", beats-before-1)
		}
	})
}

// TestPulseStopWaits: stop returns after a beat that runs.
func TestPulseStopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := false
		p := &pulse{cold: func() {}, beat: func() {
			time.Sleep(time.Minute)
			done = true
		}}
		p.touch()
		time.Sleep(pulseEvery + time.Second/2)
		p.stop()
		if !done {
			t.Error("stop returned while a beat was running")
		}
		p.stop() // again
	})
}
