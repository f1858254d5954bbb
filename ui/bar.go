package ui

import "fyne.io/fyne/v2"

// bar is one option's probability: a fill from the left, one threshold.
type bar struct{ beam }

var _ drawn = (*bar)(nil)

func newBar() *bar {
	b := &bar{}
	b.compose(1)
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *bar) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

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
	placeTicks(b.ticks[0], x, top, h)
	show(b.notch, b.value.has() && length > x)
	put(b.notch, x-dp(1), top, dp(2), h)
}
