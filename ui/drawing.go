package ui

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
)

// drawn is what a widget of ours says about itself; drawing turns it into a
// renderer. paint sets colours and texts from the widget's fields, arrange places
// the objects, least is the smallest size that shows everything.
type drawn interface {
	fyne.Widget
	objects() []fyne.CanvasObject
	arrange(size fyne.Size)
	least() fyne.Size
	paint()
}

// drawing is the one renderer of all our widgets. It has no state: the canvas
// objects belong to the widget, are made once and live as long as it does.
type drawing struct{ of drawn }

var _ fyne.WidgetRenderer = drawing{}

func newDrawing(w drawn) fyne.WidgetRenderer {
	w.paint()
	return drawing{w}
}

func (d drawing) Layout(size fyne.Size)        { d.of.arrange(size) }
func (d drawing) MinSize() fyne.Size           { return d.of.least() }
func (d drawing) Objects() []fyne.CanvasObject { return d.of.objects() }
func (d drawing) Destroy()                     {}

func (d drawing) Refresh() {
	d.of.paint()
	d.of.arrange(d.of.Size())
	canvas.Refresh(d.of)
}

// figure is a widget that only draws: no pointer, no keys. Embed it and give it
// the methods of drawn.
type figure struct {
	widget.BaseWidget
	parts []fyne.CanvasObject
}

func (f *figure) objects() []fyne.CanvasObject { return f.parts }

// put places an object and gives it a size in one call. Widgets stand on half dp, so
// that the icons in them are sharp.
func put(o fyne.CanvasObject, x, y, w, h float32) {
	if _, ok := o.(fyne.Widget); ok {
		x, y = round(x), round(y)
	}
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(w, h))
}

// putIcon places a 16 dp icon around a point, on whole pixels so that it is sharp.
func putIcon(i *icon, x, y float32) {
	d := dp(16)
	put(i.Image, round(x-d/2), round(y-d/2), d, d)
}

func round(v float32) float32 { return float32(math.Round(float64(v)*2) / 2) }

// show makes an object visible or not without a needless refresh.
func show(o fyne.CanvasObject, visible bool) {
	switch {
	case visible == o.Visible():
	case visible:
		o.Show()
	default:
		o.Hide()
	}
}

func newRect(radius float32) *canvas.Rectangle {
	return &canvas.Rectangle{CornerRadius: radius}
}
