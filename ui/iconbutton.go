package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// iconButton is an icon alone on a 28 dp square: ⋯, ×.
type iconButton struct {
	control
	back *canvas.Rectangle
	icon *icon
	name string
}

var _ drawn = (*iconButton)(nil)

func newIconButton(name, tip string, tap func()) *iconButton {
	b := &iconButton{name: name, back: newRect(8), icon: newIcon(name, colorInk2)}
	b.onTap, b.tip = tap, tip
	b.parts = []fyne.CanvasObject{b.back, b.icon.Image}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *iconButton) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *iconButton) paint() {
	b.backing(b.back)
	b.icon.become(b.name, colorInk2)
}

func (b *iconButton) least() fyne.Size { return fyne.NewSquareSize(dp(28)) }

func (b *iconButton) arrange(size fyne.Size) {
	put(b.back, 0, 0, size.Width, size.Height)
	putIcon(b.icon, (size.Width-dp(16))/2+dp(8), size.Height/2)
}
