package ui

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// toggle is an on-off switch of 32 × 18 with its name before it.
type toggle struct {
	control
	on       bool
	onChange func(bool)

	text        *label
	back        *canvas.Rectangle
	knob        *canvas.Circle
	at          float32 // 0 off … 1 on, while it moves
	running     *fyne.Animation
	bare        bool // no name
	nameOnRight bool
}

var _ drawn = (*toggle)(nil)

func newToggle(text string, change func(bool)) *toggle {
	t := &toggle{onChange: change, back: newRect(9), knob: &canvas.Circle{}, bare: text == ""}
	t.text = newLabel(text, colorInk2, 13, regular)
	t.onTap = func() {
		t.set(!t.on)
		if t.onChange != nil {
			t.onChange(t.on)
		}
	}
	t.parts = []fyne.CanvasObject{t.text.Text, t.back, t.knob}
	t.ExtendBaseWidget(t)
	return t
}

// CreateRenderer builds the drawing.
func (t *toggle) CreateRenderer() fyne.WidgetRenderer { return newDrawing(t) }

// set turns the switch without telling anybody.
func (t *toggle) set(on bool) {
	if t.on == on {
		return
	}
	t.on = on
	to := float32(0)
	if on {
		to = 1
	}
	if t.running != nil {
		t.running.Stop()
		t.running = nil
	}
	if !animated() {
		t.at = to
		t.Refresh()
		return
	}
	from := t.at
	t.running = fyne.NewAnimation(100*time.Millisecond, func(f float32) {
		t.at = from + (to-from)*f
		t.Refresh()
	})
	t.running.Start()
}

func (t *toggle) paint() {
	t.text.paint()
	t.back.CornerRadius = dp(9)
	t.back.StrokeWidth = 1
	if t.on {
		t.back.FillColor, t.back.StrokeColor = themeColor(colorAccent), themeColor(colorAccent)
		t.knob.FillColor = themeColor(colorOnAccent)
	} else {
		t.back.FillColor, t.back.StrokeColor = themeColor(colorTrack), themeColor(colorFill2)
		t.knob.FillColor = themeColor(colorFill2)
	}
	if t.focused {
		t.back.StrokeColor, t.back.StrokeWidth = themeColor(colorAccent), 1.5
		if t.on {
			t.back.StrokeColor = themeColor(colorInk)
		}
	}
}

func (t *toggle) least() fyne.Size {
	w := dp(32)
	if !t.bare {
		w += t.text.width() + dp(8)
	}
	return fyne.NewSize(w, dp(24))
}

func (t *toggle) arrange(size fyne.Size) {
	x := float32(0)
	if !t.bare && !t.nameOnRight {
		x = t.text.place(0, 0, size.Width, size.Height) + dp(8)
	}
	w, h := dp(32), dp(18)
	y := (size.Height - h) / 2
	put(t.back, x, y, w, h)
	if t.nameOnRight {
		t.text.place(w+dp(8), 0, size.Width, size.Height)
	}
	d := dp(12)
	put(t.knob, x+dp(3)+(w-d-dp(6))*t.at, y+dp(3), d, d)
}
