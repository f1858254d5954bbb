package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

const statusHeight = 32

// statusView is what the status line says. It drops from the left when there is
// no room: timings, then memory and device; the endpoint stays.
type statusView struct {
	lead     string   // the time of the last decision, in bold; or a plain sentence
	plain    bool     // lead is a sentence
	timings  []string // encode 2 ms · read 0.78 s · head 20 ms
	machine  []string // 6.2 GB · Metal
	endpoint string
	short    string // the endpoint where there is little room
	dot      bool   // the endpoint answers
}

// statusLine is the window's last line.
type statusLine struct {
	figure
	view     statusView
	back     *canvas.Rectangle
	rule     *canvas.Rectangle
	left     []*label
	right    []*label
	endpoint *endpointButton
}

var _ drawn = (*statusLine)(nil)

func newStatusLine(p *page) *statusLine {
	s := &statusLine{back: newRect(0), rule: newRect(0), endpoint: newEndpointButton(p)}
	s.collect()
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer builds the drawing.
func (s *statusLine) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

func (s *statusLine) set(v statusView) {
	s.view = v
	s.left, s.right = nil, nil
	if v.lead != "" && v.plain {
		s.left = append(s.left, newLabel(v.lead, colorInk3, 12, regular))
	} else if v.lead != "" {
		s.left = append(s.left, newLabel(v.lead, colorInk2, 12, bold))
	}
	for _, t := range v.timings {
		s.left = append(s.left, newLabel(t, colorInk3, 12, regular))
	}
	for _, t := range v.machine {
		s.right = append(s.right, newLabel(t, colorInk3, 12, regular))
	}
	s.endpoint.on = v.dot
	s.endpoint.long, s.endpoint.short = v.endpoint, v.short
	s.collect()
	s.Refresh()
}

func (s *statusLine) collect() {
	s.parts = []fyne.CanvasObject{s.back, s.rule, s.endpoint}
	for _, l := range s.left {
		s.parts = append(s.parts, l.Text)
	}
	for _, l := range s.right {
		s.parts = append(s.parts, l.Text)
	}
}

func (s *statusLine) paint() {
	s.back.FillColor = themeColor(colorSurface)
	s.rule.FillColor = themeColor(colorLine)
	for _, l := range s.left {
		l.paint()
	}
	for _, l := range s.right {
		l.paint()
	}
}

func (s *statusLine) least() fyne.Size { return fyne.NewSize(dp(320), dp(statusHeight)) }

func (s *statusLine) arrange(size fyne.Size) {
	put(s.back, 0, 0, size.Width, size.Height)
	put(s.rule, 0, 0, size.Width, 1)
	narrow := size.Width < dp(splitWidth)
	s.endpoint.setShort(narrow)
	e := s.endpoint.least()
	right := size.Width - dp(20-6) - e.Width
	put(s.endpoint, right, (size.Height-e.Height)/2+0.5, e.Width, e.Height)
	right -= dp(10)
	for i := len(s.right) - 1; i >= 0; i-- {
		l := s.right[i]
		show(l.Text, !narrow)
		if !narrow {
			right -= l.placeRight(right, 0.5, l.width()+1, size.Height) + dp(16)
		}
	}
	x := dp(20)
	for i, l := range s.left {
		w := l.width()
		fits := i == 0 || !narrow && x+w <= right
		show(l.Text, fits)
		if fits {
			x += l.place(x, 0.5, max(0, right-x), size.Height) + dp(13)
		}
	}
}

// endpointButton tells whether programs get answers, and opens the endpoint's menu.
type endpointButton struct {
	control
	on          bool
	long, short string
	text        *label
	dot         *canvas.Circle
	back        *canvas.Rectangle
}

var _ drawn = (*endpointButton)(nil)

func newEndpointButton(p *page) *endpointButton {
	b := &endpointButton{dot: &canvas.Circle{}, back: newRect(6)}
	b.text = newLabel("", colorInk3, 12, regular)
	b.onTap = func() { openPopMenu(b, p.endpointRows()) }
	b.parts = []fyne.CanvasObject{b.back, b.text.Text, b.dot}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *endpointButton) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *endpointButton) setShort(short bool) {
	want := b.long
	if short {
		want = b.short
	}
	if b.text.full != want {
		b.text.set(want)
		b.Refresh()
	}
}

func (b *endpointButton) paint() {
	b.text.paint()
	b.dot.FillColor, b.dot.StrokeWidth = themeColor(colorAccent), 0
	if !b.on {
		b.dot.FillColor = themeColor(colorSurface)
		b.dot.StrokeColor, b.dot.StrokeWidth = themeColor(colorFill2), dp(2)
	}
	b.backing(b.back)
}

func (b *endpointButton) least() fyne.Size {
	return fyne.NewSize(b.text.width()+dp(6+8+9+6), dp(22))
}

func (b *endpointButton) arrange(size fyne.Size) {
	put(b.back, 0, 0, size.Width, size.Height)
	w := b.text.place(dp(6), 0, size.Width, size.Height)
	put(b.dot, dp(6)+w+dp(8), size.Height/2-dp(4.5), dp(9), dp(9))
}
