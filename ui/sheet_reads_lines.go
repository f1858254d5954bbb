package ui

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"golang.org/x/text/width"

	"clefbar/engine"
)

// promptText is the size of the prompt's type.
const promptText = 12

// origin says where a stretch of the prompt comes from.
type origin uint8

const (
	fromTemplate origin = iota
	fromState
	fromQuestion // instructions and options
	fromControl  // a control token in the person's own text
)

func (o origin) ink() fyne.ThemeColorName {
	return [...]fyne.ThemeColorName{colorInk3, colorInk, colorInk, colorAmber}[o]
}

func (o origin) fill() fyne.ThemeColorName {
	return [...]fyne.ThemeColorName{colorSurface, colorAccentSoft, colorRaised, colorAmberSoft}[o]
}

func (o origin) edge() fyne.ThemeColorName {
	return [...]fyne.ThemeColorName{colorFill2, colorAccent, colorFill2, colorAmber}[o]
}

// promptRun is a stretch of one origin; in a wrapped line it holds no line break.
type promptRun struct {
	text string
	from origin
}

// promptRuns cuts the prompt into stretches of one origin.
func promptRuns(e *engine.Encoding) []promptRun {
	var tokens []string
	for _, c := range e.Control {
		if !slices.Contains(tokens, c.Token) {
			tokens = append(tokens, c.Token)
		}
	}
	var runs []promptRun
	add := func(text string, from origin) {
		if text != "" {
			runs = append(runs, promptRun{text, from})
		}
	}
	for _, p := range e.Pieces {
		from := pieceOrigin(p.Part)
		if from == fromTemplate {
			add(p.Text, from)
			continue
		}
		rest := p.Text
		for {
			at, token := firstOf(rest, tokens)
			if at < 0 {
				break
			}
			add(rest[:at], from)
			add(token, fromControl)
			rest = rest[at+len(token):]
		}
		add(rest, from)
	}
	return runs
}

func pieceOrigin(p engine.Part) origin {
	switch p {
	case engine.PartState:
		return fromState
	case engine.PartInstruction, engine.PartOption:
		return fromQuestion
	}
	return fromTemplate
}

// firstOf finds the first of the tokens in s; at is -1 when there is none.
func firstOf(s string, tokens []string) (at int, token string) {
	at = -1
	for _, t := range tokens {
		if i := strings.Index(s, t); i >= 0 && (at < 0 || i < at) {
			at, token = i, t
		}
	}
	return at, token
}

// wrapRuns breaks the prompt into lines of at most columns cells, at spaces where
// there are any. The space at a break stays at the end of its line.
func wrapRuns(runs []promptRun, columns int) [][]promptRun {
	w := wrapper{columns: columns}
	for _, r := range runs {
		for i, part := range strings.Split(r.text, "\n") {
			if i > 0 {
				w.flush()
			}
			w.add(part, r.from)
		}
	}
	w.flush()
	return w.lines
}

// wrapper fills one line after another, word by word.
type wrapper struct {
	columns int
	lines   [][]promptRun
	line    []promptRun
	cells   int
}

func (w *wrapper) flush() {
	w.lines = append(w.lines, w.line)
	w.line, w.cells = nil, 0
}

// add appends text without line breaks.
func (w *wrapper) add(text string, from origin) {
	for text != "" {
		word := text
		if i := strings.IndexByte(text, ' '); i >= 0 {
			word = text[:i+1]
		}
		text = text[len(word):]
		ink := cells(strings.TrimSuffix(word, " "))
		if w.cells > 0 && w.cells+ink > w.columns {
			w.flush()
		}
		for ; ink > w.columns; ink = cells(strings.TrimSuffix(word, " ")) {
			head := cellPrefix(word, w.columns-w.cells)
			w.put(head, from)
			w.flush()
			word = word[len(head):]
		}
		w.put(word, from)
	}
}

func (w *wrapper) put(text string, from origin) {
	if text == "" {
		return
	}
	w.cells += cells(text)
	if last := len(w.line) - 1; last >= 0 && w.line[last].from == from {
		w.line[last].text += text
		return
	}
	w.line = append(w.line, promptRun{text, from})
}

// cells is the width of a text in columns: wide characters take two.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cellPrefix is the longest beginning of at most n cells, and at least one
// character, so that wrapping gets on.
func cellPrefix(s string, n int) string {
	used := 0
	for i, r := range s {
		used += runeCells(r)
		if used > n && i > 0 {
			return s[:i]
		}
	}
	return s
}

// promptLine is one line of the list.
type promptLine struct {
	figure
	runs  []promptRun
	backs []*canvas.Rectangle
	texts []*canvas.Text
}

var _ drawn = (*promptLine)(nil)

func newPromptLine() *promptLine {
	l := &promptLine{}
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer builds the drawing.
func (l *promptLine) CreateRenderer() fyne.WidgetRenderer { return newDrawing(l) }

func (l *promptLine) set(runs []promptRun) {
	l.runs = runs
	for len(l.texts) < len(runs) {
		back, text := newRect(3), &canvas.Text{TextStyle: mono}
		l.backs, l.texts = append(l.backs, back), append(l.texts, text)
		l.parts = append(l.parts, back, text)
	}
	l.Refresh()
}

func (l *promptLine) paint() {
	for i := range l.texts {
		on := i < len(l.runs)
		show(l.texts[i], on)
		show(l.backs[i], on && l.runs[i].from != fromTemplate)
		if !on {
			continue
		}
		l.texts[i].Text = visible(l.runs[i].text)
		l.texts[i].Color, l.texts[i].TextSize = themeColor(l.runs[i].from.ink()), dp(promptText)
		l.backs[i].FillColor = themeColor(l.runs[i].from.fill())
	}
}

// visible shows tabs and other control characters, which a line cannot draw.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return '→'
		case r == 0x7f:
			return '\u2421'
		case r < ' ':
			return '\u2400' + r
		}
		return r
	}, s)
}

func (l *promptLine) least() fyne.Size { return fyne.NewSize(dp(200), dp(16)) }

func (l *promptLine) arrange(size fyne.Size) {
	x := dp(20)
	height := lineHeight(promptText, mono)
	for i := range l.runs {
		w := textWidth(l.texts[i].Text, dp(promptText), mono)
		back := w
		if i == len(l.runs)-1 { // the space at a break is not worth a tint
			back = textWidth(strings.TrimRight(l.texts[i].Text, " "), dp(promptText), mono)
		}
		put(l.backs[i], x-dp(1), -dp(1), back+dp(2), size.Height+dp(2))
		put(l.texts[i], x, (size.Height-height)/2, w, height)
		l.texts[i].Refresh()
		x += w
	}
}
