package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// noticeAction is one way out of what a notice says; the first is the safe one.
type noticeAction struct {
	text, extra string
	run         func()
}

// notice is the card above the questions when something is in the way: what is
// wrong, what it means, ways out.
type notice struct {
	title   string
	body    string
	bad     bool // red; otherwise it only informs
	actions []noticeAction
}

// noticeCard draws a notice.
type noticeCard struct {
	figure
	what    notice
	back    *canvas.Rectangle
	icon    *icon
	title   *label
	body    *paragraph
	buttons []*button
}

var (
	_ drawn   = (*noticeCard)(nil)
	_ stacked = (*noticeCard)(nil)
)

func newNoticeCard(n notice) *noticeCard {
	c := &noticeCard{what: n, back: newRect(10)}
	c.icon = newIcon("alert", colorRed)
	c.title = newLabel(n.title, colorInk, 15, bold)
	c.body = newParagraph(n.body, colorInk2, 13)
	c.parts = []fyne.CanvasObject{c.back, c.icon.Image, c.title.Text, c.body}
	for i, a := range n.actions {
		r := rankOutline
		if i == 0 {
			r = rankPrimary
		}
		b := newButton(r, "", a.text, a.run).withExtra(a.extra)
		c.buttons = append(c.buttons, b)
		c.parts = append(c.parts, b)
	}
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *noticeCard) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *noticeCard) setSeen(float32, float32) {}

func (c *noticeCard) paint() {
	c.back.FillColor = themeColor(colorSurface)
	c.back.StrokeColor, c.back.StrokeWidth = themeColor(colorLine), 1
	c.back.CornerRadius = dp(10)
	c.icon.become("bulb", colorAccent)
	if c.what.bad {
		c.back.StrokeColor = themeColor(colorRed)
		c.icon.become("alert", colorRed)
	}
	c.title.paint()
}

const noticeX = 47

// rowsOf places the buttons in rows and returns the height they take.
func (c *noticeCard) rowsOf(width float32, place bool, y float32) float32 {
	if len(c.buttons) == 0 {
		return 0
	}
	x, line := dp(noticeX), float32(0)
	for _, b := range c.buttons {
		s := b.least()
		if x > dp(noticeX) && x+s.Width > width-dp(20) {
			x, line = dp(noticeX), line+1
		}
		if place {
			put(b, x, y+line*dp(buttonUsual+8), min(s.Width, width-dp(noticeX+20)), s.Height)
		}
		x += s.Width + dp(8)
	}
	return (line+1)*dp(buttonUsual+8) - dp(8)
}

func (c *noticeCard) heightAt(width float32) float32 {
	h := dp(16+22+2) + c.body.heightAt(width-dp(noticeX+20)) + dp(17)
	if len(c.buttons) > 0 {
		h += dp(13) + c.rowsOf(width, false, 0)
	}
	return h
}

func (c *noticeCard) least() fyne.Size {
	return fyne.NewSize(dp(400), c.heightAt(max(dp(400), c.Size().Width)))
}

func (c *noticeCard) arrange(size fyne.Size) {
	put(c.back, 0, 0, size.Width, size.Height)
	put(c.icon.Image, dp(17), dp(19), dp(17), dp(17))
	c.title.place(dp(noticeX), dp(16), size.Width-dp(noticeX+20), dp(22))
	w := size.Width - dp(noticeX+20)
	h := c.body.heightAt(w)
	put(c.body, dp(noticeX), dp(42), w, h)
	c.rowsOf(size.Width, true, dp(42)+h+dp(11))
}
