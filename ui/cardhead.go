package ui

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"clefbar/engine"
	"clefbar/ui/document"
)

// kindName is how people say a kind of question.
func kindName(k engine.Kind) string {
	switch k {
	case engine.Choice:
		return "Pick one"
	case engine.Score:
		return "Rate"
	}
	return "Yes or no"
}

// cardHeader is a card's first line: number, question, id, kind, menu.
type cardHeader struct {
	figure
	card *card
	wide bool // there is room for the id

	number *label
	title  *cell
	id     *cell
	rule   *canvas.Rectangle
	kind   *kindButton
	more   *iconButton
}

var _ drawn = (*cardHeader)(nil)

func newCardHeader(c *card) *cardHeader {
	h := &cardHeader{card: c, wide: true, rule: newRect(0)}
	h.number = newLabel("", colorInk3, 13, bold)
	h.title = newCell(c, "What is the question?", colorInk, 15, bold)
	h.id = newCell(c, "id", colorInk3, 11, mono)
	h.kind = newKindButton(c)
	h.more = newIconButton("more", "", nil)
	h.more.onTap = func() { c.openMenu(h.more) }
	h.parts = []fyne.CanvasObject{h.number.Text, h.title, h.id, h.rule, h.kind, h.more}
	h.ExtendBaseWidget(h)
	return h
}

// CreateRenderer builds the drawing.
func (h *cardHeader) CreateRenderer() fyne.WidgetRenderer { return newDrawing(h) }

func (h *cardHeader) set(v cardView) {
	q := v.question
	h.number.set(strconv.Itoa(v.number))
	ink := colorInk
	idInk := colorInk3
	for _, p := range v.problems {
		if p.Blocks && (p.Rule == document.RuleDuplicateID || p.Rule == document.RuleEmptyID) {
			idInk = colorRed
		}
	}
	h.title.set(document.Field{Part: document.PartInstructions, Question: q.Key}, q.Instructions.Text, q.Instructions.Locked(), ink, bold)
	h.id.set(document.Field{Part: document.PartID, Question: q.Key}, q.ID, false, idInk, mono)
	h.kind.set(q.Kind)
	h.Refresh()
}

func (h *cardHeader) paint() {
	h.number.paint()
	h.rule.FillColor = themeColor(colorLine)
}

func (h *cardHeader) least() fyne.Size { return fyne.NewSize(dp(320), dp(cardHead)) }

func (h *cardHeader) arrange(size fyne.Size) {
	w := h.number.width()
	h.number.place(max(dp(4), dp(markX)-w/2-dp(0.5)), 0, w+1, size.Height)
	put(h.more, size.Width-dp(34), (size.Height-dp(28))/2, dp(28), dp(28))
	kind := h.kind.least()
	x := size.Width - dp(36) - kind.Width
	put(h.kind, x, (size.Height-kind.Height)/2, kind.Width, kind.Height)
	show(h.id, h.wide)
	show(h.rule, h.wide)
	if h.wide {
		x -= dp(5)
		put(h.rule, x, (size.Height-dp(16))/2, 1, dp(16))
		room := min(max(dp(28), h.id.text.width()+1), dp(180))
		x -= dp(8) + room
		put(h.id, x, (size.Height-dp(28))/2, room, dp(28))
	}
	put(h.title, dp(nameX), (size.Height-dp(28))/2, max(0, x-dp(16)-dp(nameX)), dp(28))
}

// kindButton names the kind in plain words and, beside it, the wire's word.
type kindButton struct {
	control
	kind  engine.Kind
	back  *canvas.Rectangle
	name  *label
	wire  *label
	arrow *icon
}

var _ drawn = (*kindButton)(nil)

func newKindButton(c *card) *kindButton {
	b := &kindButton{back: newRect(8), arrow: newIcon("chevron", colorInk2)}
	b.name = newLabel("", colorInk2, 13, regular)
	b.wire = newLabel("", colorInk2, 11, mono)
	b.onTap = func() { c.openKinds(b) }
	b.parts = []fyne.CanvasObject{b.back, b.name.Text, b.wire.Text, b.arrow.Image}
	b.ExtendBaseWidget(b)
	b.set(engine.Choice)
	return b
}

// CreateRenderer builds the drawing.
func (b *kindButton) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *kindButton) set(k engine.Kind) {
	b.kind = k
	b.name.set(kindName(k))
	b.wire.set(k.String())
}

func (b *kindButton) paint() {
	b.backing(b.back)
	b.name.paint()
	b.wire.paint()
	b.arrow.paint()
}

func (b *kindButton) least() fyne.Size {
	return fyne.NewSize(dp(8)+b.name.width()+dp(4)+b.wire.width()+dp(2+16+5), dp(28))
}

func (b *kindButton) arrange(size fyne.Size) {
	put(b.back, 0, 0, size.Width, size.Height)
	x := dp(8)
	x += b.name.place(x, 0, size.Width, size.Height) + dp(4)
	x += b.wire.place(x, dp(0.5), size.Width, size.Height) + dp(2)
	putIcon(b.arrow, x+dp(8), size.Height/2)
}
