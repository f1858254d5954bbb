package ui

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg" // picture formats that can be attached
	_ "image/png"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	_ "golang.org/x/image/webp" // the third one

	"clefbar/ui/document"
)

// pictureCard is an attached picture: a thumbnail, its name, size and cost.
type pictureCard struct {
	figure
	key        document.Key
	back       *canvas.Rectangle
	thumb      *canvas.Image
	name, meta *label
	remove     *iconButton
	size       string
}

var _ drawn = (*pictureCard)(nil)

func newPictureCard(p *page, im document.Image) *pictureCard {
	c := &pictureCard{key: im.Key, back: newRect(10)}
	c.thumb = &canvas.Image{FillMode: canvas.ImageFillContain, CornerRadius: 6}
	c.size = "cannot be read"
	if config, _, err := image.DecodeConfig(bytes.NewReader(im.Data)); err == nil {
		c.size = fmt.Sprintf("%d × %d", config.Width, config.Height)
		c.thumb.Resource = fyne.NewStaticResource(im.Name, im.Data)
	}
	c.name = newLabel(im.Name, colorInk, 13, bold)
	c.meta = newLabel(c.size, colorInk3, 12, regular)
	c.remove = newIconButton("close", "Take it out", func() { p.doc.RemoveImage(im.Key) })
	c.parts = []fyne.CanvasObject{c.back, c.thumb, c.name.Text, c.meta.Text, c.remove}
	c.ExtendBaseWidget(c)
	return c
}

// setTokens tells what the picture costs.
func (c *pictureCard) setTokens(n int) {
	text := c.size
	if n > 0 {
		text += "   " + thousands(n) + " tokens"
	}
	if c.meta.full != text {
		c.meta.set(text)
		c.Refresh()
	}
}

// CreateRenderer builds the drawing.
func (c *pictureCard) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *pictureCard) paint() {
	c.back.FillColor = themeColor(colorSurface)
	c.back.StrokeColor, c.back.StrokeWidth = themeColor(colorLine), 1
	c.back.CornerRadius = dp(10)
	c.name.paint()
	c.meta.paint()
}

func (c *pictureCard) least() fyne.Size { return fyne.NewSize(dp(200), dp(66)) }

func (c *pictureCard) arrange(size fyne.Size) {
	put(c.back, 0, 0, size.Width, size.Height)
	put(c.thumb, dp(8), dp(8), dp(74), size.Height-dp(16))
	put(c.remove, size.Width-dp(38), size.Height/2-dp(14), dp(28), dp(28))
	room := max(0, size.Width-dp(94+40))
	c.name.place(dp(94), dp(13), room, dp(20))
	c.meta.place(dp(94), dp(33), room, dp(20))
}
