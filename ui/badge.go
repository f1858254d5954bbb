package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// badge is a short word on a soft pill, 20 dp high.
type badge struct {
	figure
	text *label
	back *canvas.Rectangle
	fill fyne.ThemeColorName
}

var _ drawn = (*badge)(nil)

func newBadge(text string, ink, fill fyne.ThemeColorName) *badge {
	b := &badge{text: newLabel(text, ink, 12, bold), back: newRect(10), fill: fill}
	b.parts = []fyne.CanvasObject{b.back, b.text.Text}
	b.ExtendBaseWidget(b)
	return b
}

// practiceBadge marks every place where a practice model shows.
func practiceBadge() *badge { return newBadge("Practice model", colorAmber, colorAmberSoft) }

// CreateRenderer builds the drawing.
func (b *badge) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *badge) paint() {
	b.back.FillColor = themeColor(b.fill)
	b.back.CornerRadius = dp(10)
	b.text.paint()
}

func (b *badge) least() fyne.Size { return fyne.NewSize(b.text.width()+dp(16), dp(20)) }

func (b *badge) arrange(size fyne.Size) {
	put(b.back, 0, 0, size.Width, size.Height)
	b.text.place(dp(8), 0, size.Width-dp(16)+1, size.Height)
}
