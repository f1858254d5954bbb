package ui

import (
	"sync/atomic"

	"fyne.io/fyne/v2"
)

// uiQueue takes the place of Fyne's queue in tests, because Fyne's test driver runs
// fyne.Do at once on whatever goroutine asks. Timers of a window that is gone may
// read it while the next test sets it.
var uiQueue atomic.Pointer[func(func())]

// onUI runs f on the UI goroutine, soon. Every result of a worker and every timer
// comes back through it.
func onUI(f func()) {
	if queue := uiQueue.Load(); queue != nil {
		(*queue)(f)
		return
	}
	fyne.Do(f)
}

// later runs f on the UI goroutine, soon, unless the window has been closed by then.
func (p *page) later(f func()) {
	onUI(func() {
		if !p.window.closed.Load() {
			f()
		}
	})
}
