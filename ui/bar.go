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

// bar is one option's probability: a track, a fill from the left, the threshold as
// two ticks outside the track and a notch where the fill passes it.
type bar struct {
	figure
	tone      tone
	threshold float64
	under     fyne.ThemeColorName // what lies under the row: the notch's colour

	value              glide // 0..1
	track, fill, notch *canvas.Rectangle
	ticks              [2]*canvas.Rectangle
}

var _ drawn = (*bar)(nil)

func newBar() *bar {
	b := &bar{value: newGlide(), threshold: 0.8, under: colorSurface}
	b.track, b.fill, b.notch = newRect(0), newRect(0), newRect(0)
	b.ticks = [2]*canvas.Rectangle{newRect(0), newRect(0)}
	b.parts = []fyne.CanvasObject{b.track, b.fill, b.notch, b.ticks[0], b.ticks[1]}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *bar) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

// set shows a value; it glides there from the old one unless animations are off.
func (b *bar) set(value float64, t tone, threshold float64) {
	b.tone, b.threshold = t, threshold
	b.value.move(value, b.Refresh)
}

func (b *bar) paint() {
	b.track.FillColor = themeColor(colorTrack)
	b.fill.FillColor = themeColor(b.tone.token())
	b.notch.FillColor = themeColor(b.under)
	for _, t := range b.ticks {
		t.FillColor = themeColor(colorInk2)
	}
}

func (b *bar) least() fyne.Size { return fyne.NewSize(dp(96), dp(barHeight+2*tickReach)) }

func (b *bar) arrange(size fyne.Size) {
	h := dp(barHeight)
	top := (size.Height - h) / 2
	b.track.CornerRadius, b.fill.CornerRadius = h/2, h/2
	put(b.track, 0, top, size.Width, h)
	show(b.fill, b.value.has())
	length := max(dp(barStub), size.Width*float32(b.value.at))
	put(b.fill, 0, top, length, h)
	b.fill.CornerRadius = min(h, length) / 2
	x := size.Width * float32(b.threshold)
	placeTicks(b.ticks, x, top, h)
	show(b.notch, b.value.has() && length > x)
	put(b.notch, x-dp(1), top, dp(2), h)
}

// placeTicks puts the two threshold ticks above and below a track.
func placeTicks(ticks [2]*canvas.Rectangle, x, top, h float32) {
	w, tall, gap := dp(1.5), dp(4), dp(2)
	put(ticks[0], x-w/2, top-gap-tall, w, tall)
	put(ticks[1], x-w/2, top+h+gap, w, tall)
}
