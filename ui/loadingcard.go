package ui

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// loadingCard stands above the questions while a model opens. Typing does not wait.
type loadingCard struct {
	figure
	state       ModelState
	back        *canvas.Rectangle
	title       *label
	amount      *label
	left        *label
	track, fill *canvas.Rectangle
	note        *label
	stop        *button
}

var (
	_ drawn   = (*loadingCard)(nil)
	_ stacked = (*loadingCard)(nil)
)

func newLoadingCard(stop func()) *loadingCard {
	c := &loadingCard{back: newRect(10), track: newRect(2), fill: newRect(2)}
	c.title = newLabel("", colorInk, 13, bold)
	c.amount = newLabel("", colorInk3, 12, regular)
	c.left = newLabel("", colorInk3, 12, regular)
	c.note = newLabel("Your answers start by themselves when it is ready.", colorInk3, 12, regular)
	c.stop = newButton(rankMuted, "", "Stop", stop)
	c.parts = []fyne.CanvasObject{c.back, c.title.Text, c.amount.Text, c.left.Text, c.track, c.fill, c.note.Text, c.stop}
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *loadingCard) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *loadingCard) setSeen(float32, float32) {}

func (c *loadingCard) set(s ModelState) {
	c.state = s
	c.title.set("Opening " + s.full())
	c.amount.set("")
	c.left.set("")
	if s.Total > 0 {
		c.amount.set(gigabytesOf(s.Done, s.Total))
	}
	if s.Left > 0 {
		c.left.set(strconv.Itoa(int(s.Left.Seconds()+0.5)) + " s left")
	}
	c.Refresh()
}

// gigabytesOf writes progress in the unit of the whole: 6.9 of 10.4 GB.
func gigabytesOf(done, total int64) string {
	whole := bytesText(total)
	unit := whole[len(whole)-3:]
	part := bytesText(done)
	if len(part) > 3 && part[len(part)-3:] == unit {
		part = part[:len(part)-3]
	}
	return part + " of " + whole
}

func (c *loadingCard) paint() {
	c.back.FillColor = themeColor(colorSurface)
	c.back.StrokeColor, c.back.StrokeWidth = themeColor(colorLine), 1
	c.back.CornerRadius = dp(10)
	c.track.FillColor = themeColor(colorTrack)
	c.fill.FillColor = themeColor(colorAccent)
	for _, l := range []*label{c.title, c.amount, c.left, c.note} {
		l.paint()
	}
}

func (c *loadingCard) heightAt(float32) float32 { return dp(94) }

func (c *loadingCard) least() fyne.Size { return fyne.NewSize(dp(400), dp(94)) }

func (c *loadingCard) arrange(size fyne.Size) {
	put(c.back, 0, 0, size.Width, size.Height)
	x, right := dp(17), size.Width-dp(17)
	end := right
	if c.left.full != "" {
		end -= c.left.placeRight(end, dp(13), dp(100), dp(22)) + dp(13)
	} else {
		c.left.place(0, 0, 0, dp(22))
	}
	end -= c.amount.placeRight(end, dp(13), dp(160), dp(22)) + dp(16)
	c.title.place(x, dp(13), max(0, end-x), dp(22))
	put(c.track, x, dp(45), right-x, dp(4))
	share := float32(0)
	if c.state.Total > 0 {
		share = min(1, float32(float64(c.state.Done)/float64(c.state.Total)))
	}
	put(c.fill, x, dp(45), max(dp(4), (right-x)*share), dp(4))
	stop := placeLeftOf2(c.stop, right+dp(4), dp(57), dp(24))
	c.note.place(x, dp(57), max(0, stop-x), dp(24))
}

// placeLeftOf2 is placeLeftOf in a band that begins at y.
func placeLeftOf2(b *button, x, y, height float32) float32 {
	s := b.least()
	put(b, x-s.Width, y+(height-s.Height)/2, s.Width, s.Height)
	return x - s.Width
}
