package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"clefbar/engine"
	"clefbar/ui/document"
)

// The heights of a card's parts and its stroke.
const (
	cardStroke   = 1
	cardHead     = 44
	cardFoot     = 34
	axisHeight   = 44
	axisGap      = 4
	adviceHeight = 40
	twoLineWidth = 720 // a card this wide or less writes its rows in two lines
)

// cardView is what a card shows: one question, its answer, and what is wrong or
// worth saying about it.
type cardView struct {
	question  document.Question
	number    int
	verdict   *verdict // nil: no answer yet
	stale     bool
	practice  bool
	guessing  bool // a practice model whose yes or no is near guessing
	threshold float64
	problems  []document.Problem // of this question, blocking first, then advice
}

// card is one question: the row you edit is the row you read. Only rows that can
// be seen exist as objects.
type card struct {
	figure
	page   *page
	view   cardView
	behind bool    // view is not drawn yet
	wide   float32 // width of the bar column, the same in all cards

	back      *canvas.Rectangle
	head      *cardHeader
	rows      map[document.Key]*row
	shown     []*row // in order, the visible ones
	seen      span1  // visible part of the card, in its own coordinates
	answer    *leanRow
	scale     *axisRow
	foot      *cardFooter
	advice    *adviceLine
	body      *inline // the entry of rows
	title     *inline // the entry of the title
	ident     *inline // the entry of the id
	cell      *cell   // being edited
	sides     bool    // what counts as yes and no is open
	lifted    *row
	dragged   float32 // how far the lifted row has moved
	insert    *canvas.Rectangle
	insertDot *canvas.Circle
}

// span1 is a stretch of the page, top to bottom.
type span1 struct{ from, to float32 }

var _ drawn = (*card)(nil)

func newCard(p *page) *card {
	c := &card{page: p, back: newRect(10), rows: map[document.Key]*row{}, wide: barWidth}
	c.insert, c.insertDot = newRect(1), &canvas.Circle{}
	c.head = newCardHeader(c)
	c.answer = newLeanRow(c)
	c.scale = newAxisRow()
	c.foot = newCardFooter(c)
	c.advice = newAdviceLine(c)
	c.body = newInline(c, 13, regular)
	c.title = newInline(c, 15, bold)
	c.ident = newInline(c, 11, mono)
	c.ExtendBaseWidget(c)
	c.collect()
	return c
}

// CreateRenderer builds the drawing.
func (c *card) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

// set shows a question. A card out of sight takes the news when it comes into sight.
func (c *card) set(v cardView) {
	if v.question.Kind != engine.Noul {
		c.sides = false
	}
	c.view, c.behind = v, true
	c.advice.set(v.problems)
	if c.inSight() {
		c.catchUp()
	}
}

// nearby is how far from sight a card may be and still be up to date.
const nearby = 800

func (c *card) inSight() bool {
	return c.Size().Height == 0 || c.seen.to > -dp(nearby) && c.seen.from < c.Size().Height+dp(nearby)
}

// catchUp draws what set was given.
func (c *card) catchUp() {
	if !c.behind {
		return
	}
	c.behind = false
	v := c.view
	c.head.set(v)
	c.foot.set(v, c.footHint(), c.sides)
	c.answer.set(v)
	c.scale.set(v)
	c.dropRows()
	for _, r := range c.shown {
		c.fillRow(r)
	}
	c.place()
	c.Refresh()
}

// listed are the rows that the card lists: for a yes-or-no question only on
// request.
func (c *card) listed() []document.Option {
	if c.view.question.Kind == engine.Noul && !c.sides {
		return nil
	}
	return c.view.question.Options
}

// dropRows forgets rows whose option is gone.
func (c *card) dropRows() {
	alive := map[document.Key]bool{}
	for _, o := range c.listed() {
		alive[o.Key] = true
	}
	for k, r := range c.rows {
		if !alive[k] && r != c.lifted {
			delete(c.rows, k)
		}
	}
}

func (c *card) fillRow(r *row) {
	o, ok := c.view.question.Option(r.key)
	if !ok {
		return
	}
	answer := rowAnswer{p: noValue} // a side of yes or no has its answer in the leaning bar
	if c.view.question.Kind != engine.Noul {
		answer = c.view.verdict.of(r.key, c.view.stale)
	}
	r.set(&c.view.question, *o, answer, c.view.threshold, c.broken(r.key))
}

// broken returns the sentence of a blocking rule that a row breaks.
func (c *card) broken(k document.Key) string {
	for _, p := range c.view.problems {
		if !p.Blocks {
			continue
		}
		if p.Field.Option == k {
			return p.Sentence
		}
		for _, f := range p.Also {
			if f.Option == k {
				return p.Sentence
			}
		}
	}
	return ""
}

// columns returns where the rows' bars stand at a width of the card.
func (c *card) columns(width float32) columns {
	inner := width - 2*cardStroke
	if width <= dp(twoLineWidth) {
		x := dp(nameX)
		return columns{width: inner, barX: x, barW: max(dp(96), inner-x-dp(padRight)), twoLines: true}
	}
	x := inner - dp(padRight+numberWidth) - c.wide
	return columns{width: inner, barX: x, barW: c.wide}
}

