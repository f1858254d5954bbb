package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// grip is the six dots by which a row is dragged to another place.
type grip struct {
	figure
	row  *row
	icon *icon
}

var (
	_ drawn              = (*grip)(nil)
	_ fyne.Draggable     = (*grip)(nil)
	_ desktop.Cursorable = (*grip)(nil)
)

func newGrip(r *row) *grip {
	g := &grip{row: r, icon: newIcon("handle", colorInk3)}
	g.parts = []fyne.CanvasObject{g.icon.Image}
	g.ExtendBaseWidget(g)
	g.Hide()
	return g
}

// CreateRenderer builds the drawing.
func (g *grip) CreateRenderer() fyne.WidgetRenderer { return newDrawing(g) }

func (g *grip) paint() {
	token := colorInk3
	if g.row.lifted {
		token = colorAccent
	}
	g.icon.become("handle", token)
}

func (g *grip) least() fyne.Size { return fyne.NewSize(dp(20), dp(24)) }

func (g *grip) arrange(size fyne.Size) {
	putIcon(g.icon, (size.Width-dp(16))/2+dp(8), size.Height/2)
}

// Cursor shows that the row can be moved.
func (g *grip) Cursor() desktop.Cursor { return desktop.VResizeCursor }

// Tapped opens the row's menu.
func (g *grip) Tapped(e *fyne.PointEvent) { g.row.owner.openRowMenu(g.row, e.AbsolutePosition) }

// Dragged moves the row with the pointer.
func (g *grip) Dragged(e *fyne.DragEvent) { g.row.owner.drag(g.row, e.Dragged.DY) }

// DragEnd drops it.
func (g *grip) DragEnd() { g.row.owner.drop(g.row) }
