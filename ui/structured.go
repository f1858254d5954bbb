package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"clefbar/engine"
)

// structured shows a state that is no text: as JSON, kept as written.
type structured struct {
	figure
	back  *canvas.Rectangle
	head  *label
	edit  *button
	lines []*label
}

var _ drawn = (*structured)(nil)

func newStructured(p *page) *structured {
	s := &structured{back: newRect(10)}
	s.head = newLabel("Structured state, kept as written", colorInk2, 12, regular)
	s.edit = newButton(rankLink, "", "Edit as JSON", p.openJSON)
	s.ExtendBaseWidget(s)
	s.Hide()
	return s
}

// CreateRenderer builds the drawing.
func (s *structured) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

func (s *structured) set(kind engine.ValueType, text string) {
	if kind == engine.Object || kind == engine.Array {
		text = indented(text)
	}
	s.lines, s.parts = nil, []fyne.CanvasObject{s.back, s.head.Text, s.edit}
	for _, line := range firstLines(text, 200) {
		l := newLabel(line, colorInk, 12, mono)
		s.lines = append(s.lines, l)
		s.parts = append(s.parts, l.Text)
	}
	s.Refresh()
}

func (s *structured) paint() {
	s.back.FillColor, s.back.CornerRadius = themeColor(colorAccentSoft), dp(10)
	s.head.paint()
	for _, l := range s.lines {
		l.paint()
	}
}

func (s *structured) least() fyne.Size { return fyne.NewSize(dp(200), dp(80)) }

func (s *structured) arrange(size fyne.Size) {
	put(s.back, 0, 0, size.Width, size.Height)
	x := placeLeftOf(s.edit, size.Width-dp(8), dp(36))
	s.head.place(dp(12), 0, max(0, x-dp(20)), dp(36))
	for i, l := range s.lines {
		y := dp(36) + float32(i)*dp(20)
		fits := y+dp(20) < size.Height
		show(l.Text, fits)
		if fits {
			l.place(dp(12), y, size.Width-dp(24), dp(20))
		}
	}
}
