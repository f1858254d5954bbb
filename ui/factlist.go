package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
)

// fact is one line of a list of facts: a mark where there is one, a name, and what there is to say, wrapped.
type fact struct {
	icon  string // "" for none
	tone  fyne.ThemeColorName
	name  string
	text  string
	title bool // the heading of what follows
}

// factList shows facts under each other and scrolls.
type factList struct {
	figure
	scroll *container.Scroll
	column *factColumn
}

var _ drawn = (*factList)(nil)

func newFactList(facts []fact) *factList {
	l := &factList{column: newFactColumn(facts)}
	l.scroll = container.NewVScroll(l.column)
	l.parts = []fyne.CanvasObject{l.scroll}
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer builds the drawing.
func (l *factList) CreateRenderer() fyne.WidgetRenderer { return newDrawing(l) }

func (l *factList) paint() {}

func (l *factList) least() fyne.Size { return fyne.NewSize(dp(240), dp(120)) }

func (l *factList) arrange(size fyne.Size) {
	l.column.across = size.Width
	put(l.scroll, 0, 0, size.Width, size.Height)
	l.scroll.Refresh()
}

// factColumn is what a factList scrolls.
type factColumn struct {
	figure
	across float32
	rows   []factRow
}

// factRow is one fact as it is drawn.
type factRow struct {
	fact
	icon *icon
	name *label
	text *paragraph
	line *canvas.Rectangle // above it
}

var _ drawn = (*factColumn)(nil)

func newFactColumn(facts []fact) *factColumn {
	c := &factColumn{}
	for _, f := range facts {
		style := regular
		if f.title {
			style = bold
		}
		r := factRow{fact: f, name: newLabel(f.name, colorInk, 13, style), text: newParagraph(f.text, colorInk2, 13), line: newRect(0)}
		c.parts = append(c.parts, r.line, r.name.Text, r.text)
		if f.icon != "" {
			r.icon = newIcon(f.icon, f.tone)
			c.parts = append(c.parts, r.icon.Image)
		}
		c.rows = append(c.rows, r)
	}
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *factColumn) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *factColumn) paint() {
	for _, r := range c.rows {
		r.name.paint()
		r.line.FillColor = themeColor(colorLine)
		if r.icon != nil {
			r.icon.paint()
		}
	}
}

const (
	factMark = 44  // left edge of the names
	factText = 190 // and of what is said
	factPad  = 10
)

// rowHeight is the height of a fact in a list of this width.
func (c *factColumn) rowHeight(r factRow, width float32) float32 {
	return max(dp(20), r.said(width)+r.under()) + dp(2*factPad)
}

// said is the height of what is said in a list of this width.
func (r factRow) said(width float32) float32 {
	if r.fact.text == "" {
		return 0
	}
	return r.text.heightAt(width - r.left() - dp(20))
}

// under is how far the words of a heading stand below it.
func (r factRow) under() float32 {
	if r.title && r.fact.name != "" && r.fact.text != "" {
		return dp(22)
	}
	return 0
}

// left is where the words of a fact begin. Those of a heading stand under it.
func (r factRow) left() float32 {
	if r.title {
		return dp(20)
	}
	return dp(factText)
}

func (c *factColumn) least() fyne.Size {
	h := dp(8)
	for _, r := range c.rows {
		h += c.rowHeight(r, c.across)
	}
	return fyne.NewSize(dp(240), h)
}

func (c *factColumn) arrange(size fyne.Size) {
	y := float32(0)
	for i, r := range c.rows {
		h := c.rowHeight(r, size.Width)
		show(r.line, i > 0 && r.fact.name != "")
		put(r.line, dp(20), y, size.Width-dp(40), 1)
		top, x := y+dp(factPad), dp(20)
		if r.icon != nil {
			putIcon(r.icon, dp(28), top+dp(10))
			x = dp(factMark)
		}
		room := dp(factText) - x - dp(8)
		if r.title {
			room = size.Width - dp(40)
		}
		r.name.place(x, top, room, dp(20))
		put(r.text, r.left(), top+r.under(), size.Width-r.left()-dp(20), r.said(size.Width))
		y += h
	}
}
