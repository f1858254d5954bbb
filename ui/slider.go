package ui

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
)

// slider chooses a number in steps of a hundredth, by pointer or arrows.
type slider struct {
	control
	low, high, value float64
	change           func(float64)

	track, fill *canvas.Rectangle
	knob        *canvas.Circle
}

var (
	_ drawn             = (*slider)(nil)
	_ fyne.Draggable    = (*slider)(nil)
	_ fyne.Tappable     = (*slider)(nil)
	_ desktop.Hoverable = (*slider)(nil)
)

func newSlider(low, high, value float64, change func(float64)) *slider {
	s := &slider{low: low, high: high, value: value, change: change}
	s.track, s.fill, s.knob = newRect(2), newRect(2), &canvas.Circle{}
	s.parts = []fyne.CanvasObject{s.track, s.fill, s.knob}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer builds the drawing.
func (s *slider) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

func (s *slider) set(v float64) {
	v = min(max(math.Round(v*100)/100, s.low), s.high)
	if v == s.value {
		return
	}
	s.value = v
	s.Refresh()
	s.change(v)
}

func (s *slider) at(x float32) {
	s.set(s.low + (s.high-s.low)*float64((x-dp(8))/max(1, s.Size().Width-dp(16))))
}

// Tapped moves the knob to the pointer.
func (s *slider) Tapped(e *fyne.PointEvent) { s.at(e.Position.X) }

// Dragged moves the knob with the pointer.
func (s *slider) Dragged(e *fyne.DragEvent) { s.at(e.Position.X) }

// DragEnd does nothing: every value has been told.
func (s *slider) DragEnd() {}

// TypedKey moves by a hundredth, with Home and End to the ends.
func (s *slider) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyLeft, fyne.KeyDown:
		s.set(s.value - 0.01)
	case fyne.KeyRight, fyne.KeyUp:
		s.set(s.value + 0.01)
	case fyne.KeyHome:
		s.set(s.low)
	case fyne.KeyEnd:
		s.set(s.high)
	}
}

func (s *slider) paint() {
	s.track.FillColor = themeColor(colorTrack)
	s.fill.FillColor = themeColor(colorAccent)
	s.knob.FillColor = themeColor(colorSurface)
	s.knob.StrokeColor, s.knob.StrokeWidth = themeColor(colorAccent), dp(2)
	if s.focused {
		s.knob.FillColor = themeColor(colorAccentSoft)
	}
}

func (s *slider) least() fyne.Size { return fyne.NewSize(dp(120), dp(24)) }

func (s *slider) arrange(size fyne.Size) {
	mid, pad := size.Height/2, dp(8)
	w := size.Width - 2*pad
	put(s.track, pad, mid-dp(2), w, dp(4))
	x := w * float32((s.value-s.low)/(s.high-s.low))
	put(s.fill, pad, mid-dp(2), x, dp(4))
	put(s.knob, pad+x-dp(8), mid-dp(8), dp(16), dp(16))
}
