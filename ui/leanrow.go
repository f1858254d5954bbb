package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"clefbar/ui/document"
)

// leanRow is the answer of a yes-or-no question: the likelier side by name, what
// it means, the leaning bar, and that side's own probability.
type leanRow struct {
	figure
	cols columns
	view cardView

	mark   *mark
	name   *label
	desc   *cell
	bar    *lean
	number *label
}

var (
	_ drawn             = (*leanRow)(nil)
	_ desktop.Hoverable = (*leanRow)(nil)
)

func newLeanRow(c *card) *leanRow {
	r := &leanRow{mark: newMark(), bar: newLean()}
	r.name = newLabel("", colorInk, 13, regular)
	r.desc = newCell(c, "", colorInk2, 13, regular)
	r.number = newLabel("–", colorInk2, 13, regular)
	r.parts = []fyne.CanvasObject{r.mark.Circle, r.name.Text, r.desc, r.bar, r.number.Text}
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer builds the drawing.
func (r *leanRow) CreateRenderer() fyne.WidgetRenderer { return newDrawing(r) }

// side returns the option that the row names: the likelier one.
func (r *leanRow) side() (name string, p float64, key document.Key) {
	v := r.view.verdict
	switch {
	case v == nil:
		return "Yes or no", noValue, document.KeyTrue
	case v.Noul >= 0.5:
		return "Yes", v.Noul, document.KeyTrue
	}
	return "No", 1 - v.Noul, document.KeyFalse
}

func (r *leanRow) set(v cardView) {
	r.view = v
	name, p, key := r.side()
	style, t := regular, toneLead
	if p != noValue {
		style = bold
	}
	if v.stale {
		t = toneStale
	}
	r.name.set(name)
	r.name.recolor(colorInk, style)
	r.number.set("–")
	yes := float64(noValue)
	kind := markNone
	if p != noValue {
		r.number.set(probability(p))
		yes = v.verdict.Noul
		kind = markRing
		if p >= v.threshold {
			kind = markDisc
		}
	}
	r.bar.set(yes, t, v.threshold)
	r.mark.set(kind, v.stale)
	text := document.Text{}
	if o, ok := v.question.Option(key); ok {
		text = o.Description
	}
	r.desc.set(document.Field{Part: document.PartDescription, Question: v.question.Key, Option: key}, text.Text, text.Locked(), colorInk2, regular)
	r.Refresh()
}

func (r *leanRow) paint() {
	token, style := colorInk2, regular
	if _, p, _ := r.side(); p != noValue && !r.view.stale {
		token, style = colorInk, bold
	}
	r.number.recolor(token, style)
	r.name.paint()
	r.mark.paint()
}

func (r *leanRow) heightAt(cols columns) float32 {
	if cols.twoLines {
		return dp(32 + 34)
	}
	return dp(leanHeight)
}

func (r *leanRow) least() fyne.Size { return fyne.NewSize(dp(320), r.heightAt(r.cols)) }

func (r *leanRow) arrange(size fyne.Size) {
	textH := size.Height
	barY := size.Height / 2
	right := r.cols.barX - dp(descGap)
	if r.cols.twoLines {
		textH = dp(32)
		barY = dp(36)
		right = size.Width - dp(padRight+numberWidth)
	}
	r.mark.place(dp(markX), textH/2)
	r.name.place(dp(nameX), 0, dp(descX-nameX-8), textH)
	put(r.desc, dp(descX), (textH-dp(28))/2, max(0, right-dp(descX)), dp(28))
	r.number.placeRight(size.Width-dp(padRight), 0, dp(numberWidth), textH)
	barH := dp(barHeight + 2*tickReach)
	put(r.bar, r.cols.barX, barY-barH/2, r.cols.barW, barH)
}

// MouseIn may show the exact figure.
func (r *leanRow) MouseIn(e *desktop.MouseEvent) { r.MouseMoved(e) }

// MouseMoved shows the exact figure over bar and number.
func (r *leanRow) MouseMoved(e *desktop.MouseEvent) {
	v := r.view.verdict
	if v == nil || e.Position.X < r.cols.barX {
		hideTip(r)
		return
	}
	showTip(r, "p(yes) "+exact(v.Noul)+"\np(no) "+exact(1-v.Noul), e.AbsolutePosition)
}

// MouseOut takes the figure away.
func (r *leanRow) MouseOut() { hideTip(r) }
