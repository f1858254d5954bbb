package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"

	"clefbar/engine"
)

// emptySamples is how many samples the page of a new case offers.
const emptySamples = 6

// emptyPage is the right side of a new case: three kinds of question, six samples.
type emptyPage struct {
	figure
	title *label
	note  *label
	kinds []*button
	cards []*sampleCard
	all   *button
}

var _ drawn = (*emptyPage)(nil)

func newEmptyPage(p *page) *emptyPage {
	e := &emptyPage{}
	e.title = newLabel("What should be decided?", colorInk, 20, bold)
	e.note = newLabel("Start with a question of your own, or open a sample and change it.", colorInk2, 13, regular)
	e.parts = []fyne.CanvasObject{e.title.Text, e.note.Text}
	for _, k := range []engine.Kind{engine.Choice, engine.Score, engine.Noul} {
		b := newButton(rankOutline, "plus", kindName(k), func() { p.addQuestion(k) })
		e.kinds = append(e.kinds, b)
		e.parts = append(e.parts, b)
	}
	for i, s := range p.deps.Samples {
		if i == emptySamples {
			break
		}
		c := newSampleCard(s, func() { p.openSample(s) })
		e.cards = append(e.cards, c)
		e.parts = append(e.parts, c)
	}
	e.all = newButton(rankLink, "", "All "+plural(len(p.deps.Samples), "sample", "samples"), nil)
	e.all.onTap = func() { openPopMenu(e.all, p.sampleRows()) }
	e.parts = append(e.parts, e.all)
	e.ExtendBaseWidget(e)
	return e
}

// CreateRenderer builds the drawing.
func (e *emptyPage) CreateRenderer() fyne.WidgetRenderer { return newDrawing(e) }

func (e *emptyPage) paint() {
	e.title.paint()
	e.note.paint()
}

func (e *emptyPage) least() fyne.Size { return fyne.NewSize(dp(400), dp(200)) }

func (e *emptyPage) arrange(size fyne.Size) {
	cardW, gap := dp(208), dp(12)
	cardH := dp(70)
	for _, c := range e.cards {
		cardH = max(cardH, c.heightAt(cardW))
	}
	perRow := min(3, max(1, int((size.Width-dp(32)+gap)/(cardW+gap))))
	fixed := dp(28 + 8 + 20 + 24 + 32 + 32 + 32)
	rows := (len(e.cards) + perRow - 1) / perRow
	rows = min(rows, max(0, int((size.Height-fixed-dp(16))/(cardH+gap)))) // the rest is behind "All samples"
	height := fixed + float32(rows)*(cardH+gap)
	y := max(dp(16), (size.Height-height)/2-dp(10))
	center := size.Width / 2
	w := min(e.title.width(), size.Width-dp(32))
	e.title.place(center-w/2, y, w+1, dp(28))
	y += dp(36)
	w = min(e.note.width(), size.Width-dp(32))
	e.note.place(center-w/2, y, w+1, dp(20))
	y += dp(44)
	y = e.placeKinds(center, y) + dp(32)
	total := float32(perRow)*cardW + float32(perRow-1)*gap
	for i, c := range e.cards {
		show(c, i/perRow < rows)
		x := center - total/2 + float32(i%perRow)*(cardW+gap)
		put(c, x, y+float32(i/perRow)*(cardH+gap), cardW, cardH)
	}
	y += float32(rows) * (cardH + gap)
	show(e.all, len(e.cards) > 0)
	s := e.all.least()
	put(e.all, center-s.Width/2, y+dp(1), s.Width, s.Height)
}

func (e *emptyPage) placeKinds(center, y float32) float32 {
	total := -dp(8)
	for _, b := range e.kinds {
		total += b.least().Width + dp(8) + dp(8)
	}
	x := center - total/2
	for _, b := range e.kinds {
		w := b.least().Width + dp(8)
		put(b, x, y, w, dp(32))
		x += w + dp(8)
	}
	return y + dp(32)
}

// sampleCard offers one sample.
type sampleCard struct {
	control
	back  *canvas.Rectangle
	title *label
	note  *paragraph
}

var (
	_ drawn             = (*sampleCard)(nil)
	_ desktop.Hoverable = (*sampleCard)(nil)
)

func newSampleCard(s Sample, open func()) *sampleCard {
	c := &sampleCard{back: newRect(10)}
	c.title = newLabel(s.Title, colorInk, 13, bold)
	c.note = newParagraph(s.Note, colorInk2, 13)
	c.onTap = open
	c.parts = []fyne.CanvasObject{c.back, c.title.Text, c.note}
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *sampleCard) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *sampleCard) paint() {
	c.back.CornerRadius = dp(10)
	c.back.FillColor = themeColor(colorSurface)
	c.back.StrokeColor, c.back.StrokeWidth = themeColor(colorLine), 1
	if c.hovered {
		c.back.FillColor = themeColor(colorRaised)
	}
	if c.focused {
		c.back.StrokeColor, c.back.StrokeWidth = themeColor(colorAccent), 1.5
	}
	c.title.paint()
}

func (c *sampleCard) heightAt(width float32) float32 { return dp(50) + c.note.heightAt(width-dp(32)) }

func (c *sampleCard) least() fyne.Size { return fyne.NewSize(dp(208), dp(70)) }

func (c *sampleCard) arrange(size fyne.Size) {
	put(c.back, 0, 0, size.Width, size.Height)
	c.title.place(dp(16), dp(14), size.Width-dp(32), dp(20))
	put(c.note, dp(16), dp(35), size.Width-dp(32), c.note.heightAt(size.Width-dp(32)))
}
