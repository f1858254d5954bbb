package ui

import (
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// inlinePad is how far the field reaches beyond the text it covers, so that the
// text does not jump.
const inlinePad = 8

// inline is the entry that a card moves over the cell being edited: a field 28
// high, stroke 1.5, radius 6. What is typed goes into the case at once.
type inline struct {
	widget.Entry
	owner *card
	cell  *cell
	shift bool

	frame *canvas.Rectangle
	shell *container.ThemeOverride
}

var (
	_ fyne.Tabbable   = (*inline)(nil)
	_ desktop.Keyable = (*inline)(nil)
)

func newInline(owner *card, size float32, style fyne.TextStyle) *inline {
	e := &inline{owner: owner, frame: newRect(6)}
	e.ExtendBaseWidget(e)
	e.TextStyle = style
	e.Wrapping = fyne.TextWrapOff
	e.Scroll = fyne.ScrollHorizontalOnly
	e.OnChanged = func(s string) {
		if e.cell != nil {
			owner.typed(e.cell, s)
		}
	}
	e.shell = container.NewThemeOverride(e, fieldTheme{size: size})
	e.hide()
	return e
}

// fieldTheme takes an entry's own border and ground away and sets its text size.
type fieldTheme struct{ size float32 }

func (f fieldTheme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	switch name {
	case theme.ColorNameInputBackground, theme.ColorNameInputBorder:
		return color.Transparent
	}
	return inUse().Color(name, variant)
}

func (f fieldTheme) Font(style fyne.TextStyle) fyne.Resource {
	return inUse().Font(style)
}

func (f fieldTheme) Icon(name fyne.ThemeIconName) fyne.Resource { return inUse().Icon(name) }

func (f fieldTheme) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText:
		return dp(f.size)
	case theme.SizeNameInputBorder:
		return 0
	}
	return inUse().Size(name)
}

// place puts the field over a box of the card in which the cell's text stands.
func (e *inline) place(x, y, w, h float32) {
	height := dp(28)
	top := y + (h-height)/2
	put(e.frame, x, top, w, height)
	least := e.shell.MinSize().Height
	put(e.shell, x, top+(height-least)/2-dp(1), w, least)
	e.frame.FillColor = themeColor(colorSurface)
	e.frame.StrokeColor, e.frame.StrokeWidth = themeColor(colorAccent), 1.5
	e.frame.CornerRadius = dp(6)
	e.frame.Refresh()
}

func (e *inline) show() {
	show(e.frame, true)
	show(e.shell, true)
}

func (e *inline) hide() {
	show(e.frame, false)
	show(e.shell, false)
}

// fill takes over a cell's text without telling the case.
func (e *inline) fill(c *cell, text, placeholder string) {
	e.cell = nil
	e.SetPlaceHolder(placeholder)
	e.SetText(text)
	e.CursorColumn = len([]rune(text))
	e.cell = c
	e.Refresh()
}

// AcceptsTab keeps Tab here: it moves to the next text of the card.
func (e *inline) AcceptsTab() bool { return true }

// KeyDown notes Shift, which decides the way Tab goes.
func (e *inline) KeyDown(k *fyne.KeyEvent) {
	if k.Name == desktop.KeyShiftLeft || k.Name == desktop.KeyShiftRight {
		e.shift = true
	}
	e.Entry.KeyDown(k)
}

// KeyUp notes the end of Shift.
func (e *inline) KeyUp(k *fyne.KeyEvent) {
	if k.Name == desktop.KeyShiftLeft || k.Name == desktop.KeyShiftRight {
		e.shift = false
	}
	e.Entry.KeyUp(k)
}

// TypedKey gives the keys that move between texts to the card.
func (e *inline) TypedKey(k *fyne.KeyEvent) {
	c := e.cell
	if c == nil {
		return
	}
	switch k.Name {
	case fyne.KeyTab:
		e.owner.leave(!e.shift)
	case fyne.KeyReturn, fyne.KeyEnter:
		e.owner.enter(c)
	case fyne.KeyEscape:
		e.owner.escape()
	case fyne.KeyUp:
		e.owner.step(c, -1)
	case fyne.KeyDown:
		e.owner.step(c, +1)
	case fyne.KeyBackspace:
		if e.Text == "" && e.owner.dropEmpty(c) {
			return
		}
		e.Entry.TypedKey(k)
	default:
		e.Entry.TypedKey(k)
	}
}

// TypedShortcut takes pasted columns, moves rows, undoes in the case and lets the
// window have what it does not know.
func (e *inline) TypedShortcut(s fyne.Shortcut) {
	switch s := s.(type) {
	case *fyne.ShortcutPaste:
		e.paste(s)
	case *fyne.ShortcutUndo:
		e.owner.page.undo()
	case *fyne.ShortcutRedo:
		e.owner.page.redo()
	case *desktop.CustomShortcut:
		if e.cell != nil && s.Modifier == fyne.KeyModifierAlt && (s.KeyName == fyne.KeyUp || s.KeyName == fyne.KeyDown) {
			e.owner.shift(e.cell, s.KeyName == fyne.KeyDown)
			return
		}
		if !passOn(e, s) {
			e.Entry.TypedShortcut(s)
		}
	default:
		e.Entry.TypedShortcut(s)
	}
}

// paste makes one row a line of a pasted column; a single line is text.
func (e *inline) paste(s *fyne.ShortcutPaste) {
	if s.Clipboard == nil {
		return
	}
	lines := columnLines(s.Clipboard.Content())
	if len(lines) > 1 && e.cell != nil && e.owner.pasteRows(e.cell, s.Clipboard.Content()) {
		return
	}
	e.Entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: fixedClipboard(strings.Join(lines, " "))})
}

// columnLines splits a clipboard into its lines, without empty ones.
func columnLines(s string) []string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(s, "\r", "\n")) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// fixedClipboard is a clipboard that holds one text.
type fixedClipboard string

// Content returns the text.
func (c fixedClipboard) Content() string { return string(c) }

// SetContent does nothing: the text is fixed.
func (c fixedClipboard) SetContent(string) {}

// passOn gives a shortcut to the window when an entry has no use for it.
func passOn(o fyne.CanvasObject, s *desktop.CustomShortcut) bool {
	if s.Modifier&^(fyne.KeyModifierAlt|fyne.KeyModifierShift) == 0 || isTextKey(s.KeyName) {
		return false
	}
	c, ok := fyne.CurrentApp().Driver().CanvasForObject(o).(fyne.Shortcutable)
	if ok {
		c.TypedShortcut(s)
	}
	return ok
}

// isTextKey reports the keys that move in text with modifiers.
func isTextKey(k fyne.KeyName) bool {
	switch k {
	case fyne.KeyLeft, fyne.KeyRight, fyne.KeyUp, fyne.KeyDown, fyne.KeyHome, fyne.KeyEnd, fyne.KeyBackspace, fyne.KeyDelete:
		return true
	}
	return false
}

// FocusGained shows the field again after the window was away.
func (e *inline) FocusGained() {
	if e.cell != nil {
		e.show()
		e.owner.Refresh()
	}
	e.Entry.FocusGained()
}

// FocusLost hides the field; what was typed is in the case already.
func (e *inline) FocusLost() {
	e.shift = false
	e.hide()
	e.Entry.FocusLost()
	e.owner.Refresh()
}
