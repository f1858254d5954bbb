package ui

import (
	"fmt"
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"clefbar/engine"
)

// tokenRow is one line of the table of tokens.
type tokenRow struct {
	name   string
	tokens int
	from   origin
	cut    bool // these tokens are not read
}

// tokenRows counts the tokens of each part of the prompt: the frame, pictures, the
// state, the heading of the schema, each question with all that belongs to it, and
// the closing.
func tokenRows(e *engine.Encoding) []tokenRow {
	media := 0
	for _, p := range e.Pieces {
		if p.Part == engine.PartMedia {
			media += p.Tokens.Len()
		}
	}
	rows := []tokenRow{{name: "Frame", tokens: e.State.From - media}}
	if media > 0 {
		rows = append(rows, tokenRow{name: "Images", tokens: media, from: fromState})
	}
	rows = append(rows, tokenRow{name: "State", tokens: e.State.Len(), from: fromState})
	if e.Truncated > 0 {
		rows = append(rows, tokenRow{name: "Cut from its end", tokens: e.Truncated, from: fromControl, cut: true})
	}
	starts := questionStarts(e)
	if len(starts) == 0 {
		return append(rows, tokenRow{name: "Closing", tokens: len(e.IDs) - e.State.To})
	}
	rows = append(rows, tokenRow{name: "Schema heading", tokens: starts[0] - e.State.To})
	closing := e.Pieces[len(e.Pieces)-1].Tokens.From
	for i, q := range e.Questions {
		end := closing
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		rows = append(rows, tokenRow{name: fmt.Sprintf("%d %s", i+1, q.ID), tokens: end - starts[i], from: fromQuestion})
	}
	return append(rows, tokenRow{name: "Closing", tokens: len(e.IDs) - closing})
}

// questionStarts returns the token at which each question's header begins.
func questionStarts(e *engine.Encoding) []int {
	var starts []int
	for _, q := range e.Questions {
		start := q.Field.From
		for _, p := range e.Pieces {
			if p.Tokens.To == q.Field.From && p.Tokens.Len() > 0 {
				start = p.Tokens.From
			}
		}
		starts = append(starts, start)
	}
	return starts
}

// readsSide is the table of tokens, and the warning of control tokens.
type readsSide struct {
	figure
	title   *label
	scroll  *container.Scroll
	table   *tokenTable
	warning *controlCard
}

var _ drawn = (*readsSide)(nil)

