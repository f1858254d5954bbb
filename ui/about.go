package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"clefbar/assets"
)

// openAbout says what this is and what it is made with.
func (p *page) openAbout() {
	m := newModal(p, "About Clefbar", p.deps.Version)
	m.width, m.height = 460, 250
	m.body = newAboutBody()
	m.open()
}

type aboutBody struct {
	figure
	icon *canvas.Image
	text *paragraph
	more *paragraph
}

var _ drawn = (*aboutBody)(nil)

func newAboutBody() *aboutBody {
	b := &aboutBody{icon: canvas.NewImageFromResource(assets.AppIcon())}
	b.icon.FillMode = canvas.ImageFillContain
	b.text = newParagraph("Runs Cloudflare’s Clef decision models on the machine in front of you. What you type stays on it: nothing is sent anywhere and no text is logged.", colorInk, 13)
	b.more = newParagraph("Apache-2.0. Type: Clefbar Sans, made from Inter, and JetBrains Mono, both under the SIL Open Font License. Window: Fyne.", colorInk3, 12)
	b.parts = []fyne.CanvasObject{b.icon, b.text, b.more}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *aboutBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *aboutBody) paint() {}

func (b *aboutBody) least() fyne.Size { return fyne.NewSize(dp(320), dp(140)) }

func (b *aboutBody) arrange(size fyne.Size) {
	put(b.icon, dp(20), dp(16), dp(72), dp(72))
	x := dp(108)
	w := size.Width - x - dp(20)
	h := b.text.heightAt(w)
	put(b.text, x, dp(18), w, h)
	put(b.more, x, dp(18)+h+dp(10), w, b.more.heightAt(w))
}