func (c *card) rowHeight() float32 { return c.rowHeightAt(c.Size().Width) }

func (c *card) rowHeightAt(width float32) float32 {
	if c.view.question.Kind != engine.Noul && c.columns(width).twoLines {
		return dp(rowTwoLines)
	}
	return dp(rowHeight)
}

// rowsTop is where the listed rows begin, and rowsEnd where they end.
func (c *card) rowsTop() float32 { return c.rowsTopAt(c.Size().Width) }

func (c *card) rowsTopAt(width float32) float32 {
	top := cardStroke + dp(cardHead)
	if c.view.question.Kind == engine.Noul {
		top += c.answer.heightAt(c.columns(width))
	}
	return top
}

func (c *card) rowsEndAt(width float32) float32 {
	return c.rowsTopAt(width) + float32(len(c.listed()))*c.rowHeightAt(width)
}

func (c *card) paint() {
	c.back.CornerRadius = dp(10)
	c.back.FillColor = themeColor(colorSurface)
	c.back.StrokeColor, c.back.StrokeWidth = themeColor(colorLine), cardStroke
	if c.cell != nil || c.lifted != nil {
		c.back.StrokeColor, c.back.StrokeWidth = themeColor(colorAccent), 1.5
	}
	c.insert.FillColor = themeColor(colorAccent)
	c.insertDot.FillColor = themeColor(colorAccent)
}

func (c *card) least() fyne.Size { return fyne.NewSize(dp(400), c.heightAt(c.Size().Width)) }

// heightAt is the card's height at a width: narrow cards have taller rows.
func (c *card) heightAt(width float32) float32 {
	h := c.rowsEndAt(width) + dp(cardFoot) + cardStroke
	if c.view.question.Kind == engine.Score {
		h += dp(axisGap) + dp(axisHeight)
	}
	if c.advice.visible() {
		h += dp(adviceHeight)
	}
	return h
}

func (c *card) arrange(size fyne.Size) {
	put(c.back, 0, 0, size.Width, size.Height)
	cols := c.columns(size.Width)
	c.head.wide = !cols.twoLines
	put(c.head, cardStroke, cardStroke, cols.width, dp(cardHead))
	isNoul, isScore := c.view.question.Kind == engine.Noul, c.view.question.Kind == engine.Score
	show(c.answer, isNoul)
	c.answer.cols = cols
	put(c.answer, cardStroke, cardStroke+dp(cardHead), cols.width, c.answer.heightAt(cols))
	c.place()
	y := c.rowsEndAt(size.Width)
	show(c.scale, isScore)
	if isScore {
		y += dp(axisGap)
		c.scale.cols = cols
		put(c.scale, cardStroke, y, cols.width, dp(axisHeight))
		c.scale.Refresh()
		y += dp(axisHeight)
	}
	put(c.foot, cardStroke, y, cols.width, dp(cardFoot))
	y += dp(cardFoot)
	show(c.advice, c.advice.visible())
	put(c.advice, cardStroke, y, cols.width, dp(adviceHeight))
	c.placeField()
	c.placeLifted()
}

// setSeen tells the card which part of it can be seen.
func (c *card) setSeen(from, to float32) {
	if c.seen == (span1{from, to}) {
		return
	}
	c.seen = span1{from, to}
	if c.inSight() {
		c.catchUp()
		c.place()
	}
}

// overscan is how many rows exist beyond the visible ones.
const overscan = 4

// place makes the visible rows exist, in their places, and no others.
func (c *card) place() {
	list, h, top := c.listed(), c.rowHeight(), c.rowsTop()
	first := max(0, int((c.seen.from-top)/h)-overscan)
	last := min(len(list), int((c.seen.to-top)/h)+1+overscan)
	cols := c.columns(c.Size().Width)
	before := len(c.shown)
	changed := false
	shown := make([]*row, 0, max(0, last-first))
	from, to := c.dragSpan()
	for i := first; i < last; i++ {
		r, ok := c.rows[list[i].Key]
		if !ok {
			r = newRow(c, list[i].Key)
			c.rows[r.key] = r
			c.fillRow(r)
			changed = true
		}
		if len(shown) < before && c.shown[len(shown)] != r {
			changed = true
		}
		shown = append(shown, r)
		r.cols = cols
		if r != c.lifted {
			put(r, cardStroke, top+float32(displaced(i, from, to))*h, cols.width, h)
			r.arrange(r.Size())
		}
	}
	if changed || len(shown) != before {
		c.shown = shown
		c.collect()
	}
}

// collect lists what is drawn, back to front; Tab walks the same order.
func (c *card) collect() {
	parts := []fyne.CanvasObject{c.back, c.head, c.answer}
	for _, r := range c.shown {
		if r != c.lifted {
			parts = append(parts, r)
		}
	}
	parts = append(parts, c.scale, c.foot, c.advice)
	for _, e := range []*inline{c.title, c.ident, c.body} {
		parts = append(parts, e.frame, e.shell)
	}
	if c.lifted != nil {
		parts = append(parts, c.insert, c.insertDot, c.lifted)
	}
	c.parts = parts
}
