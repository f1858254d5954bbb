package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// nearLimit is the share of the limit from which the meter warns.
const nearLimit = 0.9

// meter shows tokens against the limit: accent as usual, amber from 90 %, and when
// over, grey up to a mark at the limit and red beyond it.
type meter struct {
	figure
	used, limit int
	counting    bool // the number is an estimate: shown in grey

	track, fill, over, mark *canvas.Rectangle
	limitText, overText     *label
}

var _ drawn = (*meter)(nil)

func newMeter() *meter {
	m := &meter{track: newRect(2), fill: newRect(2), over: newRect(2), mark: newRect(0)}
	m.limitText = newLabel("", colorInk3, 11, regular)
	m.overText = newLabel("", colorRed, 11, bold)
	m.parts = []fyne.CanvasObject{m.track, m.fill, m.over, m.mark, m.limitText.Text, m.overText.Text}
	m.ExtendBaseWidget(m)
	return m
}

// CreateRenderer builds the drawing.
func (m *meter) CreateRenderer() fyne.WidgetRenderer { return newDrawing(m) }

func (m *meter) set(used, limit int, counting bool) {
	m.used, m.limit, m.counting = used, limit, counting
	m.Refresh()
}

func (m *meter) tooLong() bool { return m.limit > 0 && m.used > m.limit }

// token is the colour of the count beside the meter.
func (m *meter) token() fyne.ThemeColorName {
	switch {
	case m.tooLong():
		return colorRed
	case m.limit > 0 && float64(m.used) >= nearLimit*float64(m.limit):
		return colorAmber
	}
	return colorInk3
}

func (m *meter) paint() {
	m.track.FillColor = themeColor(colorTrack)
	m.mark.FillColor = themeColor(colorInk)
	m.over.FillColor = themeColor(colorRed)
	fill := colorAccent
	switch {
	case m.counting:
		fill = colorStale
	case m.tooLong():
		fill = colorFill2
	case m.token() == colorAmber:
		fill = colorAmber
	}
	m.fill.FillColor = themeColor(fill)
	m.limitText.set("limit " + thousands(m.limit))
	m.overText.set("+" + thousands(m.used-m.limit))
	m.limitText.paint()
	m.overText.paint()
}

func (m *meter) least() fyne.Size {
	if m.tooLong() {
		return fyne.NewSize(dp(120), dp(24))
	}
	return fyne.NewSize(dp(120), dp(4))
}

func (m *meter) arrange(size fyne.Size) {
	h, over := dp(4), m.tooLong()
	put(m.track, 0, 0, size.Width, h)
	show(m.fill, m.used > 0)
	for _, o := range []fyne.CanvasObject{m.over, m.mark, m.limitText.Text, m.overText.Text} {
		show(o, over)
	}
	if m.limit <= 0 {
		put(m.fill, 0, 0, 0, h)
		return
	}
	if !over {
		put(m.fill, 0, 0, max(h, size.Width*float32(m.used)/float32(m.limit)), h)
		return
	}
	x := max(dp(24), size.Width*float32(m.limit)/float32(m.used))
	put(m.fill, 0, 0, x, h)
	put(m.over, x, 0, max(0, size.Width-x), h)
	put(m.mark, x-dp(1), -dp(3), dp(2), dp(10))
	plus := m.overText.placeRight(size.Width, dp(6), size.Width/2, dp(16))
	m.limitText.placeRight(max(m.limitText.width(), min(x, size.Width-plus-dp(8))), dp(6), size.Width, dp(16))
}
