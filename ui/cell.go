package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"

	"clefbar/ui/document"
)

// cell is one text of a card that can be edited. It is drawn as plain text until
// it is clicked or reached by Tab; then the card's one entry takes its place. So
// 255 options cost no 510 entries.
type cell struct {
	figure
	owner       *card
	field       document.Field
	placeholder string
	locked      bool // structured text: shown as a chip, kept as written
	passing     bool // focused only to move on from here

	text  *label
	token fyne.ThemeColorName
	style fyne.TextStyle
	chip  *canvas.Rectangle
}

var (
	_ drawn              = (*cell)(nil)
	_ fyne.Focusable     = (*cell)(nil)
	_ desktop.Cursorable = (*cell)(nil)
)

func newCell(owner *card, placeholder string, token fyne.ThemeColorName, size float32, style fyne.TextStyle) *cell {
	c := &cell{owner: owner, placeholder: placeholder, token: token, style: style, chip: newRect(6)}
	c.text = newLabel("", token, size, style)
	c.parts = []fyne.CanvasObject{c.chip, c.text.Text}
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *cell) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

// set shows a text in a token and weight. The chip of a locked one is neutral.
func (c *cell) set(field document.Field, text string, locked bool, token fyne.ThemeColorName, style fyne.TextStyle) {
	if c.field == field && c.text.full == oneLine(text) && c.locked == locked && c.token == token && c.style == style {
		return
	}
	c.field, c.locked, c.token, c.style = field, locked, token, style
	c.text.set(text)
	c.Refresh()
}

func (c *cell) empty() bool { return c.text.full == "" }

func (c *cell) paint() {
	show(c.chip, c.locked)
	c.chip.FillColor, c.chip.CornerRadius = themeColor(colorAccentSoft), dp(6)
	switch {
	case c.locked:
		c.text.size = 11
		c.text.recolor(colorInk2, mono)
	default:
		c.text.recolor(c.token, c.style)
	}
}

func (c *cell) least() fyne.Size { return fyne.NewSize(dp(24), dp(28)) }

func (c *cell) arrange(size fyne.Size) {
	if c.empty() && c.placeholder != "" {
		c.text.full = c.placeholder
		c.text.Color = themeColor(colorInk3)
		c.text.place(0, 0, size.Width, size.Height)
		c.text.full = ""
		return
	}
	if c.locked {
		w := c.text.place(dp(6), 0, size.Width-dp(12), size.Height)
		put(c.chip, 0, (size.Height-dp(20))/2, w+dp(12), dp(20))
		return
	}
	c.text.place(0, 0, size.Width, size.Height)
}

// Tapped begins to edit the cell.
func (c *cell) Tapped(*fyne.PointEvent) { c.owner.begin(c) }

// Cursor is the text cursor, as over any text that can be edited.
func (c *cell) Cursor() desktop.Cursor { return desktop.TextCursor }

// FocusGained begins to edit: Tab walks from text to text.
func (c *cell) FocusGained() {
	if !c.passing {
		c.owner.begin(c)
	}
}

// FocusLost does nothing: the entry has the focus while the cell is edited.
func (c *cell) FocusLost() {}

// TypedRune does nothing: the entry has the focus while the cell is edited.
func (c *cell) TypedRune(rune) {}

// TypedKey does nothing: the entry has the focus while the cell is edited.
func (c *cell) TypedKey(*fyne.KeyEvent) {}
