package ui

import (
	"bytes"
	"fmt"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"clefbar/assets"
)

// icon is a 16 dp line icon in a theme colour. Fyne's themed resources recolour
// fills only; ours are strokes, so the colour is written into the SVG.
type icon struct {
	*canvas.Image
	name  string
	token fyne.ThemeColorName
	drawn color.Color
}

func newIcon(name string, token fyne.ThemeColorName) *icon {
	i := &icon{Image: &canvas.Image{FillMode: canvas.ImageFillContain}, name: name, token: token}
	i.paint()
	return i
}

func (i *icon) paint() {
	c := themeColor(i.token)
	if i.drawn == c {
		return
	}
	i.drawn = c
	i.Resource = tinted(i.name, c)
	i.Image.Refresh()
}

// become changes icon and colour.
func (i *icon) become(name string, token fyne.ThemeColorName) {
	if i.name == name && i.token == token {
		i.paint()
		return
	}
	i.name, i.token, i.drawn = name, token, nil
	i.paint()
}

func tinted(name string, c color.Color) fyne.Resource {
	r, g, b, _ := c.RGBA()
	hex := fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	svg := bytes.ReplaceAll(assets.Icon(name).Content(), []byte("#000"), []byte(hex))
	return fyne.NewStaticResource(name+hex[1:]+".svg", svg)
}
