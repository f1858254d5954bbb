package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// spinner is an open ring in place of a dot: something is being read or opened. It
// does not turn: in this window only bars and switches move.
type spinner struct {
	figure
	on  bool
	arc *canvas.Arc
}

var _ drawn = (*spinner)(nil)

func newSpinner() *spinner {
	s := &spinner{arc: canvas.NewArc(45, 315, 0.7, nil)}
	s.parts = []fyne.CanvasObject{s.arc}
	s.ExtendBaseWidget(s)
	s.Hide()
	return s
}

// CreateRenderer builds the drawing.
func (s *spinner) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

func (s *spinner) run(on bool) {
	s.on = on
	show(s, on)
}

func (s *spinner) paint() { s.arc.FillColor = themeColor(colorAccent) }

func (s *spinner) least() fyne.Size { return fyne.NewSquareSize(dp(13)) }

func (s *spinner) arrange(size fyne.Size) { put(s.arc, 0, 0, size.Width, size.Height) }
