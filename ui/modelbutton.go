package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// modelButton names the model in use: a dot that tells its state, the name, the
// layout or the practice badge.
type modelButton struct {
	control
	page  *page
	back  *canvas.Rectangle
	dot   *canvas.Circle
	spin  *spinner
	name  *label
	note  *label
	badge *badge
	arrow *icon
	state ModelState
}

var _ drawn = (*modelButton)(nil)

func newModelButton(p *page) *modelButton {
	b := &modelButton{page: p, back: newRect(8), dot: &canvas.Circle{}, spin: newSpinner(), arrow: newIcon("chevron", colorInk)}
	b.name = newLabel("", colorInk, 13, bold)
	b.note = newLabel("", colorInk2, 13, regular)
	b.badge = practiceBadge()
	b.onTap = func() { openPopMenu(b, p.modelRows()) }
	b.parts = []fyne.CanvasObject{b.back, b.dot, b.spin, b.name.Text, b.note.Text, b.badge, b.arrow.Image}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *modelButton) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *modelButton) set(s ModelState, busy bool) {
	b.state = s
	b.name.set(s.title())
	b.note.set("")
	if !s.Info.Practice {
		b.note.set(s.Info.Layout)
	}
	b.tip = s.Info.PracticeNote
	show(b.badge, s.Info.Practice)
	b.spin.run(busy || s.Phase == PhaseOpening)
	b.Refresh()
}

func (b *modelButton) paint() {
	b.back.FillColor = themeColor(colorSurface)
	if b.hovered {
		b.back.FillColor = themeColor(colorRaised)
	}
	b.back.StrokeColor, b.back.StrokeWidth = themeColor(colorLine), 1
	if b.focused {
		b.back.StrokeColor, b.back.StrokeWidth = themeColor(colorAccent), 1.5
	}
	b.back.CornerRadius = dp(8)
	b.name.paint()
	b.note.paint()
	b.arrow.paint()
	b.dot.StrokeWidth = 0
	switch b.state.Phase {
	case PhaseReady:
		b.dot.FillColor = themeColor(colorAccent)
	case PhaseFailed:
		b.dot.FillColor = themeColor(colorRed)
	default:
		b.dot.FillColor = themeColor(colorSurface)
		b.dot.StrokeColor, b.dot.StrokeWidth = themeColor(colorFill2), dp(2)
	}
	show(b.dot, !b.spin.on)
}

func (b *modelButton) least() fyne.Size {
	w := b.nameX() + b.name.width() + dp(15+19.5)
	if b.note.full != "" {
		w += dp(8) + b.note.width()
	}
	if b.badge.Visible() {
		w += dp(8) + b.badge.least().Width
	}
	return fyne.NewSize(min(w, dp(360)), dp(buttonTall))
}

// nameX is where the name begins, after the dot or the open ring.
func (b *modelButton) nameX() float32 {
	if b.spin.on {
		return dp(13 + 13 + 8)
	}
	return dp(13 + 8 + 8)
}

func (b *modelButton) arrange(size fyne.Size) {
	put(b.back, 0, 0, size.Width, size.Height)
	mid := size.Height / 2
	put(b.spin, dp(13), mid-dp(6.5), dp(13), dp(13))
	put(b.dot, dp(13), mid-dp(4), dp(8), dp(8))
	putIcon(b.arrow, size.Width-dp(19.5), mid)
	right := size.Width - dp(15+19.5)
	if b.badge.Visible() {
		s := b.badge.least()
		put(b.badge, right-s.Width, mid-s.Height/2, s.Width, s.Height)
		right -= s.Width + dp(8)
	}
	if b.note.full != "" {
		right -= b.note.placeRight(right, 0, dp(120), size.Height) + dp(8)
	}
	b.name.place(b.nameX(), 0, max(0, right-b.nameX())+1, size.Height)
}
