package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

const toolbarHeight = 52

// toolbar is the window's first line: the model, samples, inspecting and copying,
// Live, and the one main action.
type toolbar struct {
	figure
	page *page
	back *canvas.Rectangle
	rule *canvas.Rectangle

	model           *modelButton
	samples, paste  *button
	inspect, copyAs *button
	more            *iconButton
	live            *toggle
	decide          *button
}

var _ drawn = (*toolbar)(nil)

func newToolbar(p *page) *toolbar {
	t := &toolbar{page: p, back: newRect(0), rule: newRect(0)}
	t.model = newModelButton(p)
	t.samples = newButton(rankQuiet, "", "Samples", nil).withChevron().tall()
	t.samples.onTap = func() { openPopMenu(t.samples, p.sampleRows()) }
	t.paste = newButton(rankQuiet, "", "Paste JSON", p.pasteJSON).tall()
	t.inspect = newButton(rankQuiet, "", "Inspect", nil).withChevron().tall()
	t.inspect.onTap = func() { openPopMenu(t.inspect, p.inspectRows()) }
	t.copyAs = newButton(rankQuiet, "", "Copy as", nil).withChevron().tall()
	t.copyAs.onTap = func() { openPopMenu(t.copyAs, p.copyRows()) }
	t.more = newIconButton("more", "More", nil)
	t.more.onTap = func() { openPopMenu(t.more, p.moreRows()) }
	t.live = newToggle("Live", func(on bool) { p.setLive(on, true) })
	t.live.tip = "Answers follow typing"
	t.decide = newButton(rankPrimary, "", "Decide", p.decideOrCancel).tall()
	t.parts = []fyne.CanvasObject{
		t.back, t.rule, t.model, t.samples, t.paste, t.inspect, t.copyAs, t.more, t.live, t.decide,
	}
	t.ExtendBaseWidget(t)
	return t
}

// CreateRenderer builds the drawing.
func (t *toolbar) CreateRenderer() fyne.WidgetRenderer { return newDrawing(t) }

// set shows what Decide does now.
func (t *toolbar) set(live, busy, possible bool) {
	t.live.set(live)
	r := rankPrimary
	if live || busy {
		r = rankOutline
	}
	if busy && !live {
		t.decide.set(r, "Cancel", keyText(fyne.KeyEscape, 0))
	} else {
		t.decide.set(r, "Decide", keyText(fyne.KeyReturn, command()))
	}
	t.decide.setDisabled(!possible && !busy)
	t.arrange(t.Size())
}

func (t *toolbar) paint() {
	t.back.FillColor = themeColor(colorSurface)
	t.rule.FillColor = themeColor(colorLine)
}

func (t *toolbar) least() fyne.Size { return fyne.NewSize(dp(600), dp(toolbarHeight)) }

func (t *toolbar) arrange(size fyne.Size) {
	put(t.back, 0, 0, size.Width, size.Height)
	put(t.rule, 0, size.Height-1, size.Width, 1)
	wide := size.Width >= dp(splitWidth)
	for _, b := range []fyne.CanvasObject{t.paste, t.inspect, t.copyAs} {
		show(b, wide)
	}
	show(t.more, !wide)
	h := size.Height - 1
	x := dp(16) + placeMiddle(t.model, dp(16), h) + dp(18)
	x += placeMiddle(t.samples, x, h) + dp(10)
	if wide {
		placeMiddle(t.paste, x, h)
	}
	right := size.Width - dp(16)
	right -= placeMiddleRight(t.decide, right, h) + dp(26)
	right -= placeMiddleRight(t.live, right, h) + dp(18)
	if !wide {
		right -= placeMiddleRight(t.more, right, h)
		show(t.samples, x <= right) // they are in the menu of the window too
		return
	}
	show(t.samples, true)
	right -= placeMiddleRight(t.copyAs, right, h) + dp(10)
	placeMiddleRight(t.inspect, right, h)
}

// placeMiddle gives an object its least size at x, in the middle of a height, and
// returns its width.
func placeMiddle(o fyne.CanvasObject, x, height float32) float32 {
	s := o.MinSize()
	put(o, x, (height-s.Height)/2, s.Width, s.Height)
	return s.Width
}

// placeMiddleRight is placeMiddle with the object ending at x.
func placeMiddleRight(o fyne.CanvasObject, x, height float32) float32 {
	return placeMiddle(o, x-o.MinSize().Width, height)
}
