package ui

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// handed is what workers and timers of a test hand to the UI goroutine. The test is
// that goroutine: it takes from here in until, settle and during.
var handed chan func()

// testWindow is a window of the given size on the test driver.
func testWindow(t *testing.T, d Deps, w, h float32) *Window {
	t.Helper()
	queue := make(chan func(), 1000)
	handed = queue
	setQueue(func(f func()) { queue <- f })
	a := test.NewTempApp(t)
	win := New(a, d)
	win.win.Resize(fyne.NewSize(w, h))
	t.Cleanup(func() {
		win.Close()
		win.win.Close()
		setQueue(func(func()) {}) // timers that are left have no window any more
	})
	return win
}

// setQueue makes f what runs things on the UI goroutine.
func setQueue(f func(func())) { uiQueue.Store(&f) }

// until runs what is handed over until done is true.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for !done() {
		select {
		case f := <-handed:
			f()
		case <-limit:
			t.Fatalf("waited 10 s for %s", what)
		}
	}
}

// settle runs what is handed over until nothing runs, counts or waits.
func settle(p *page) {
	for !p.run.resting() || p.counter.busy || p.graced {
		(<-handed)()
	}
}

// during runs what is handed over for a while.
func during(d time.Duration) {
	limit := time.After(d)
	for {
		select {
		case f := <-handed:
			f()
		case <-limit:
			return
		}
	}
}
