package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"clefbar/engine"
	"clefbar/ui/document"
)

// cardFooter is a card's last line: add a row on the left, on the right what the
// answer sums up to, each figure under its own name.
type cardFooter struct {
	figure
	view  cardView
	hint  string
	add   *button
	notes []*label // from left to right
	tip   string
}

var (
	_ drawn             = (*cardFooter)(nil)
	_ desktop.Hoverable = (*cardFooter)(nil)
)

func newCardFooter(c *card) *cardFooter {
	f := &cardFooter{}
	f.add = newButton(rankMuted, "plus", "Option", func() { c.addRow() })
	for range 3 {
		f.notes = append(f.notes, newLabel("", colorInk3, 12, regular))
	}
	f.parts = []fyne.CanvasObject{f.add, f.notes[0].Text, f.notes[1].Text, f.notes[2].Text}
	f.ExtendBaseWidget(f)
	return f
}

// CreateRenderer builds the drawing.
func (f *cardFooter) CreateRenderer() fyne.WidgetRenderer { return newDrawing(f) }

// set shows the figures, or while a text is edited the keys that help.
func (f *cardFooter) set(v cardView, hint string, open bool) {
	f.view, f.hint = v, hint
	f.add.set(rankMuted, addWords(v.question.Kind, open), "")
	for _, n := range f.notes {
		n.set("")
		n.recolor(colorInk3, regular)
	}
	f.tip = ""
	switch {
	case hint != "":
		f.notes[2].set(hint)
	case v.verdict == nil:
		f.notes[2].set("No answer yet")
	default:
		f.setFigures(v)
	}
	f.Refresh()
}

func (f *cardFooter) setFigures(v cardView) {
	a := v.verdict
	if v.practice {
		f.notes[0].set("Practice answer")
		f.notes[0].recolor(colorAmber, bold)
	}
	if a.Kind == engine.Noul {
		f.notes[2].set("p(yes) " + probability(a.Noul))
		if v.guessing {
			f.notes[1].set("near guessing outside the samples")
		}
		f.tip = "p(yes) " + exact(a.Noul)
		return
	}
	f.notes[1].set("Top probability " + probability(a.top()))
	f.notes[2].set("Confidence " + probability(a.Confidence))
	f.tip = "Top probability " + exact(a.top()) + "\nConfidence " + exact(a.Confidence)
}

func addWords(k engine.Kind, open bool) string {
	switch {
	case k == engine.Choice:
		return "Option"
	case k == engine.Score:
		return "Level"
	case open:
		return "Hide what counts as yes and no"
	}
	return "What counts as yes and no"
}

func (f *cardFooter) paint() {
	for _, n := range f.notes {
		n.paint()
	}
}

func (f *cardFooter) least() fyne.Size { return fyne.NewSize(dp(320), dp(cardFoot)) }

func (f *cardFooter) arrange(size fyne.Size) {
	add := f.add.least()
	put(f.add, dp(9.5), (size.Height-add.Height)/2, add.Width, add.Height)
	x, gap := size.Width-dp(padRight), dp(13)
	for i := len(f.notes) - 1; i >= 0; i-- {
		n := f.notes[i]
		room := x - dp(10) - add.Width - dp(16)
		if n.full == "" || n.width() > room {
			show(n.Text, false)
			continue
		}
		show(n.Text, true)
		x -= n.placeRight(x, 0, room, size.Height) + gap
	}
}

// MouseIn may show the exact figures.
func (f *cardFooter) MouseIn(e *desktop.MouseEvent) { f.MouseMoved(e) }

// MouseMoved shows the exact figures.
func (f *cardFooter) MouseMoved(e *desktop.MouseEvent) {
	if f.tip != "" && e.Position.X > f.Size().Width/2 {
		showTip(f, f.tip, e.AbsolutePosition)
		return
	}
	hideTip(f)
}

// MouseOut takes the figures away.
func (f *cardFooter) MouseOut() { hideTip(f) }

// remarks picks what the advice line of a card says: a broken rule first, then
// advice.
func remarks(problems []document.Problem) (document.Problem, bool) {
	var advice *document.Problem
	for i, p := range problems {
		switch {
		case p.Blocks:
			return p, true
		case advice == nil:
			advice = &problems[i]
		}
	}
	if advice == nil {
		return document.Problem{}, false
	}
	return *advice, true
}
