package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"

	"clefbar/engine"
	"clefbar/ui/document"
)

// The columns of a row, in dp from the card's inner left edge: 16 pad, 20 mark, 132
// name, rest description, 248 bar, 56 number, 20 pad.
const (
	markX       = 21 // centre of the mark
	nameX       = 36
	descX       = 168
	levelTextX  = 56 // a level's text, after its number
	numberWidth = 56
	padRight    = 20
	descGap     = 16 // between description and bar
	rowHeight   = 36
	rowTwoLines = 50
	leanHeight  = 48
)

// columns is what a card hands to its rows: where the bar stands, or that the card
// is so narrow that it stands below the text.
type columns struct {
	width    float32
	barX     float32
	barW     float32
	twoLines bool
}

// rowAnswer is what a row shows of the answer.
type rowAnswer struct {
	p     float64 // noValue: none
	leads bool
	stale bool
}

// row is one option of a choice, one level of a score, or, in the list of what
// counts as yes and no, one side. The text is edited where it is read.
type row struct {
	figure
	owner   *card
	key     document.Key
	kind    engine.Kind
	cols    columns
	answer  rowAnswer
	clears  bool // the answer reaches the threshold
	hovered bool
	lifted  bool
	broken  string // a rule that this row breaks, as a sentence

	back   *canvas.Rectangle
	grip   *grip
	mark   *mark
	alert  *icon
	name   *cell
	desc   *cell
	level  *label
	bar    *bar
	number *label
}

var (
	_ drawn                  = (*row)(nil)
	_ desktop.Hoverable      = (*row)(nil)
	_ fyne.SecondaryTappable = (*row)(nil)
)

