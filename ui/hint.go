package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// hint is a card of the first run: it says what to try, or what Etude is, and
// goes away for good when closed.
type hint struct {
	figure
	id       string
	fill     fyne.ThemeColorName
	back     *canvas.Rectangle
	title    *label
	body     *paragraph
	action   *button
	close    *iconButton
	closable bool
}

var _ drawn = (*hint)(nil)

func newHint(id, title, text string, fill fyne.ThemeColorName, closed func()) *hint {
	h := &hint{id: id, fill: fill, back: newRect(10), closable: closed != nil}
	h.title = newLabel(title, colorInk, 13, bold)
	h.body = newParagraph(text, colorInk2, 13)
	h.close = newIconButton("close", "", closed)
	h.parts = []fyne.CanvasObject{h.back, h.title.Text, h.body, h.close}
	h.ExtendBaseWidget(h)
	return h
}

func (h *hint) with(b *button) *hint {
	h.action = b
	h.parts = append(h.parts, b)
	return h
}

// CreateRenderer builds the drawing.
func (h *hint) CreateRenderer() fyne.WidgetRenderer { return newDrawing(h) }

func (h *hint) paint() {
	h.back.FillColor = themeColor(h.fill)
	h.back.CornerRadius = dp(10)
	h.title.paint()
	show(h.close, h.closable)
}

func (h *hint) heightAt(width float32) float32 {
	height := dp(12+20) + h.body.heightAt(width-dp(32)) + dp(12)
	if h.action != nil {
		height += dp(10 + buttonUsual)
	}
	return height
}

func (h *hint) least() fyne.Size {
	return fyne.NewSize(dp(200), h.heightAt(max(h.Size().Width, dp(200))))
}

func (h *hint) arrange(size fyne.Size) {
	put(h.back, 0, 0, size.Width, size.Height)
	h.title.place(dp(16), dp(12), size.Width-dp(56), dp(20))
	put(h.close, size.Width-dp(33), dp(6), dp(28), dp(28))
	w := size.Width - dp(32)
	body := h.body.heightAt(w)
	put(h.body, dp(16), dp(32), w, body)
	if h.action != nil {
		s := h.action.least()
		put(h.action, dp(16), dp(32)+body+dp(10), s.Width, s.Height)
	}
}
