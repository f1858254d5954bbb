package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
)

const (
	headHeight  = 46 // the line with "Questions" and the threshold
	cardGap     = 12
	columnEnd   = 24
	columnTop   = 4 // scrolled with the cards, so that a card's stroke is never cut
	updatingBar = 240
)

// questionsPane is the right side: its head line, which stays, and the cards, which
// scroll.
type questionsPane struct {
	figure
	page      *page
	back      *canvas.Rectangle
	title     *label
	add       *button
	updating  *label
	progress  *canvas.Rectangle
	legend    *legend
	threshold *thresholdButton
	column    *column
	scroll    *container.Scroll
	empty     *emptyPage
}

var _ drawn = (*questionsPane)(nil)

func newQuestionsPane(p *page) *questionsPane {
	q := &questionsPane{page: p, back: newRect(0), progress: newRect(1)}
	q.title = newLabel("Questions", colorInk, 13, bold)
	q.add = newButton(rankLink, "plus", "Question", nil)
	q.add.onTap = func() { openPopMenu(q.add, p.questionRows()) }
	q.updating = newLabel("Updating…", colorInk3, 12, regular)
	q.legend = newLegend()
	q.threshold = newThresholdButton(p)
	q.column = newColumn()
	q.scroll = container.NewVScroll(q.column)
	q.scroll.OnScrolled = func(fyne.Position) { q.seen() }
	q.empty = newEmptyPage(p)
	q.parts = []fyne.CanvasObject{
		q.back, q.title.Text, q.add, q.updating.Text, q.legend, q.threshold, q.scroll, q.empty, q.progress,
	}
	q.ExtendBaseWidget(q)
	q.setUpdating(false)
	return q
}

// CreateRenderer builds the drawing.
func (q *questionsPane) CreateRenderer() fyne.WidgetRenderer { return newDrawing(q) }

func (q *questionsPane) setUpdating(on bool) {
	show(q.updating.Text, on)
	show(q.progress, on)
}

// showCards lists what scrolls: a notice, if there is one, and the cards. Without a
// question the page of a new case stands below.
func (q *questionsPane) showCards(items []stacked, empty bool) {
	q.column.set(items)
	q.scroll.Refresh()
	show(q.empty, empty)
	for _, o := range []fyne.CanvasObject{q.title.Text, q.add, q.threshold} {
		show(o, !empty)
	}
	show(q.scroll, len(items) > 0)
	q.arrange(q.Size())
	q.Refresh()
}

func (q *questionsPane) paint() {
	q.back.FillColor = themeColor(colorBg)
	q.progress.FillColor = themeColor(colorAccent)
	q.title.paint()
	q.updating.paint()
}

func (q *questionsPane) least() fyne.Size { return fyne.NewSize(dp(440), dp(200)) }

func (q *questionsPane) arrange(size fyne.Size) {
	put(q.back, 0, 0, size.Width, size.Height)
	put(q.progress, size.Width*0.18, 0, min(dp(updatingBar), size.Width*0.6), dp(2))
	head := dp(headHeight)
	x := dp(questionsIn + 4)
	x += q.title.place(x, dp(2), dp(120), head) + dp(12)
	x += placeMiddleAt(q.add, x, dp(1), head) + dp(12)
	q.updating.place(x, dp(2), dp(120), head)
	top := head - dp(columnTop)
	rest := max(0, size.Height-top)
	if q.empty.Visible() {
		top = dp(questionsIn - columnTop)
		rest = 0
		if q.scroll.Visible() {
			rest = q.column.least().Height
		}
		put(q.empty, 0, rest, size.Width, size.Height-rest)
	}
	put(q.scroll, 0, top, size.Width, rest)
	q.placeThreshold(size.Width, x)
	q.seen()
}

