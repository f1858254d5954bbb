package ui

import "fyne.io/fyne/v2"

// onUI runs f on the UI goroutine, soon. Every result of a worker and every timer
// comes back through it. Tests put a queue of their own here, because Fyne's test
// driver runs fyne.Do at once on whatever goroutine asks.
var onUI = fyne.Do

// later runs f on the UI goroutine, soon, unless the window has been closed by then.
func (p *page) later(f func()) {
	onUI(func() {
		if !p.window.closed.Load() {
			f()
		}
	})
}
