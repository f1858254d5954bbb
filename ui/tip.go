package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// tipWidth is where the lines of a tip break.
const tipWidth = 360

// tipDelay is how long the pointer rests before a tip shows.
const tipDelay = 350 * time.Millisecond

// tip is the small text beside the pointer: exact figures, what a badge means. It
// lies above the page and takes no events.
type tip struct {
	figure
	back  *canvas.Rectangle
	lines []*label
	owner any
	timer *time.Timer
	page  *page // a hidden object cannot be asked for its canvas
}

var _ drawn = (*tip)(nil)

// tipLayer is the tip of the one window. Touched on the UI goroutine only.
var tipLayer *tip

func newTip(p *page) *tip {
	t := &tip{back: newRect(6), page: p}
	t.parts = []fyne.CanvasObject{t.back}
	t.ExtendBaseWidget(t)
	t.Hide()
	return t
}

// CreateRenderer builds the drawing.
func (t *tip) CreateRenderer() fyne.WidgetRenderer { return newDrawing(t) }

// showTip shows a text near a position of the canvas after a short rest.
func showTip(owner any, text string, at fyne.Position) {
	t := tipLayer
	if t == nil {
		return
	}
	t.cancel()
	t.owner = owner
	t.timer = time.AfterFunc(tipDelay, func() {
		t.page.later(func() {
			if t.owner == owner {
				t.open(text, at)
			}
		})
	})
}

// hideTip takes the owner's tip away.
func hideTip(owner any) {
	if t := tipLayer; t != nil && t.owner == owner {
		t.cancel()
		t.owner = nil
		t.Hide()
	}
}

func (t *tip) cancel() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

func (t *tip) open(text string, at fyne.Position) {
	t.lines, t.parts = nil, []fyne.CanvasObject{t.back}
	for _, line := range wrapWords(text, dp(tipWidth), dp(12)) {
		l := newLabel(line, colorInk, 12, regular)
		t.lines = append(t.lines, l)
		t.parts = append(t.parts, l.Text)
	}
	// The content begins below a menu bar in the window, positions above it.
	content := t.page.canvas().Content()
	at = at.Subtract(fyne.CurrentApp().Driver().AbsolutePositionForObject(content))
	room, size := content.Size(), t.least()
	x := max(dp(8), min(at.X+dp(12), room.Width-size.Width-dp(8)))
	y := at.Y + dp(18)
	if y+size.Height > room.Height-dp(8) {
		y = at.Y - size.Height - dp(8)
	}
	put(t, x, y, size.Width, size.Height)
	t.Show()
	t.Refresh()
	t.page.canvas().Refresh(t) // it was hidden, so Fyne does not know where it is drawn
}

func (t *tip) paint() {
	t.back.FillColor = themeColor(colorSurface)
	t.back.StrokeColor, t.back.StrokeWidth = themeColor(colorLine), 1
	for _, l := range t.lines {
		l.paint()
	}
}

func (t *tip) least() fyne.Size {
	w := float32(0)
	for _, l := range t.lines {
		w = max(w, l.width())
	}
	return fyne.NewSize(w+dp(16), float32(len(t.lines))*dp(18)+dp(8))
}

func (t *tip) arrange(size fyne.Size) {
	put(t.back, 0, 0, size.Width, size.Height)
	for i, l := range t.lines {
		l.place(dp(8), dp(4)+float32(i)*dp(18), size.Width, dp(18))
	}
}
