package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
)

// control is a figure that can be pressed: by the pointer, by Space and by Return.
// It is reached by Tab and shows its focus. A disabled one is skipped.
type control struct {
	figure
	onTap                      func()
	onFocus                    func() // told when the focus comes or goes; may be nil
	tip                        string // shown while the pointer rests on it
	hovered, focused, disabled bool
}

var (
	_ desktop.Hoverable  = (*control)(nil)
	_ desktop.Cursorable = (*control)(nil)
)

// Tapped presses the control.
func (c *control) Tapped(*fyne.PointEvent) { c.press() }

func (c *control) press() {
	hideTip(c)
	if !c.disabled && c.onTap != nil {
		c.onTap()
	}
}

// MouseIn marks the control as hovered.
func (c *control) MouseIn(e *desktop.MouseEvent) {
	c.hovered = true
	if c.tip != "" {
		showTip(c, c.tip, e.AbsolutePosition)
	}
	c.Refresh()
}

// MouseMoved does nothing: a control has no parts.
func (c *control) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends the hover.
func (c *control) MouseOut() {
	c.hovered = false
	hideTip(c)
	c.Refresh()
}

// Cursor is a pointer over what can be pressed.
func (c *control) Cursor() desktop.Cursor {
	if c.disabled {
		return desktop.DefaultCursor
	}
	return desktop.PointerCursor
}

// FocusGained shows the focus.
func (c *control) FocusGained() { c.focus(true) }

// FocusLost hides it.
func (c *control) FocusLost() { c.focus(false) }

func (c *control) focus(on bool) {
	c.focused = on
	c.Refresh()
	if c.onFocus != nil {
		c.onFocus()
	}
}

// TypedRune is needed to be focusable; keys do the work.
func (c *control) TypedRune(rune) {}

// TypedKey presses on Space and Return.
func (c *control) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		c.press()
	}
}

// backing paints the ground of a quiet control: clear, raised under the pointer, ringed
// with the focus.
func (c *control) backing(back *canvas.Rectangle) {
	back.FillColor, back.StrokeWidth = color.Transparent, 0
	if c.hovered {
		back.FillColor = themeColor(colorRaised)
	}
	if c.focused {
		back.StrokeColor, back.StrokeWidth = themeColor(colorAccent), 1.5
	}
}

// Disabled reports whether the control can be pressed.
func (c *control) Disabled() bool { return c.disabled }

// Enable lets the control be pressed.
func (c *control) Enable() { c.setDisabled(false) }

// Disable keeps the control from being pressed.
func (c *control) Disable() { c.setDisabled(true) }

func (c *control) setDisabled(off bool) {
	if c.disabled == off {
		return
	}
	c.disabled = off
	c.Refresh()
}
