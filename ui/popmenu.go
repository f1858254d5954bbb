package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
)

// entry of a popMenu.
type menuRow struct {
	text     string
	detail   string // right-aligned: a size, a key
	tip      string // shown below the text in small type
	checked  bool
	disabled bool
	line     bool // a hairline instead of a row
	run      func()
}

const (
	menuRowHeight = 28
	menuRowTall   = 44 // with a second line
	menuPad       = 6
)

// popMenu is a menu over the page: a white panel with a hairline, ticks on the
// left, sizes and keys on the right. Arrows, Return and Escape work; a tap beside
// it closes it.
type popMenu struct {
	figure
	rows   []*menuItem
	back   *canvas.Rectangle
	lines  []*canvas.Rectangle
	spec   []menuRow
	panel  fyne.Position
	over   fyne.Canvas
	active int
	ticks  bool
}

var (
	_ drawn          = (*popMenu)(nil)
	_ fyne.Focusable = (*popMenu)(nil)
)

// openPopMenu shows rows below (or above) an anchor.
func openPopMenu(anchor fyne.CanvasObject, rows []menuRow) *popMenu {
	driver := fyne.CurrentApp().Driver()
	c := driver.CanvasForObject(anchor)
	if c == nil || len(rows) == 0 {
		return nil
	}
	m := newPopMenu(c, rows)
	at := driver.AbsolutePositionForObject(anchor)
	size := m.panelSize()
	x := min(at.X, c.Size().Width-size.Width-dp(8))
	y := at.Y + anchor.Size().Height + dp(4)
	if y+size.Height > c.Size().Height-dp(8) {
		y = max(dp(8), at.Y-size.Height-dp(4))
	}
	m.open(fyne.NewPos(max(dp(8), x), y))
	return m
}

// openPopMenuAt shows rows at a point.
func openPopMenuAt(c fyne.Canvas, at fyne.Position, rows []menuRow) *popMenu {
	m := newPopMenu(c, rows)
	size := m.panelSize()
	x, y := min(at.X, c.Size().Width-size.Width-dp(8)), min(at.Y, c.Size().Height-size.Height-dp(8))
	m.open(fyne.NewPos(max(dp(8), x), max(dp(8), y)))
	return m
}

func newPopMenu(c fyne.Canvas, rows []menuRow) *popMenu {
	m := &popMenu{over: c, spec: rows, back: newRect(10), active: -1}
	m.parts = []fyne.CanvasObject{m.back}
	for i, r := range rows {
		m.ticks = m.ticks || r.checked
		if r.line {
			l := newRect(0)
			m.lines = append(m.lines, l)
			m.parts = append(m.parts, l)
			m.rows = append(m.rows, nil)
			continue
		}
		item := newMenuItem(m, i, r)
		m.rows = append(m.rows, item)
		m.parts = append(m.parts, item)
	}
	m.ExtendBaseWidget(m)
	return m
}

func (m *popMenu) open(at fyne.Position) {
	m.panel = at
	m.over.Overlays().Add(m)
	m.Resize(m.over.Size())
	m.over.Focus(m)
}

func (m *popMenu) close() { m.over.Overlays().Remove(m) }

// CreateRenderer builds the drawing.
func (m *popMenu) CreateRenderer() fyne.WidgetRenderer { return newDrawing(m) }

func (m *popMenu) panelSize() fyne.Size {
	w, h := dp(160), dp(2*menuPad)
	for i, r := range m.rows {
		if r == nil {
			h += dp(9)
			continue
		}
		w = max(w, r.least().Width)
		h += m.heightOf(i)
	}
	return fyne.NewSize(min(w+dp(2*menuPad), m.over.Size().Width-dp(16)), min(h, m.over.Size().Height-dp(16)))
}

func (m *popMenu) heightOf(i int) float32 {
	if m.spec[i].tip != "" {
		return dp(menuRowTall)
	}
	return dp(menuRowHeight)
}

func (m *popMenu) paint() {
	m.back.FillColor = themeColor(colorSurface)
	m.back.StrokeColor, m.back.StrokeWidth = themeColor(colorLine), 1
	m.back.CornerRadius = dp(10)
	for _, l := range m.lines {
		l.FillColor = themeColor(colorLine)
	}
}

func (m *popMenu) least() fyne.Size { return m.panelSize() }

func (m *popMenu) arrange(fyne.Size) {
	size := m.panelSize()
	put(m.back, m.panel.X, m.panel.Y, size.Width, size.Height)
	y, line := m.panel.Y+dp(menuPad), 0
	for i, r := range m.rows {
		if r == nil {
			put(m.lines[line], m.panel.X+dp(menuPad+10), y+dp(4), size.Width-dp(2*menuPad+20), 1)
			line++
			y += dp(9)
			continue
		}
		put(r, m.panel.X+dp(menuPad), y, size.Width-dp(2*menuPad), m.heightOf(i))
		y += m.heightOf(i)
	}
}

