package ui

import (
	"fyne.io/fyne/v2"
)

// sideBlock is one thing to know: a title and sentences.
type sideBlock struct {
	title string
	lines []string
}

// sheetSide is the column beside a sheet's text.
type sheetSide struct {
	figure
	blocks []sideBlock
	titles []*label
	texts  []*paragraph
}

var _ drawn = (*sheetSide)(nil)

func newSheetSide() *sheetSide {
	s := &sheetSide{}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer builds the drawing.
func (s *sheetSide) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

func (s *sheetSide) set(blocks []sideBlock) {
	s.blocks, s.titles, s.texts, s.parts = blocks, nil, nil, nil
	for _, b := range blocks {
		t := newLabel(b.title, colorInk, 13, bold)
		s.titles = append(s.titles, t)
		s.parts = append(s.parts, t.Text)
		for _, line := range b.lines {
			p := newParagraph(line, colorInk2, 13)
			s.texts = append(s.texts, p)
			s.parts = append(s.parts, p)
		}
	}
	s.Refresh()
}

func (s *sheetSide) paint() {
	for _, t := range s.titles {
		t.paint()
	}
}

func (s *sheetSide) least() fyne.Size { return fyne.NewSize(0, 0) }

// heightAt is the height that everything takes at a width.
func (s *sheetSide) heightAt(width float32) float32 { return s.column(width, nil) }

func (s *sheetSide) arrange(size fyne.Size) {
	s.column(size.Width, func(o fyne.CanvasObject, y, h float32) {
		put(o, dp(sidePad), y, size.Width-dp(28), h)
		show(o, y+h <= size.Height)
	})
}

const sidePad = 16

// column goes through titles and texts from top to bottom and returns the height.
// place is told where each text stands; titles are placed at once when it is set.
func (s *sheetSide) column(width float32, place func(o fyne.CanvasObject, y, h float32)) float32 {
	y, room := dp(12), width-dp(28)
	next := 0
	for i, b := range s.blocks {
		if place != nil {
			s.titles[i].place(dp(sidePad), y, room, dp(20))
		}
		y += dp(25)
		for range b.lines {
			p := s.texts[next]
			next++
			h := p.heightAt(room)
			if place != nil {
				place(p, y, h)
			}
			y += h
		}
		y += dp(15)
	}
	return y
}
