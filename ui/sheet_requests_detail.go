package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"clefbar/engine"
)

// requestDetail is one request in full.
type requestDetail struct {
	figure
	seen   *Seen
	scroll *container.Scroll
	text   *detailText
	act    *button
}

var _ drawn = (*requestDetail)(nil)

func newRequestDetail(replay func(*Seen)) *requestDetail {
	d := &requestDetail{text: newDetailText()}
	d.scroll = container.NewVScroll(d.text)
	d.act = newButton(rankOutline, "", "Open in the builder", func() { replay(d.seen) })
	d.parts = []fyne.CanvasObject{d.scroll, d.act}
	d.ExtendBaseWidget(d)
	return d
}

// CreateRenderer builds the drawing.
func (d *requestDetail) CreateRenderer() fyne.WidgetRenderer { return newDrawing(d) }

func (d *requestDetail) set(s *Seen) {
	d.seen = s
	d.text.set(detailBlocks(s))
	d.act.tip = ""
	if s != nil && s.Request == nil {
		d.act.tip = "Only where what requests say is kept"
	}
	d.act.setDisabled(s == nil || s.Request == nil)
	show(d.act, s != nil)
	d.Refresh()
}

func (d *requestDetail) paint() {}

func (d *requestDetail) least() fyne.Size { return fyne.NewSize(dp(160), dp(120)) }

func (d *requestDetail) arrange(size fyne.Size) {
	foot := float32(0)
	if d.act.Visible() {
		s := d.act.MinSize()
		foot = s.Height + dp(24)
		put(d.act, dp(16), size.Height-s.Height-dp(12), min(s.Width, size.Width-dp(32)), s.Height)
	}
	d.text.width = size.Width
	put(d.scroll, 0, 0, size.Width, max(0, size.Height-foot))
	d.scroll.Refresh()
}

// detailBlocks says all there is to say of a request.
func detailBlocks(s *Seen) []sideBlock {
	if s == nil {
		return []sideBlock{{title: "One request", lines: []string{"Choose a line to see its answers."}}}
	}
	head := []string{s.At.Format("2 January, 15:04:05.000"), strings.TrimSpace(s.Method + " " + s.Path)}
	if s.Address != "" {
		head = append(head, "from "+s.Address)
	}
	if s.ID != "" {
		head = append(head, s.ID)
	}
	blocks := []sideBlock{{title: clientName(*s), lines: head}}
	if s.Error == "" && s.Status >= 400 {
		blocks = append(blocks, sideBlock{title: statusText(*s), lines: []string{"What was wrong is not kept: it names what the request says."}})
	}
	if s.Error != "" {
		blocks = append(blocks, sideBlock{title: statusText(*s), lines: []string{s.Error}})
	}
	if s.Response == nil {
		return blocks
	}
	t := s.Response.Timing
	blocks = append(blocks, sideBlock{title: "Work", lines: []string{
		fmt.Sprintf("%s by %s", plural(s.Response.Usage.InputTokens, "token", "tokens"), modelName(s.Response.Model)),
		fmt.Sprintf("queue %s, read %s, head %s", span(t.Queue), span(t.Prefill), span(t.Head)),
	}})
	for _, a := range s.Response.Answers {
		blocks = append(blocks, answerBlock(a))
	}
	return blocks
}

// answerBars is how many options of an answer are shown, the likeliest first.
const answerBars = 4

// answerBlock shows an answer as bars.
func answerBlock(a engine.Answer) sideBlock {
	b := sideBlock{title: a.ID}
	if a.Kind == engine.Noul {
		b.bars = []sideBar{{"yes", a.Noul, true}}
		if a.Noul < 0.5 { // the likelier answer with its own probability
			b.bars = []sideBar{{"no", 1 - a.Noul, true}}
		}
		return b
	}
	order := make([]int, len(a.Probs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a.Probs[j], a.Probs[i]) })
	for _, i := range order[:min(answerBars, len(order))] {
		b.bars = append(b.bars, sideBar{a.Options[i], a.Probs[i], i == a.Best})
	}
	if left := len(order) - answerBars; left > 0 {
		b.lines = append(b.lines, plural(len(order), "option", "options")+", the likeliest four:")
	}
	if a.Kind == engine.Score {
		b.lines = append(b.lines, "Expected score "+probability(a.Score))
	}
	return b
}

// detailText is a column of blocks as high as it needs to be.
type detailText struct {
	sheetSide
	width float32
}

var _ drawn = (*detailText)(nil)

func newDetailText() *detailText {
	t := &detailText{}
	t.ExtendBaseWidget(t)
	return t
}

// CreateRenderer builds the drawing.
func (t *detailText) CreateRenderer() fyne.WidgetRenderer { return newDrawing(t) }

func (t *detailText) least() fyne.Size { return fyne.NewSize(0, t.heightAt(t.width)) }
