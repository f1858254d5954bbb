package ui

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// axisLabels is how many levels still get a number each; above, both ends only.
const axisLabels = 10

// axis is the scale of a rating: a tick a level and a diamond at the expected
// score.
type axis struct {
	figure
	levels int
	score  glide // 0..levels-1
	stale  bool

	line    *canvas.Rectangle
	ticks   []*canvas.Rectangle
	numbers []*label
	halo    *canvas.Polygon // the 2 dp stroke in the card's colour
	diamond *canvas.Polygon
}

var _ drawn = (*axis)(nil)

func newAxis() *axis {
	a := &axis{score: newGlide(), line: newRect(1)}
	a.halo = canvas.NewPolygon(4, nil)
	a.diamond = canvas.NewPolygon(4, nil)
	a.ExtendBaseWidget(a)
	a.setLevels(2)
	return a
}

// CreateRenderer builds the drawing.
func (a *axis) CreateRenderer() fyne.WidgetRenderer { return newDrawing(a) }

func (a *axis) setLevels(n int) {
	if n == a.levels {
		return
	}
	a.levels, a.ticks, a.numbers = n, nil, nil
	a.parts = []fyne.CanvasObject{a.line}
	for i := range n {
		t := newRect(1)
		a.ticks = append(a.ticks, t)
		a.parts = append(a.parts, t)
		if n > axisLabels && i != 0 && i != n-1 {
			continue
		}
		l := newLabel(strconv.Itoa(i), colorInk3, 11, regular)
		a.numbers = append(a.numbers, l)
		a.parts = append(a.parts, l.Text)
	}
	a.parts = append(a.parts, a.halo, a.diamond)
}

// set shows a score on a scale of n levels; it glides there from the old one.
func (a *axis) set(n int, score float64, stale bool) {
	if n != a.levels {
		a.score = newGlide()
	}
	a.setLevels(n)
	a.stale = stale
	a.score.move(score, a.Refresh)
}

func (a *axis) paint() {
	a.line.FillColor = themeColor(colorTrack)
	for _, t := range a.ticks {
		t.FillColor = themeColor(colorInk2)
	}
	for _, n := range a.numbers {
		n.paint()
	}
	token := colorAccent
	if a.stale {
		token = colorFill2
	}
	a.diamond.FillColor = themeColor(token)
	a.halo.FillColor = themeColor(colorSurface)
}

func (a *axis) least() fyne.Size { return fyne.NewSize(dp(96), dp(44)) }

func (a *axis) arrange(size fyne.Size) {
	mid := size.Height / 2
	put(a.line, 0, mid-dp(1), size.Width, dp(2))
	step := float32(0)
	if a.levels > 1 {
		step = (size.Width - dp(2)) / float32(a.levels-1)
	}
	for i, t := range a.ticks {
		put(t, float32(i)*step, mid-dp(4), dp(2), dp(8))
	}
	a.placeNumbers(size.Width, mid+dp(5), step)
	visible := a.score.has()
	show(a.diamond, visible)
	show(a.halo, visible)
	x := dp(1) + step*float32(a.score.at)
	placeDiamond(a.halo, x, mid, dp(16))
	placeDiamond(a.diamond, x, mid, dp(11.5))
}

// placeNumbers centres numbers under their ticks; the outer two stay inside.
func (a *axis) placeNumbers(width, y, step float32) {
	for i, l := range a.numbers {
		w := l.width()
		x := dp(1) + float32(i)*step - w/2
		switch {
		case i == 0:
			x = 0
		case i == len(a.numbers)-1:
			x = width - w
		}
		l.place(x, y, w, dp(16))
	}
}

func placeDiamond(p *canvas.Polygon, x, y, size float32) {
	put(p, x-size/2, y-size/2, size, size)
	p.Refresh()
}
