package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"clefbar/ui/document"
)

// adviceLine is the line under a card: a broken rule with its way out, or what a
// careful colleague would say. Advice never blocks and can be waved away.
type adviceLine struct {
	figure
	card *card
	has  bool
	what document.Problem

	rule *canvas.Rectangle
	icon *icon
	text *label
	fix  *button
	not  *button
}

var _ drawn = (*adviceLine)(nil)

func newAdviceLine(c *card) *adviceLine {
	a := &adviceLine{card: c, rule: newRect(0), icon: newIcon("bulb", colorAccent)}
	a.text = newLabel("", colorInk2, 13, regular)
	a.fix = newButton(rankLink, "", "Add it", func() { c.page.fix(a.what) })
	a.not = newButton(rankMuted, "", "Not needed", func() { c.page.dismiss(a.what) })
	a.parts = []fyne.CanvasObject{a.rule, a.icon.Image, a.text.Text, a.fix, a.not}
	a.ExtendBaseWidget(a)
	return a
}

// CreateRenderer builds the drawing.
func (a *adviceLine) CreateRenderer() fyne.WidgetRenderer { return newDrawing(a) }

func (a *adviceLine) visible() bool { return a.has }

func (a *adviceLine) set(problems []document.Problem) {
	a.what, a.has = remarks(problems)
	a.text.set(a.what.Sentence)
	a.fix.set(rankLink, a.what.Fix, "")
	a.Refresh()
}

func (a *adviceLine) paint() {
	a.rule.FillColor = themeColor(colorLine)
	a.text.paint()
	if a.what.Blocks {
		a.icon.become("alert", colorRed)
	} else {
		a.icon.become("bulb", colorAccent)
	}
}

func (a *adviceLine) least() fyne.Size { return fyne.NewSize(dp(320), dp(adviceHeight)) }

func (a *adviceLine) arrange(size fyne.Size) {
	put(a.rule, 0, 0, size.Width, 1)
	putIcon(a.icon, dp(markX-8)+dp(8), size.Height/2)
	x := size.Width - dp(padRight-4)
	show(a.not, !a.what.Blocks)
	if !a.what.Blocks {
		x = placeLeftOf(a.not, x, size.Height) - dp(16)
	}
	show(a.fix, a.what.Fix != "")
	if a.what.Fix != "" {
		x = placeLeftOf(a.fix, x, size.Height) - dp(16)
	}
	a.text.place(dp(nameX+4), 0, max(0, x-dp(nameX+4)), size.Height)
}

// placeLeftOf puts a button so that it ends at x, in the middle of a height, and
// returns where it begins.
func placeLeftOf(b *button, x, height float32) float32 {
	s := b.least()
	put(b, x-s.Width, (height-s.Height)/2, s.Width, s.Height)
	return x - s.Width
}
