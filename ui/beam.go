package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// tone is how strongly a bar speaks.
type tone uint8

const (
	toneOther tone = iota // an option that does not lead
	toneLead              // the leading option
	toneStale             // an answer from before an edit
)

func (t tone) token() fyne.ThemeColorName {
	return [...]fyne.ThemeColorName{colorFill2, colorAccent, colorStale}[t]
}

const (
	barHeight = 8 // of the track
	barStub   = 4 // a fill is never narrower: at 0.00 no bar is missing
	tickReach = 6 // from the track's edge to the far end of a tick: gap 2, tick 4
	barWidth  = 248
)

// beam is what every bar of a probability is drawn with: a track, a fill that glides, pairs of ticks outside the track
// for thresholds, and a notch where the fill passes one.
type beam struct {
	figure
	tone      tone
	threshold float64
	under     fyne.ThemeColorName // what lies under the row: the notch's colour

	value              glide // 0..1
	track, fill, notch *canvas.Rectangle
	ticks              [][2]*canvas.Rectangle
}

// compose makes the parts, with so many pairs of ticks; top lies above the notch and the ticks.
func (b *beam) compose(pairs int, top ...fyne.CanvasObject) {
	b.value, b.threshold, b.under = newGlide(), 0.8, colorSurface
	b.track, b.fill, b.notch = newRect(0), newRect(0), newRect(0)
	b.parts = []fyne.CanvasObject{b.track, b.fill, b.notch}
	for range pairs {
		t := [2]*canvas.Rectangle{newRect(0), newRect(0)}
		b.ticks = append(b.ticks, t)
		b.parts = append(b.parts, t[0], t[1])
	}
	b.parts = append(b.parts, top...)
}

// set shows a value; it glides there from the old one unless animations are off.
func (b *beam) set(value float64, t tone, threshold float64) {
	b.tone, b.threshold = t, threshold
	b.value.move(value, b.Refresh)
}

func (b *beam) paint() {
	b.track.FillColor = themeColor(colorTrack)
	b.fill.FillColor = themeColor(b.tone.token())
	b.notch.FillColor = themeColor(b.under)
	for _, t := range b.ticks {
		t[0].FillColor, t[1].FillColor = themeColor(colorInk2), themeColor(colorInk2)
	}
}

func (b *beam) least() fyne.Size { return fyne.NewSize(dp(96), dp(barHeight+2*tickReach)) }

// placeTicks puts a pair of threshold ticks above and below the track.
func placeTicks(ticks [2]*canvas.Rectangle, x, top, h float32) {
	w, tall, gap := dp(1.5), dp(4), dp(2)
	put(ticks[0], x-w/2, top-gap-tall, w, tall)
	put(ticks[1], x-w/2, top+h+gap, w, tall)
}
