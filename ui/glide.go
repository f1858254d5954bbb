package ui

import (
	"time"

	"fyne.io/fyne/v2"
)

// glideTime is how long bars and the axis marker take to a new value.
const glideTime = 150 * time.Millisecond

// noValue is a bar or an axis without an answer.
const noValue = -1

// glide is a number that moves to its new values, ease-out. With animations off,
// and to or from no value, it jumps. Use it on the UI goroutine only.
type glide struct {
	at      float64 // what is drawn now
	to      float64
	running *fyne.Animation
}

func newGlide() glide { return glide{at: noValue, to: noValue} }

// move goes to a value and calls draw for every step, at least once.
func (g *glide) move(to float64, draw func()) {
	if to == g.to && g.running != nil {
		draw()
		return
	}
	g.stop()
	from := g.at
	g.to = to
	if from == noValue || to == noValue || from == to || !animated() {
		g.at = to
		draw()
		return
	}
	var run *fyne.Animation
	run = &fyne.Animation{
		Curve: fyne.AnimationEaseOut, Duration: glideTime,
		Tick: func(f float32) {
			g.at = from + (to-from)*float64(f)
			if f >= 1 && g.running == run {
				g.running = nil
			}
			draw()
		},
	}
	g.running = run
	run.Start()
}

func (g *glide) stop() {
	if g.running != nil {
		g.running.Stop()
		g.running = nil
	}
}

func (g *glide) has() bool { return g.at != noValue }

// animationsOff is the person's choice in the settings.
var animationsOff bool

// animated reports whether things may move: the system and the person allow it.
func animated() bool {
	return !animationsOff && fyne.CurrentApp().Settings().ShowAnimations()
}