// Tapped closes: the tap was beside the panel.
func (m *popMenu) Tapped(*fyne.PointEvent) { m.close() }

// TappedSecondary closes too.
func (m *popMenu) TappedSecondary(*fyne.PointEvent) { m.close() }

// FocusGained does nothing: the active row shows where the keys go.
func (m *popMenu) FocusGained() {}

// FocusLost does nothing.
func (m *popMenu) FocusLost() {}

// TypedRune does nothing.
func (m *popMenu) TypedRune(rune) {}

// TypedKey moves between rows, runs and closes.
func (m *popMenu) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyEscape:
		m.close()
	case fyne.KeyDown:
		m.walk(1)
	case fyne.KeyUp:
		m.walk(-1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if m.active >= 0 {
			m.choose(m.active)
		}
	}
}

func (m *popMenu) walk(by int) {
	n := len(m.rows)
	if m.active < 0 && by < 0 {
		m.active = 0
	}
	for step := 1; step <= n; step++ {
		i := ((m.active+by*step)%n + n) % n
		if m.rows[i] != nil && !m.spec[i].disabled {
			m.activate(i)
			return
		}
	}
}

func (m *popMenu) activate(i int) {
	before := m.active
	m.active = i
	for _, at := range []int{before, i} {
		if at >= 0 && m.rows[at] != nil {
			m.rows[at].Refresh()
		}
	}
}

func (m *popMenu) choose(i int) {
	if m.spec[i].disabled {
		return
	}
	m.close()
	if m.spec[i].run != nil {
		m.spec[i].run()
	}
}

// menuItem is one row of a popMenu.
type menuItem struct {
	figure
	menu   *popMenu
	index  int
	back   *canvas.Rectangle
	tick   *icon
	text   *label
	detail *label
	second *label
}

var (
	_ drawn             = (*menuItem)(nil)
	_ desktop.Hoverable = (*menuItem)(nil)
)

func newMenuItem(m *popMenu, i int, r menuRow) *menuItem {
	it := &menuItem{menu: m, index: i, back: newRect(6), tick: newIcon("check", colorInk)}
	it.text = newLabel(r.text, colorInk, 13, regular)
	it.detail = newLabel(r.detail, colorInk3, 13, regular)
	it.second = newLabel(r.tip, colorInk3, 12, regular)
	it.parts = []fyne.CanvasObject{it.back, it.tick.Image, it.text.Text, it.detail.Text, it.second.Text}
	it.ExtendBaseWidget(it)
	return it
}

// CreateRenderer builds the drawing.
func (it *menuItem) CreateRenderer() fyne.WidgetRenderer { return newDrawing(it) }

func (it *menuItem) paint() {
	r := it.menu.spec[it.index]
	ink, meta := colorInk, colorInk3
	it.back.FillColor, it.back.CornerRadius = color.Transparent, dp(6)
	switch {
	case r.disabled:
		ink = colorInk3
	case it.menu.active == it.index:
		ink, meta = colorOnAccent, colorOnAccent
		it.back.FillColor = themeColor(colorAccent)
	}
	it.text.recolor(ink, regular)
	it.detail.recolor(meta, regular)
	it.second.recolor(meta, regular)
	it.tick.become("check", ink)
	show(it.tick.Image, r.checked)
}

func (it *menuItem) indent() float32 {
	if it.menu.ticks {
		return dp(28)
	}
	return dp(10)
}

func (it *menuItem) least() fyne.Size {
	w := it.indent() + max(it.text.width(), it.second.width()) + dp(10)
	if it.detail.full != "" {
		w += dp(24) + it.detail.width()
	}
	return fyne.NewSize(w, dp(menuRowHeight))
}

func (it *menuItem) arrange(size fyne.Size) {
	put(it.back, 0, 0, size.Width, size.Height)
	h := dp(menuRowHeight)
	top := float32(0)
	if it.second.full != "" {
		top = dp(1)
		it.second.place(it.indent(), dp(22), size.Width-it.indent()-dp(10), dp(18))
	}
	putIcon(it.tick, dp(16), top+h/2)
	right := size.Width - dp(10)
	if it.detail.full != "" {
		right -= it.detail.placeRight(right, top, max(size.Width/2, right-it.indent()-it.text.width()-dp(16)), h) + dp(16)
	}
	it.text.place(it.indent(), top, right-it.indent()+1, h)
}

// Tapped runs the row.
func (it *menuItem) Tapped(*fyne.PointEvent) { it.menu.choose(it.index) }

// MouseIn makes the row the active one.
func (it *menuItem) MouseIn(*desktop.MouseEvent) {
	if !it.menu.spec[it.index].disabled {
		it.menu.activate(it.index)
	}
}

// MouseMoved does nothing.
func (it *menuItem) MouseMoved(*desktop.MouseEvent) {}

// MouseOut leaves the row active, as menus do.
func (it *menuItem) MouseOut() {}
