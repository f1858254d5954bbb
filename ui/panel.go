package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// panel is a small sheet under a button. A tap beside it closes it.
type panel struct {
	figure
	over fyne.Canvas
	back *canvas.Rectangle
	body fyne.CanvasObject
	at   fyne.Position
	hold *panelHold
}

var _ drawn = (*panel)(nil)

func newPanel(over fyne.Canvas, body fyne.CanvasObject) *panel {
	p := &panel{over: over, body: body, back: newRect(10)}
	p.hold = newPanelHold()
	p.parts = []fyne.CanvasObject{p.back, p.hold, body}
	p.ExtendBaseWidget(p)
	return p
}

// CreateRenderer builds the drawing.
func (p *panel) CreateRenderer() fyne.WidgetRenderer { return newDrawing(p) }

func (p *panel) openUnder(anchor fyne.CanvasObject) {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(anchor)
	size := p.least()
	p.at = fyne.NewPos(min(at.X, p.over.Size().Width-size.Width-dp(8)), at.Y+anchor.Size().Height+dp(4))
	p.over.Overlays().Add(p)
	p.Resize(p.over.Size())
}

func (p *panel) close() { p.over.Overlays().Remove(p) }

// Tapped closes: the tap was beside the panel.
func (p *panel) Tapped(*fyne.PointEvent) { p.close() }

func (p *panel) paint() {
	p.back.FillColor = themeColor(colorSurface)
	p.back.StrokeColor, p.back.StrokeWidth = themeColor(colorLine), 1
}

func (p *panel) least() fyne.Size { return p.body.MinSize().Add(fyne.NewSquareSize(dp(32))) }

func (p *panel) arrange(fyne.Size) {
	size := p.least()
	put(p.back, p.at.X, p.at.Y, size.Width, size.Height)
	put(p.hold, p.at.X, p.at.Y, size.Width, size.Height)
	put(p.body, p.at.X+dp(16), p.at.Y+dp(16), size.Width-dp(32), size.Height-dp(32))
}

// panelHold keeps taps inside a panel from closing it.
type panelHold struct{ figure }

func newPanelHold() *panelHold {
	h := &panelHold{}
	h.ExtendBaseWidget(h)
	return h
}

// CreateRenderer builds the drawing.
func (h *panelHold) CreateRenderer() fyne.WidgetRenderer { return newDrawing(h) }

// Tapped does nothing, on purpose.
func (h *panelHold) Tapped(*fyne.PointEvent) {}

func (h *panelHold) paint()            {}
func (h *panelHold) arrange(fyne.Size) {}
func (h *panelHold) least() fyne.Size  { return fyne.Size{} }
