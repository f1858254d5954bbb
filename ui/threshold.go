package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// thresholdButton stands over the ticks of the bars and opens a slider.
type thresholdButton struct {
	control
	text  *label
	ticks [2]*canvas.Rectangle
	back  *canvas.Rectangle
}

var _ drawn = (*thresholdButton)(nil)

func newThresholdButton(p *page) *thresholdButton {
	b := &thresholdButton{back: newRect(6), ticks: [2]*canvas.Rectangle{newRect(0), newRect(0)}}
	b.text = newLabel("Threshold 0.80", colorInk3, 12, regular)
	b.tip = "A leading answer below it gets a ring: a person should look"
	b.onTap = func() { openThreshold(p, b) }
	b.parts = []fyne.CanvasObject{b.back, b.ticks[0], b.ticks[1], b.text.Text}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *thresholdButton) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *thresholdButton) set(v float64) {
	b.text.set("Threshold " + probability(v))
	b.Refresh()
}

// tickX is where the ticks stand in the button.
func (b *thresholdButton) tickX() float32 { return dp(7) }

func (b *thresholdButton) paint() {
	b.text.paint()
	for _, t := range b.ticks {
		t.FillColor = themeColor(colorInk2)
	}
	b.backing(b.back)
}

func (b *thresholdButton) least() fyne.Size { return fyne.NewSize(dp(16)+b.text.width()+dp(8), dp(24)) }

func (b *thresholdButton) arrange(size fyne.Size) {
	put(b.back, 0, 0, size.Width, size.Height)
	x, mid := b.tickX(), size.Height/2
	put(b.ticks[0], x-dp(0.75), mid-dp(5), dp(1.5), dp(4))
	put(b.ticks[1], x-dp(0.75), mid+dp(2), dp(1.5), dp(4))
	b.text.place(dp(16), 0, size.Width, size.Height)
}

// openThreshold shows the slider under its button. Bars follow while it moves.
func openThreshold(p *page, anchor fyne.CanvasObject) {
	value := newLabel(probability(p.settings.Threshold), colorInk, 13, bold)
	var body *thresholdBody
	slider := newSlider(thresholdLow, thresholdHigh, p.settings.Threshold, func(v float64) {
		value.set(probability(v))
		body.Refresh()
		p.setThreshold(v)
	})
	body = newThresholdBody(slider, value)
	newPanel(p.canvas(), body).openUnder(anchor)
	p.canvas().Focus(slider)
}

// The bounds of the threshold: below one half more than one option could clear it.
const (
	thresholdLow  = 0.5
	thresholdHigh = 0.99
)

// thresholdBody is the slider with its value and what it means.
type thresholdBody struct {
	figure
	title  *label
	value  *label
	slider *slider
	note   *paragraph
}

var _ drawn = (*thresholdBody)(nil)

func newThresholdBody(s *slider, value *label) *thresholdBody {
	b := &thresholdBody{slider: s, value: value}
	b.title = newLabel("Threshold", colorInk, 13, regular)
	b.note = newParagraph("At or above it an answer stands by itself. Below it, a person should look.", colorInk2, 12)
	b.parts = []fyne.CanvasObject{b.title.Text, b.value.Text, b.slider, b.note}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *thresholdBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *thresholdBody) paint() {
	b.title.paint()
	b.value.paint()
}

func (b *thresholdBody) least() fyne.Size {
	return fyne.NewSize(dp(260), dp(24)+b.slider.MinSize().Height+dp(4)+b.note.heightAt(dp(260)))
}

func (b *thresholdBody) arrange(size fyne.Size) {
	b.title.place(0, 0, size.Width/2, dp(22))
	b.value.placeRight(size.Width, 0, size.Width/2, dp(22))
	h := b.slider.MinSize().Height
	put(b.slider, -dp(8), dp(24), size.Width+dp(16), h)
	put(b.note, 0, dp(28)+h, size.Width, b.note.heightAt(size.Width))
}