func newReadsSide(literally func(bool)) *readsSide {
	s := &readsSide{title: newLabel("Tokens", colorInk, 13, bold), table: newTokenTable(), warning: newControlCard(literally)}
	s.scroll = container.NewVScroll(s.table)
	s.parts = []fyne.CanvasObject{s.title.Text, s.scroll, s.warning}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer builds the drawing.
func (s *readsSide) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

func (s *readsSide) set(rows []tokenRow, control []engine.Control, literal bool) {
	s.table.set(rows)
	s.warning.set(control, literal)
	show(s.title.Text, len(rows) > 0)
	s.Refresh()
}

func (s *readsSide) paint() { s.title.paint() }

func (s *readsSide) least() fyne.Size { return fyne.NewSize(dp(120), dp(80)) }

func (s *readsSide) arrange(size fyne.Size) {
	x, width := dp(20), size.Width-dp(40)
	s.title.place(x, dp(13), width, dp(20))
	top := dp(40)
	card := float32(0)
	if s.warning.Visible() {
		card = s.warning.heightAt(width)
	}
	table := min(s.table.MinSize().Height, max(dp(60), size.Height-top-card-dp(40)))
	put(s.scroll, x, top, width+dp(scrollRoom), table)
	put(s.warning, x, top+table+dp(18), width, card)
}

// tokenTable is a line for each part and their sum.
type tokenTable struct {
	figure
	rows  []tokenRow
	marks []*canvas.Rectangle
	names []*label
	nums  []*label
	rule  *canvas.Rectangle
}

var _ drawn = (*tokenTable)(nil)

const tokenRowHeight = 28

func newTokenTable() *tokenTable {
	t := &tokenTable{rule: newRect(0)}
	t.ExtendBaseWidget(t)
	return t
}

// CreateRenderer builds the drawing.
func (t *tokenTable) CreateRenderer() fyne.WidgetRenderer { return newDrawing(t) }

func (t *tokenTable) set(rows []tokenRow) {
	t.rows, t.marks, t.names, t.nums = rows, nil, nil, nil
	t.parts = []fyne.CanvasObject{t.rule}
	sum := 0
	add := func(name string, n int, style fyne.TextStyle, ink fyne.ThemeColorName) {
		a, b := newLabel(name, colorInk, 13, style), newLabel(thousands(n), ink, 13, style)
		t.names, t.nums = append(t.names, a), append(t.nums, b)
		t.parts = append(t.parts, a.Text, b.Text)
	}
	for _, r := range rows {
		mark := newRect(2)
		t.marks = append(t.marks, mark)
		t.parts = append(t.parts, mark)
		ink := colorInk2
		if r.cut {
			ink = colorAmber
		}
		add(r.name, r.tokens, regular, ink)
		if !r.cut {
			sum += r.tokens
		}
	}
	if len(rows) > 0 {
		add("All", sum, bold, colorInk)
	}
	t.Refresh()
}

func (t *tokenTable) paint() {
	t.rule.FillColor = themeColor(colorLine)
	for i, r := range t.rows {
		paintSwatch(t.marks[i], r.from)
	}
	for i := range t.names {
		t.names[i].paint()
		t.nums[i].paint()
	}
}

func (t *tokenTable) least() fyne.Size {
	if len(t.rows) == 0 {
		return fyne.Size{}
	}
	return fyne.NewSize(dp(80), dp(tokenRowHeight)*float32(len(t.rows)+1)+dp(11))
}

// scrollRoom is kept free at the right of the table for its scroll bar.
const scrollRoom = 14

func (t *tokenTable) arrange(size fyne.Size) {
	h := dp(tokenRowHeight)
	size.Width -= dp(scrollRoom)
	show(t.rule, len(t.rows) > 0)
	for i := range t.names {
		y := float32(i) * h
		if i == len(t.rows) {
			y += dp(11)
			put(t.rule, 0, y-dp(6), size.Width, 1)
		} else {
			put(t.marks[i], 0, y+(h-dp(8))/2, dp(8), dp(8))
		}
		t.nums[i].placeRight(size.Width, y, dp(70), h)
		t.names[i].place(dp(16), y, size.Width-dp(24)-t.nums[i].width(), h)
	}
}

// controlCard says that somebody's text holds a mark of the model's own, and what
// can be done about it.
type controlCard struct {
	figure
	back  *canvas.Rectangle
	sign  *icon
	title *label
	body  *paragraph
	act   *button
}

var _ drawn = (*controlCard)(nil)

func newControlCard(literally func(bool)) *controlCard {
	c := &controlCard{back: newRect(10), sign: newIcon("warning", colorAmber), title: newLabel("", colorInk, 13, bold), body: newParagraph("", colorInk2, 12)}
	c.act = newButton(rankLink, "", "", nil).snug()
	c.act.onTap = func() { literally(c.act.text.full == readLiteral) }
	c.parts = []fyne.CanvasObject{c.back, c.sign.Image, c.title.Text, c.body, c.act}
	c.Hide()
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *controlCard) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

const readLiteral = "Read it as plain text instead"

func (c *controlCard) set(control []engine.Control, literal bool) {
	show(c, len(control) > 0)
	if len(control) == 0 {
		return
	}
	count, where := "Control token", partName(control[0].Where)
	if len(control) > 1 {
		count = fmt.Sprintf("%d control tokens", len(control))
	}
	for _, t := range control {
		if partName(t.Where) != where {
			where = "the text"
		}
	}
	c.title.set(count + " in " + where)
	c.body.set(controlMeaning(control[0].Token))
	c.act.set(rankLink, readLiteral, "")
	if literal {
		c.title.set(count + ", read as plain text")
		c.body.set("The model reads the characters, not the mark: nobody’s text can end a message.")
		c.act.set(rankLink, "Read it as the model’s mark", "")
	}
	c.Refresh()
}

// controlMeaning says what a token would do.
func controlMeaning(token string) string {
	what := "as a mark of its own"
	switch token {
	case "<|im_end|>", "<|endoftext|>":
		what = "as the end of a message"
	case "<|im_start|>":
		what = "as the start of a message"
	case "<think>", "</think>":
		what = "as a border of its own thinking"
	}
	if strings.Contains(token, "vision") || strings.Contains(token, "_pad") {
		what = "as the place of a picture"
	}
	return "Someone’s text contains a mark that the model treats " + what + "."
}

// partName names where a token stands: the state, a question.
func partName(where string) string {
	if where == "state" {
		return "the state"
	}
	if rest, ok := strings.CutPrefix(where, "questions."); ok {
		id, _, _ := strings.Cut(rest, ".")
		return id
	}
	return where
}

func (c *controlCard) paint() {
	c.back.FillColor, c.back.StrokeColor = themeColor(colorAmberSoft), color.Transparent
	c.sign.paint()
	c.title.paint()
}

func (c *controlCard) heightAt(width float32) float32 {
	return dp(36) + c.body.heightAt(width-dp(24)) + dp(34)
}

func (c *controlCard) least() fyne.Size { return fyne.NewSize(dp(120), dp(80)) }

func (c *controlCard) arrange(size fyne.Size) {
	put(c.back, 0, 0, size.Width, size.Height)
	put(c.sign.Image, dp(12), dp(13), dp(16), dp(16))
	c.title.place(dp(36), dp(11), size.Width-dp(44), dp(20))
	h := c.body.heightAt(size.Width - dp(24))
	put(c.body, dp(12), dp(36), size.Width-dp(24), h)
	least := c.act.MinSize()
	put(c.act, dp(12), dp(36)+h+dp(3), min(least.Width, size.Width-dp(24)), least.Height)
}
