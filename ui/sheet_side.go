package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// sideBlock is one thing to know: a title, sentences, bars.
type sideBlock struct {
	title string
	lines []string
	bars  []sideBar
}

// sideBar is a probability with its name.
type sideBar struct {
	name  string
	value float64
	leads bool
}

// sheetSide is the column beside a sheet's text.
type sheetSide struct {
	figure
	blocks []sideBlock
	titles []*label
	texts  []*paragraph
	bars   []*sideBarRow
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
	s.blocks, s.titles, s.texts, s.bars, s.parts = blocks, nil, nil, nil, nil
	for _, b := range blocks {
		t := newLabel(b.title, colorInk, 13, bold)
		s.titles = append(s.titles, t)
		s.parts = append(s.parts, t.Text)
		for _, line := range b.lines {
			p := newParagraph(line, colorInk2, 13)
			s.texts = append(s.texts, p)
			s.parts = append(s.parts, p)
		}
		for _, bar := range b.bars {
			r := newSideBarRow(bar)
			s.bars = append(s.bars, r)
			s.parts = append(s.parts, r)
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

const (
	sidePad   = 16
	sideBarAt = 22 // height of a bar's row
)

// column goes through everything from top to bottom and returns the height. place,
// if given, is told where each text and bar stands; titles are placed on the way.
func (s *sheetSide) column(width float32, place func(o fyne.CanvasObject, y, h float32)) float32 {
	y, room := dp(12), width-dp(28)
	put := func(o fyne.CanvasObject, h float32) {
		if place != nil {
			place(o, y, h)
		}
		y += h
	}
	text, bar := 0, 0
	for i, b := range s.blocks {
		if place != nil {
			s.titles[i].place(dp(sidePad), y, room, dp(20))
		}
		y += dp(25)
		for range b.lines {
			put(s.texts[text], s.texts[text].heightAt(room))
			text++
		}
		for range b.bars {
			put(s.bars[bar], dp(sideBarAt))
			bar++
		}
		y += dp(15)
	}
	return y
}

// sideBarRow draws one probability: name, bar, number.
type sideBarRow struct {
	figure
	what         sideBar
	name, number *label
	track, fill  *canvas.Rectangle
}

var _ drawn = (*sideBarRow)(nil)

func newSideBarRow(b sideBar) *sideBarRow {
	style := regular
	if b.leads {
		style = bold
	}
	r := &sideBarRow{what: b, track: newRect(2), fill: newRect(2)}
	r.name, r.number = newLabel(b.name, colorInk, 12, style), newLabel(probability(b.value), colorInk2, 12, style)
	r.parts = []fyne.CanvasObject{r.name.Text, r.track, r.fill, r.number.Text}
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer builds the drawing.
func (r *sideBarRow) CreateRenderer() fyne.WidgetRenderer { return newDrawing(r) }

func (r *sideBarRow) paint() {
	r.track.FillColor, r.fill.FillColor = themeColor(colorTrack), themeColor(colorFill2)
	if r.what.leads {
		r.fill.FillColor = themeColor(colorAccent)
	}
	r.name.paint()
	r.number.paint()
}

func (r *sideBarRow) least() fyne.Size { return fyne.NewSize(dp(120), dp(sideBarAt)) }

func (r *sideBarRow) arrange(size fyne.Size) {
	number, gap := dp(32), dp(8)
	name := (size.Width - number - 2*gap) / 2
	track := size.Width - name - number - 2*gap
	r.name.place(0, 0, name, size.Height)
	r.number.placeRight(size.Width, 0, number, size.Height)
	put(r.track, name+gap, (size.Height-dp(6))/2, track, dp(6))
	put(r.fill, name+gap, (size.Height-dp(6))/2, max(dp(3), track*float32(r.what.value)), dp(6))
}
