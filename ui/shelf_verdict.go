package ui

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// verdictIn is how far the card of a check stands in from the row's edges.
const verdictIn = 16

// checking reports that a check is under way.
func (s Shelved) checking() bool { return s.Verdict != nil && s.Verdict.Running }

// checked reports that there is the result of a check.
func (s Shelved) checked() bool {
	return s.Verdict != nil && !s.Verdict.Running && (s.Stage == StageReady || s.Stage == StageOpen)
}

// verdictCard says what a check found, under the model that was checked: green when all holds, red when not. What is
// wrong stands there in full.
type verdictCard struct {
	figure
	row     *shelfRow
	verdict Verdict

	back       *canvas.Rectangle
	icon       *icon
	title      *label
	difference *label
	body       *paragraph
	again      *button
	repair     *button
	details    *button
	close      *iconButton
}

var _ drawn = (*verdictCard)(nil)

func newVerdictCard(r *shelfRow) *verdictCard {
	c := &verdictCard{row: r, back: newRect(10), icon: newIcon("check", colorGood)}
	c.title, c.difference = newLabel("", colorGood, 13, bold), newLabel("", colorInk2, 13, regular)
	c.body = newParagraph("", colorInk2, 13)
	store := func() (Shelf, string) { return r.shelf.shelf, r.model.ID }
	c.again = newButton(rankOutline, "", "Check again", func() { s, id := store(); s.Check(id) })
	c.repair = newButton(rankOutline, "get", "Get the files again", func() { s, id := store(); s.Repair(id) })
	c.details = newButton(rankOutline, "", "Details", func() { r.shelf.openFindings(r.model) })
	c.close = newIconButton("close", "Close", func() { r.folded = true; r.shelf.refresh() })
	c.parts = []fyne.CanvasObject{c.back, c.icon.Image, c.title.Text, c.difference.Text, c.body, c.again, c.repair, c.details, c.close}
	c.Hidden = true
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *verdictCard) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *verdictCard) set(v *Verdict) {
	if v == nil || v.Running {
		return
	}
	c.verdict = *v
	c.title.set("Everything holds")
	if !v.Good {
		c.title.set("This model does not hold")
	}
	c.difference.set(v.differenceText())
	c.body.set(v.Text)
	c.repair.setDisabled(c.row.machine.Offline)
	c.Refresh()
}

// differenceText tells the largest difference from the reference answers.
func (v Verdict) differenceText() string {
	if v.Compared == 0 {
		return ""
	}
	return fmt.Sprintf("Largest difference %.4f", v.Difference)
}

// tone is the colour of what was found, and of the ground under it.
func (v Verdict) tone() (ink, fill fyne.ThemeColorName, icon string) {
	if v.Good {
		return colorGood, colorGoodSoft, "check"
	}
	return colorRed, colorRedSoft, "alert"
}

func (c *verdictCard) paint() {
	ink, fill, name := c.verdict.tone()
	c.back.FillColor, c.back.CornerRadius = themeColor(fill), dp(10)
	c.icon.become(name, ink)
	c.title.token = ink
	c.title.paint()
	c.difference.paint()
}

const (
	verdictText = 40 // left edge of the words
	verdictHead = 36
)

func (c *verdictCard) heightAt(width float32) float32 {
	return dp(verdictHead) + c.body.heightAt(width-dp(verdictText+16)) + dp(10+buttonUsual+12)
}

func (c *verdictCard) least() fyne.Size {
	return fyne.NewSize(dp(300), c.heightAt(max(dp(300), c.Size().Width)))
}

func (c *verdictCard) arrange(size fyne.Size) {
	put(c.back, 0, 0, size.Width, size.Height)
	putIcon(c.icon, dp(22), dp(22))
	put(c.close, size.Width-dp(34), dp(6), dp(28), dp(28))
	right := size.Width - dp(44)
	at := dp(verdictText) + c.title.place(dp(verdictText), dp(12), right-dp(verdictText), dp(20)) + dp(12)
	c.difference.placeRight(right, dp(12), max(0, right-at), dp(20))
	w := size.Width - dp(verdictText+16)
	h := c.body.heightAt(w)
	put(c.body, dp(verdictText), dp(verdictHead), w, h)
	show(c.repair, c.verdict.Damaged)
	x := dp(verdictText)
	for _, b := range []*button{c.repair, c.again, c.details} {
		if b.Visible() {
			s := b.least()
			put(b, x, dp(verdictHead)+h+dp(10), s.Width, s.Height)
			x += s.Width + dp(8)
		}
	}
}
