package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
)

// splitWidth is the window width from which state and questions stand side by side.
const splitWidth = 960

// The bounds of the state pane: beside the questions in width, above them in height.
const (
	stateLeast  = 280
	stackLeast  = 84
	stackMost   = 244
	gripReach   = 8
	questionsIn = 20 // the pane's own padding
)

// splitGrip is the line between state and questions, with 8 dp to take hold of it.
type splitGrip struct {
	figure
	stacked bool
	hovered bool
	line    *canvas.Rectangle
	handle  *canvas.Rectangle
	moved   func(by float32)
	done    func()
}

var (
	_ drawn              = (*splitGrip)(nil)
	_ fyne.Draggable     = (*splitGrip)(nil)
	_ desktop.Hoverable  = (*splitGrip)(nil)
	_ desktop.Cursorable = (*splitGrip)(nil)
)

func newSplitGrip(moved func(by float32), done func()) *splitGrip {
	g := &splitGrip{line: newRect(0), handle: newRect(2), moved: moved, done: done}
	g.parts = []fyne.CanvasObject{g.line, g.handle}
	g.ExtendBaseWidget(g)
	return g
}

// CreateRenderer builds the drawing.
func (g *splitGrip) CreateRenderer() fyne.WidgetRenderer { return newDrawing(g) }

func (g *splitGrip) paint() {
	g.line.FillColor = themeColor(colorLine)
	g.handle.FillColor = themeColor(colorFill2)
	if g.hovered {
		g.line.FillColor = themeColor(colorFill2)
	}
	show(g.handle, g.stacked)
}

func (g *splitGrip) least() fyne.Size { return fyne.NewSquareSize(dp(gripReach)) }

func (g *splitGrip) arrange(size fyne.Size) {
	if g.stacked {
		put(g.line, 0, size.Height/2, size.Width, 1)
		put(g.handle, size.Width/2-dp(16), size.Height/2-dp(1.5), dp(32), dp(4))
		return
	}
	put(g.line, size.Width/2, 0, 1, size.Height)
}

// Cursor shows which way the line moves.
func (g *splitGrip) Cursor() desktop.Cursor {
	if g.stacked {
		return desktop.VResizeCursor
	}
	return desktop.HResizeCursor
}

// Dragged moves the line.
func (g *splitGrip) Dragged(e *fyne.DragEvent) {
	if g.stacked {
		g.moved(e.Dragged.DY)
		return
	}
	g.moved(e.Dragged.DX)
}

// DragEnd keeps the place.
func (g *splitGrip) DragEnd() { g.done() }

// MouseIn shows that the line can be moved.
func (g *splitGrip) MouseIn(*desktop.MouseEvent) { g.hovered = true; g.Refresh() }

// MouseMoved does nothing.
func (g *splitGrip) MouseMoved(*desktop.MouseEvent) {}

// MouseOut shows the line as it is.
func (g *splitGrip) MouseOut() { g.hovered = false; g.Refresh() }
