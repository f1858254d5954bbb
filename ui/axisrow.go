package ui

import (
	"math"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"

	"clefbar/engine"
	"clefbar/ui/document"
)

// axisRow is the line below the levels of a rating: the expected score in words,
// on the axis, and as a number.
type axisRow struct {
	figure
	cols  columns
	view  cardView
	rule  *canvas.Rectangle
	name  *label
	words *label
	axis  *axis
	score *label
}

var (
	_ drawn             = (*axisRow)(nil)
	_ desktop.Hoverable = (*axisRow)(nil)
)

func newAxisRow() *axisRow {
	r := &axisRow{rule: newRect(0), axis: newAxis()}
	r.name = newLabel("Expected score", colorInk, 13, regular)
	r.words = newLabel("", colorInk2, 13, regular)
	r.score = newLabel("–", colorInk2, 13, regular)
	r.parts = []fyne.CanvasObject{r.rule, r.name.Text, r.words.Text, r.axis, r.score.Text}
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer builds the drawing.
func (r *axisRow) CreateRenderer() fyne.WidgetRenderer { return newDrawing(r) }

func (r *axisRow) set(v cardView) {
	r.view = v
	if v.question.Kind != engine.Score {
		return
	}
	score := float64(noValue)
	r.words.set("")
	r.score.set("–")
	if v.verdict != nil {
		score = v.verdict.Score
		r.words.set(scoreWords(score, v.question.Options))
		r.score.set(probability(score))
	}
	r.axis.set(max(1, len(v.question.Options)), score, v.stale)
	r.Refresh()
}

// atLevel is how near a level the expected score must be to be said to be at it.
const atLevel = 0.05

// scoreWords says where an expected score lies between the levels.
func scoreWords(score float64, levels []document.Option) string {
	if len(levels) == 0 {
		return ""
	}
	last := float64(len(levels) - 1)
	score = min(max(score, 0), last)
	near := math.Round(score)
	if math.Abs(score-near) < atLevel {
		return "At " + shortLevel(levels[int(near)])
	}
	low := int(score)
	return "Between " + shortLevel(levels[low]) + " and " + shortLevel(levels[low+1])
}

// shortLevel is a level's text up to its colon.
func shortLevel(o document.Option) string {
	text, _, _ := strings.Cut(oneLine(o.Description.Text), ":")
	if text = strings.TrimSpace(text); text == "" || o.Description.Locked() {
		return o.Name
	}
	runes := []rune(text)
	if len(runes) > 28 {
		return strings.TrimSpace(string(runes[:27])) + ellipsis
	}
	return text
}

func (r *axisRow) paint() {
	r.rule.FillColor = themeColor(colorLine)
	r.name.paint()
	r.words.paint()
	token, style := colorInk2, regular
	if r.view.verdict != nil && !r.view.stale {
		token, style = colorInk, bold
	}
	r.score.recolor(token, style)
}

func (r *axisRow) least() fyne.Size { return fyne.NewSize(dp(320), dp(axisHeight)) }

func (r *axisRow) arrange(size fyne.Size) {
	put(r.rule, 0, 0, size.Width, 1)
	r.score.placeRight(size.Width-dp(padRight), 1, dp(numberWidth), size.Height)
	if r.cols.twoLines {
		r.placeNarrow(size)
		return
	}
	r.name.place(dp(nameX), 1, dp(descX-nameX-8), size.Height)
	r.words.place(dp(descX), 1, max(0, r.cols.barX-dp(descX+descGap)), size.Height)
	put(r.axis, r.cols.barX, 1, r.cols.barW, size.Height)
}

// placeNarrow keeps name and axis; the words need room that is not there.
func (r *axisRow) placeNarrow(size fyne.Size) {
	w := r.name.place(dp(nameX), 1, dp(120), size.Height)
	r.words.place(0, 0, 0, size.Height)
	x := dp(nameX) + w + dp(16)
	put(r.axis, x, 1, max(0, size.Width-x-dp(padRight+numberWidth)), size.Height)
}

// MouseIn may show the exact figure.
func (r *axisRow) MouseIn(e *desktop.MouseEvent) { r.MouseMoved(e) }

// MouseMoved shows the exact score and what it is.
func (r *axisRow) MouseMoved(e *desktop.MouseEvent) {
	if r.view.verdict != nil {
		showTip(r, "Σ level × probability = "+exact(r.view.verdict.Score), e.AbsolutePosition)
	}
}

// MouseOut takes the figure away.
func (r *axisRow) MouseOut() { hideTip(r) }
