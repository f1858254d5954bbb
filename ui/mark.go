package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// markKind is what stands before an option's name.
type markKind uint8

const (
	markNone markKind = iota
	markDisc          // leads and clears the threshold
	markRing          // leads, but a person should look
)

// mark is the 10 dp disc or ring before the leading option.
type mark struct {
	*canvas.Circle
	kind  markKind
	stale bool
}

func newMark() *mark {
	m := &mark{Circle: &canvas.Circle{}}
	m.set(markNone, false)
	return m
}

func (m *mark) set(kind markKind, stale bool) {
	m.kind, m.stale = kind, stale
	m.paint()
}

func (m *mark) paint() {
	token := colorAccent
	if m.stale {
		token = colorFill2
	}
	show(m.Circle, m.kind != markNone)
	m.FillColor = themeColor(token)
	m.StrokeWidth = 0
	if m.kind == markRing {
		m.FillColor = themeColor(colorSurface)
		m.StrokeColor = themeColor(token)
		m.StrokeWidth = dp(2)
	}
	m.Circle.Refresh()
}

// place centres the mark on a point.
func (m *mark) place(x, y float32) {
	d := dp(10)
	put(m.Circle, x-d/2, y-d/2, d, d)
}

var _ fyne.CanvasObject = (*mark)(nil)
