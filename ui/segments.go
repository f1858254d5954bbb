package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// segments chooses one of a few words.
type segments struct {
	figure
	back  *canvas.Rectangle
	items []*segment
	at    int
}

var _ drawn = (*segments)(nil)

func newSegments(words []string, at int, change func(int)) *segments {
	s := &segments{back: newRect(8), at: at}
	s.parts = []fyne.CanvasObject{s.back}
	for i, w := range words {
		it := newSegment(s, i, w, change)
		s.items = append(s.items, it)
		s.parts = append(s.parts, it)
	}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer builds the drawing.
func (s *segments) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

func (s *segments) paint() {
	s.back.FillColor, s.back.CornerRadius = themeColor(colorRaised), dp(8)
}

func (s *segments) least() fyne.Size {
	w := dp(4)
	for _, it := range s.items {
		w += it.least().Width
	}
	return fyne.NewSize(w, dp(28))
}

func (s *segments) arrange(size fyne.Size) {
	put(s.back, 0, 0, size.Width, size.Height)
	x := dp(2)
	for _, it := range s.items {
		w := it.least().Width
		put(it, x, dp(2), w, size.Height-dp(4))
		x += w
	}
}

type segment struct {
	control
	of    *segments
	index int
	back  *canvas.Rectangle
	text  *label
}

var _ drawn = (*segment)(nil)

func newSegment(of *segments, i int, word string, change func(int)) *segment {
	s := &segment{of: of, index: i, back: newRect(6), text: newLabel(word, colorInk2, 13, regular)}
	s.onTap = func() {
		of.at = i
		of.Refresh()
		for _, it := range of.items {
			it.Refresh()
		}
		change(i)
	}
	s.parts = []fyne.CanvasObject{s.back, s.text.Text}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer builds the drawing.
func (s *segment) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

func (s *segment) paint() {
	s.back.FillColor, s.back.StrokeWidth, s.back.CornerRadius = color.Transparent, 0, dp(6)
	token := colorInk2
	if s.of.at == s.index {
		s.back.FillColor = themeColor(colorSurface)
		s.back.StrokeColor, s.back.StrokeWidth = themeColor(colorLine), 1
		token = colorInk
	}
	if s.focused {
		s.back.StrokeColor, s.back.StrokeWidth = themeColor(colorAccent), 1.5
	}
	s.text.recolor(token, regular)
}

func (s *segment) least() fyne.Size { return fyne.NewSize(s.text.width()+dp(20), dp(24)) }

func (s *segment) arrange(size fyne.Size) {
	put(s.back, 0, 0, size.Width, size.Height)
	w := s.text.width()
	s.text.place((size.Width-w)/2, 0, w+1, size.Height)
}
