package ui

import (
	"fyne.io/fyne/v2"
)

// liftX is how far a dragged row stands out to the right.
const liftX = 12

// drag lifts a row and moves it with the pointer.
func (c *card) drag(r *row, dy float32) {
	if c.lifted != r {
		c.finish()
		c.lifted, c.dragged = r, 0
		r.lifted = true
		r.Refresh()
		c.collect()
	}
	c.dragged += dy
	c.place()
	c.placeLifted()
	c.Refresh()
}

// target is the index at which the lifted row would be put in.
func (c *card) target() int {
	h := c.rowHeight()
	from := c.indexOf(c.lifted.key)
	middle := float32(from)*h + c.dragged + h/2
	return min(max(0, int(middle/h)), len(c.view.question.Options)-1)
}

// dragSpan is where the lifted row comes from and where it would go, -1 for none.
func (c *card) dragSpan() (from, to int) {
	if c.lifted == nil {
		return -1, -1
	}
	return c.indexOf(c.lifted.key), c.target()
}

// displaced is where row i stands while a row is dragged: the others make room.
func displaced(i, from, to int) int {
	switch {
	case from < 0:
	case from < i && i <= to:
		return i - 1
	case to <= i && i < from:
		return i + 1
	}
	return i
}

func (c *card) placeLifted() {
	show(c.insert, c.lifted != nil)
	show(c.insertDot, c.lifted != nil)
	if c.lifted == nil {
		return
	}
	h, top := c.rowHeight(), c.rowsTop()
	from := c.indexOf(c.lifted.key)
	if from < 0 {
		return
	}
	y := top + float32(from)*h + c.dragged
	c.lifted.Move(fyne.NewPos(cardStroke+dp(liftX), y))
	cols := c.columns(c.Size().Width)
	ly := top + float32(c.target())*h
	put(c.insert, cardStroke+dp(nameX), ly-dp(1), cols.width-dp(nameX+padRight), dp(2))
	put(c.insertDot, cardStroke+dp(nameX)-dp(4), ly-dp(4), dp(8), dp(8))
}

// drop puts the lifted row where the others have made room.
func (c *card) drop(r *row) {
	if c.lifted != r {
		return
	}
	to := c.target()
	c.lifted = nil
	r.lifted, r.hovered = false, false
	c.page.doc.MoveOption(c.view.question.Key, r.key, to)
	c.collect()
	c.place()
	r.Refresh()
	c.Refresh()
}