// placeThreshold puts the header exactly over the ticks of the bars.
func (q *questionsPane) placeThreshold(width, free float32) {
	cols := q.page.columnsAt(width - 2*dp(questionsIn))
	tick := dp(questionsIn) + cardStroke + cols.barX + cols.barW*float32(q.page.settings.Threshold)
	s := q.threshold.least()
	x := min(tick-q.threshold.tickX(), width-s.Width-dp(4))
	put(q.threshold, x, (dp(headHeight)-s.Height)/2+dp(2), s.Width, s.Height)
	l := q.legend.least()
	fits := q.page.legendShown() && x-dp(24)-l.Width > free && !q.updating.Text.Visible()
	show(q.legend, fits && q.threshold.Visible())
	put(q.legend, x-dp(44)-l.Width, dp(2), l.Width, dp(headHeight))
}

// seen tells the cards which part of them can be seen.
func (q *questionsPane) seen() {
	q.column.setSeen(q.scroll.Offset.Y, q.scroll.Offset.Y+q.scroll.Size().Height)
}

// reveal scrolls so that a stretch of the column can be seen.
func (q *questionsPane) reveal(y, height float32) {
	view := q.scroll.Size().Height
	switch {
	case y < q.scroll.Offset.Y:
		q.scroll.ScrollToOffset(fyne.NewPos(0, max(0, y-dp(cardHead))))
	case y+height > q.scroll.Offset.Y+view:
		q.scroll.ScrollToOffset(fyne.NewPos(0, y+height-view+dp(cardHead)))
	}
	q.seen()
}

// stacked is what the column holds: it knows its height at a width and may care
// which part of it can be seen.
type stacked interface {
	fyne.CanvasObject
	heightAt(width float32) float32
	setSeen(from, to float32)
}

// column stacks cards at one width, 12 apart.
type column struct {
	figure
	items []stacked
	view  span1
}

var _ drawn = (*column)(nil)

func newColumn() *column {
	c := &column{}
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *column) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *column) set(items []stacked) {
	c.items, c.parts = items, nil
	for _, it := range items {
		c.parts = append(c.parts, it)
	}
	c.Refresh()
}

func (c *column) paint() {}

func (c *column) least() fyne.Size {
	width := c.Size().Width - 2*dp(questionsIn)
	h := dp(columnTop + columnEnd)
	for _, it := range c.items {
		h += it.heightAt(width) + dp(cardGap)
	}
	return fyne.NewSize(dp(400), h-dp(cardGap))
}

func (c *column) arrange(size fyne.Size) {
	y, width := dp(columnTop), size.Width-2*dp(questionsIn)
	for _, it := range c.items {
		h := it.heightAt(width)
		put(it, dp(questionsIn), y, width, h)
		it.setSeen(c.view.from-y, c.view.to-y)
		y += h + dp(cardGap)
	}
}

func (c *column) setSeen(from, to float32) {
	c.view = span1{from, to}
	for _, it := range c.items {
		y := it.Position().Y
		it.setSeen(from-y, to-y)
	}
}

// legend explains disc and ring, once, above the bars.
type legend struct {
	figure
	disc, ring   *mark
	clears, lead *label
}

var _ drawn = (*legend)(nil)

func newLegend() *legend {
	l := &legend{disc: newMark(), ring: newMark()}
	l.disc.set(markDisc, false)
	l.ring.set(markRing, false)
	l.clears = newLabel("clears the threshold", colorInk3, 12, regular)
	l.lead = newLabel("leads, but below it", colorInk3, 12, regular)
	l.parts = []fyne.CanvasObject{l.disc.Circle, l.clears.Text, l.ring.Circle, l.lead.Text}
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer builds the drawing.
func (l *legend) CreateRenderer() fyne.WidgetRenderer { return newDrawing(l) }

func (l *legend) paint() {
	l.disc.paint()
	l.ring.paint()
	l.clears.paint()
	l.lead.paint()
}

func (l *legend) least() fyne.Size {
	return fyne.NewSize(dp(16)+l.clears.width()+dp(12+16)+l.lead.width(), dp(20))
}

func (l *legend) arrange(size fyne.Size) {
	l.disc.place(dp(5), size.Height/2)
	x := dp(16)
	x += l.clears.place(x, 0, size.Width, size.Height) + dp(12)
	l.ring.place(x+dp(5), size.Height/2)
	l.lead.place(x+dp(16), 0, size.Width, size.Height)
}
