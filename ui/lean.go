package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// lean is the answer to a yes-or-no question: one bar that leans from the middle,
// left to No, right to Yes, with ticks at both thresholds. Its value is p(yes), its threshold is for either side.
type lean struct {
	beam
	post    *canvas.Rectangle
	no, yes *label
}

var _ drawn = (*lean)(nil)

func newLean() *lean {
	l := &lean{post: newRect(1)}
	l.no, l.yes = newLabel("No", colorInk3, 11, regular), newLabel("Yes", colorInk3, 11, regular)
	l.compose(2, l.post, l.no.Text, l.yes.Text)
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer builds the drawing.
func (l *lean) CreateRenderer() fyne.WidgetRenderer { return newDrawing(l) }

func (l *lean) paint() {
	l.beam.paint()
	l.post.FillColor = themeColor(colorInk2)
	l.no.paint()
	l.yes.paint()
}

func (l *lean) arrange(size fyne.Size) {
	h, w := dp(barHeight), size.Width
	top, r, mid := (size.Height-h)/2, dp(barHeight)/2, size.Width/2
	l.track.CornerRadius = r
	put(l.track, 0, top, w, h)
	placeTicks(l.ticks[0], w*float32(1-l.threshold), top, h)
	placeTicks(l.ticks[1], w*float32(l.threshold), top, h)
	put(l.post, mid-dp(1), top-dp(3), dp(2), h+dp(6))
	l.no.place(0, top+h+dp(4), w/2, dp(16))
	l.yes.placeRight(w, top+h+dp(4), w/2, dp(16))

	show(l.fill, l.value.has())
	length := max(dp(barStub), w*abs32(float32(l.value.at)-0.5))
	toYes := l.value.at >= 0.5
	l.fill.TopLeftCornerRadius, l.fill.BottomLeftCornerRadius = r, r
	l.fill.TopRightCornerRadius, l.fill.BottomRightCornerRadius = r, r
	edge := w * float32(l.threshold)
	if toYes {
		l.fill.TopLeftCornerRadius, l.fill.BottomLeftCornerRadius = 0, 0
		put(l.fill, mid, top, length, h)
	} else {
		l.fill.TopRightCornerRadius, l.fill.BottomRightCornerRadius = 0, 0
		put(l.fill, mid-length, top, length, h)
		edge = w - edge
	}
	show(l.notch, l.value.has() && mid+length > w*float32(l.threshold))
	put(l.notch, edge-dp(1), top, dp(2), h)
}

func abs32(v float32) float32 {
	if v < 0 {
		return -v
	}
	return v
}