func newRow(owner *card, key document.Key) *row {
	r := &row{owner: owner, key: key, back: newRect(8), mark: newMark(), bar: newBar()}
	r.answer.p = noValue
	r.grip = newGrip(r)
	r.alert = newIcon("alert", colorRed)
	r.name = newCell(owner, "Name", colorInk, 13, regular)
	r.desc = newCell(owner, "Describe it (optional)", colorInk2, 13, regular)
	r.level = newLabel("", colorInk3, 13, regular)
	r.number = newLabel("–", colorInk2, 13, regular)
	r.parts = []fyne.CanvasObject{
		r.back, r.mark.Circle, r.alert.Image, r.level.Text, r.name, r.desc, r.bar, r.number.Text, r.grip,
	}
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer builds the drawing.
func (r *row) CreateRenderer() fyne.WidgetRenderer { return newDrawing(r) }

// set shows an option of the question and what the model said about it.
func (r *row) set(q *document.Question, o document.Option, a rowAnswer, threshold float64, broken string) {
	r.kind, r.answer, r.broken = q.Kind, a, broken
	field := func(p document.Part) document.Field { return document.Field{Part: p, Question: q.Key, Option: o.Key} }
	ink, style := colorInk, regular
	if a.leads {
		style = bold
	}
	if broken != "" {
		ink = colorRed
	}
	r.level.set(o.Name)
	switch q.Kind {
	case engine.Choice:
		r.name.set(field(document.PartName), o.Name, false, ink, style)
		r.desc.placeholder = "Describe it (optional)"
		r.desc.set(field(document.PartDescription), o.Description.Text, o.Description.Locked(), colorInk2, regular)
	case engine.Score:
		r.desc.placeholder = "Describe this level"
		r.desc.set(field(document.PartDescription), o.Description.Text, o.Description.Locked(), ink, style)
	default:
		r.level.set(sideName(o))
		r.desc.placeholder = "What counts as " + sideName(o)
		r.desc.set(field(document.PartDescription), o.Description.Text, o.Description.Locked(), colorInk2, regular)
	}
	r.showAnswer(threshold)
	r.Refresh()
}

// sideName is how people say a side of a yes-or-no question.
func sideName(o document.Option) string {
	switch o.Key {
	case document.KeyTrue:
		return "Yes"
	case document.KeyFalse:
		return "No"
	}
	return o.Name
}

func (r *row) showAnswer(threshold float64) {
	a := r.answer
	r.clears = a.p >= threshold
	t := toneOther
	switch {
	case a.stale:
		t = toneStale
	case a.leads:
		t = toneLead
	}
	r.bar.set(a.p, t, threshold)
	r.number.set("–")
	if a.p != noValue {
		r.number.set(probability(a.p))
	}
}

func (r *row) paint() {
	a := r.answer
	token, style := colorInk2, regular
	if a.leads && !a.stale {
		token, style = colorInk, bold
	}
	r.number.recolor(token, style)
	r.level.recolor(colorInk3, regular)
	if r.kind == engine.Noul {
		r.level.recolor(colorInk, regular)
	}
	r.back.FillColor, r.back.StrokeWidth = color.Transparent, 0
	under := colorSurface
	switch {
	case r.lifted:
		r.back.FillColor = themeColor(colorSurface)
		r.back.StrokeColor, r.back.StrokeWidth = themeColor(colorAccent), 1.5
	case r.hovered:
		under = colorRaised
		r.back.FillColor = themeColor(colorRaised)
	}
	if r.bar.under != under {
		r.bar.under = under
		r.bar.Refresh()
	}
	gripShown := (r.hovered || r.lifted || r.owner.editing(r)) && r.kind != engine.Noul && r.broken == ""
	show(r.grip, gripShown)
	r.grip.paint()
	show(r.alert.Image, r.broken != "")
	show(r.name, r.kind == engine.Choice)
	show(r.level.Text, r.kind != engine.Choice)
	show(r.bar, r.kind != engine.Noul)
	show(r.number.Text, r.kind != engine.Noul)
	r.alert.paint()
	kind := markNone
	switch {
	case gripShown || r.broken != "" || !a.leads:
	case r.clears:
		kind = markDisc
	default:
		kind = markRing
	}
	r.mark.set(kind, a.stale)
}

func (r *row) height() float32 {
	if r.cols.twoLines && r.kind != engine.Noul {
		return dp(rowTwoLines)
	}
	return dp(rowHeight)
}

func (r *row) least() fyne.Size { return fyne.NewSize(dp(320), r.height()) }

func (r *row) arrange(size fyne.Size) {
	h, textH := size.Height, size.Height
	if r.cols.twoLines && r.kind != engine.Noul {
		textH = dp(32)
	}
	put(r.back, dp(4), dp(1), size.Width-dp(8), h-dp(2))
	r.mark.place(dp(markX), textH/2)
	putIcon(r.alert, dp(markX), textH/2)
	put(r.grip, dp(12), textH/2-dp(12), dp(20), dp(24))
	right := r.textRight(size.Width)
	cellY := (textH - dp(28)) / 2
	switch r.kind {
	case engine.Choice:
		nameEnd := min(dp(descX), right)
		put(r.name, dp(nameX), cellY, max(0, nameEnd-dp(nameX)-dp(8)), dp(28))
		put(r.desc, dp(descX), cellY, max(0, right-dp(descX)), dp(28))
	case engine.Score:
		indent := max(dp(levelTextX-nameX), r.level.width()+dp(8))
		r.level.place(dp(nameX), 0, dp(60), textH)
		put(r.desc, dp(nameX)+indent, cellY, max(0, right-dp(nameX)-indent), dp(28))
	default:
		r.level.place(dp(nameX), 0, dp(descX-nameX-8), textH)
		put(r.desc, dp(descX), cellY, max(0, size.Width-dp(descX+padRight)), dp(28))
	}
	r.placeBar(size.Width, textH)
}

func (r *row) textRight(width float32) float32 {
	if r.cols.twoLines {
		return width - dp(padRight+numberWidth)
	}
	return r.cols.barX - dp(descGap)
}

func (r *row) placeBar(width, textH float32) {
	r.number.placeRight(width-dp(padRight), 0, dp(numberWidth), textH)
	barH := dp(barHeight + 2*tickReach)
	if r.cols.twoLines {
		put(r.bar, r.cols.barX, dp(32)+dp(4)-barH/2+dp(1), r.cols.barW, barH)
		return
	}
	put(r.bar, r.cols.barX, (textH-barH)/2, r.cols.barW, barH)
}

// TappedSecondary opens the row's menu.
func (r *row) TappedSecondary(e *fyne.PointEvent) { r.owner.openRowMenu(r, e.AbsolutePosition) }

// MouseIn raises the row and shows its handle.
func (r *row) MouseIn(e *desktop.MouseEvent) {
	r.hovered = true
	r.Refresh()
	r.MouseMoved(e)
}

// MouseMoved shows the exact figure over bar and number, the broken rule over its
// mark.
func (r *row) MouseMoved(e *desktop.MouseEvent) {
	switch {
	case r.broken != "" && e.Position.X < dp(nameX):
		showTip(r, r.broken, e.AbsolutePosition)
	case r.answer.p != noValue && r.kind != engine.Noul && e.Position.X >= r.cols.barX:
		showTip(r, exact(r.answer.p), e.AbsolutePosition)
	default:
		hideTip(r)
	}
}

// MouseOut lowers the row.
func (r *row) MouseOut() {
	r.hovered = false
	hideTip(r)
	r.Refresh()
}
