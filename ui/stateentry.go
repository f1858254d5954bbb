package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"clefbar/ui/document"
)

// stateEntry is the editor of the state. Word wrap costs time with the square of a
// paragraph (10 KB in one line: 1.7 s a paste), so what is pasted is looked at
// before it gets here: long text becomes an attachment, a request opens as a case.
type stateEntry struct {
	widget.Entry
	page    *page
	filling bool
	shell   *container.ThemeOverride
}

var (
	_ fyne.Tabbable     = (*stateEntry)(nil)
	_ fyne.Shortcutable = (*stateEntry)(nil)
)

func newStateEntry(p *page) *stateEntry {
	e := &stateEntry{page: p}
	e.ExtendBaseWidget(e)
	e.MultiLine = true
	e.TextStyle = editorStyle
	e.Wrapping = fyne.TextWrapWord
	e.Scroll = fyne.ScrollVerticalOnly
	e.PlaceHolder = "Type or paste what happened: an email, a ticket, a command, a record…"
	e.OnChanged = func(s string) {
		if !e.filling {
			e.typed(s)
		}
	}
	e.shell = container.NewThemeOverride(e, fieldTheme{size: 15})
	return e
}

// typed puts the text into the case. Text that grew past what the editor can hold
// moves beside it.
func (e *stateEntry) typed(s string) {
	if !document.FitsEditor(s) {
		e.page.attachOverflow(s)
		return
	}
	e.page.doc.SetText(s)
}

// show takes over the case's text without touching it, and keeps the cursor where
// the texts begin to differ.
func (e *stateEntry) show(text string) {
	if e.Text == text {
		return
	}
	e.filling = true
	row, column := changeEnd(e.Text, text)
	if e.page.canvas().Focused() != e {
		row, column = 0, 0
	}
	e.CursorRow, e.CursorColumn = 0, 0
	e.SetText(text)
	e.CursorRow, e.CursorColumn = row, column
	e.filling = false
	e.Refresh()
}

// changeEnd returns row and column in b, by lines, at the end of what differs.
func changeEnd(a, b string) (row, column int) {
	x, y := []rune(a), []rune(b)
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	for _, r := range y {
		column++
		if r == '\n' {
			row, column = row+1, 0
		}
	}
	return row, column
}

// AcceptsTab lets Tab leave the editor: a state rarely needs one, and every other
// thing must be reachable by keys.
func (e *stateEntry) AcceptsTab() bool { return false }

// TypedShortcut looks at what is pasted, undoes in the case, and lets the window
// have what it does not know.
func (e *stateEntry) TypedShortcut(s fyne.Shortcut) {
	switch s := s.(type) {
	case *fyne.ShortcutPaste:
		if s.Clipboard != nil && e.page.pasteState(s.Clipboard.Content()) {
			return
		}
		e.Entry.TypedShortcut(s)
	case *fyne.ShortcutUndo:
		e.page.undo()
	case *fyne.ShortcutRedo:
		e.page.redo()
	case *desktop.CustomShortcut:
		if !passOn(e, s) {
			e.Entry.TypedShortcut(s)
		}
	default:
		e.Entry.TypedShortcut(s)
	}
}

// TypedKey lets Escape stop a running decision.
func (e *stateEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		e.page.escape()
		return
	}
	e.Entry.TypedKey(k)
}
