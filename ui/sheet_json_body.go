package ui

import (
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"clefbar/ui/document"
)

const (
	gutterWidth = 49
	sideWidth   = 182
	jsonText    = 12
)

// jsonBody is the editor with its gutter, and what there is to know beside it.
type jsonBody struct {
	figure
	entry  *jsonEntry
	paper  *jsonPaper
	scroll *container.Scroll
	side   *sheetSide
	rule   *canvas.Rectangle
}

var _ drawn = (*jsonBody)(nil)

func newJSONBody(s *jsonSheet) *jsonBody {
	b := &jsonBody{entry: newJSONEntry(s.modal.close), side: newSheetSide(), rule: newRect(0)}
	b.paper = newJSONPaper(b.entry)
	b.scroll = container.NewScroll(b.paper)
	b.scroll.OnScrolled = func(at fyne.Position) { b.paper.scrolled(at, b.scroll.Size()) }
	b.entry.OnCursorChanged = b.follow
	b.parts = []fyne.CanvasObject{b.scroll, b.side, b.rule}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *jsonBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *jsonBody) paint() { b.rule.FillColor = themeColor(colorLine) }

func (b *jsonBody) least() fyne.Size { return fyne.NewSize(dp(300), dp(120)) }

func (b *jsonBody) arrange(size fyne.Size) {
	side := dp(sideWidth)
	if size.Width < dp(640) {
		side = 0
	}
	show(b.side, side > 0)
	show(b.rule, side > 0)
	put(b.rule, size.Width-side, 0, 1, size.Height)
	put(b.side, size.Width-side+1, 0, max(0, side-1), size.Height)
	b.paper.view = fyne.NewSize(size.Width-side, size.Height)
	put(b.scroll, 0, 0, size.Width-side, size.Height)
	b.paper.scrolled(b.scroll.Offset, b.scroll.Size())
}

// showMarks counts the lines of the text and tints those that are kept as written.
func (b *jsonBody) showMarks(text string, kept []document.Structured) {
	b.paper.lines = 1 + strings.Count(text, "\n")
	b.paper.tinted = b.paper.tinted[:0]
	for _, s := range kept {
		from, _ := document.LineColumn([]byte(text), s.From)
		to, _ := document.LineColumn([]byte(text), s.To)
		b.paper.tinted = append(b.paper.tinted, [2]int{from - 1, to - 1})
	}
	b.paper.Refresh()
	b.scroll.Refresh()
}

// follow keeps the cursor in sight.
func (b *jsonBody) follow() {
	at := b.entry.CursorPosition().AddXY(b.paper.entryX(), 0)
	line := b.paper.pitch()
	view, offset := b.scroll.Size(), b.scroll.Offset
	left := b.paper.entryX() + dp(8)
	switch {
	case at.X < offset.X+left:
		offset.X = max(0, at.X-left)
	case at.X > offset.X+view.Width-dp(24):
		offset.X = at.X - view.Width + dp(24)
	}
	switch {
	case at.Y < offset.Y+line/2:
		offset.Y = max(0, at.Y-line)
	case at.Y+2*line > offset.Y+view.Height:
		offset.Y = at.Y + 2*line - view.Height
	}
	if offset != b.scroll.Offset && view.Height > 0 {
		b.scroll.ScrollToOffset(offset)
		b.paper.scrolled(offset, view)
	}
}

// jsonPaper is what scrolls: tints under the text, the text, the gutter, which
// stays at the left edge.
type jsonPaper struct {
	figure
	entry  *jsonEntry
	lines  int
	tinted [][2]int  // first and last line
	view   fyne.Size // of the scroller
	at     fyne.Position
	under  *fyne.Container
	gutter *fyne.Container
	ground *canvas.Rectangle
}

var _ drawn = (*jsonPaper)(nil)

func newJSONPaper(e *jsonEntry) *jsonPaper {
	p := &jsonPaper{entry: e, under: container.NewWithoutLayout(), gutter: container.NewWithoutLayout(), ground: newRect(0)}
	p.parts = []fyne.CanvasObject{p.under, e.shell, p.ground, p.gutter}
	p.ExtendBaseWidget(p)
	return p
}

// CreateRenderer builds the drawing.
func (p *jsonPaper) CreateRenderer() fyne.WidgetRenderer { return newDrawing(p) }

// pitch is the height of a line of the editor.
func (p *jsonPaper) pitch() float32 { return lineHeight(jsonText, codeStyle) }

func (p *jsonPaper) entryX() float32 { return dp(gutterWidth + 4) }

// top is where the first line of the editor begins.
func (p *jsonPaper) top() float32 { return dp(8) }

func (p *jsonPaper) scrolled(at fyne.Position, view fyne.Size) {
	p.at, p.view = at, view
	p.arrange(p.Size())
}

func (p *jsonPaper) paint() { p.ground.FillColor = themeColor(colorBg) }

func (p *jsonPaper) least() fyne.Size {
	least := p.entry.shell.MinSize()
	return fyne.NewSize(p.entryX()+least.Width, max(least.Height, p.top()*2+float32(p.lines)*p.pitch())).Max(p.view)
}

func (p *jsonPaper) arrange(size fyne.Size) {
	put(p.entry.shell, p.entryX(), 0, max(0, size.Width-p.entryX()), size.Height)
	put(p.ground, p.at.X, 0, dp(gutterWidth), size.Height)
	p.arrangeTints(size)
	p.arrangeNumbers()
}

func (p *jsonPaper) arrangeTints(size fyne.Size) {
	for len(p.under.Objects) < len(p.tinted) {
		p.under.Objects = append(p.under.Objects, newRect(0))
	}
	for i, o := range p.under.Objects {
		show(o, i < len(p.tinted))
		if i >= len(p.tinted) {
			continue
		}
		o.(*canvas.Rectangle).FillColor = themeColor(colorAccentSoft)
		from, to := float32(p.tinted[i][0]), float32(p.tinted[i][1])
		put(o, 0, p.top()+from*p.pitch(), size.Width, (to-from+1)*p.pitch())
	}
}

// arrangeNumbers draws the numbers of the lines in sight.
func (p *jsonPaper) arrangeNumbers() {
	first := max(0, int((p.at.Y-p.top())/p.pitch()))
	count := min(p.lines-first, int(p.view.Height/p.pitch())+2)
	for len(p.gutter.Objects) < count {
		p.gutter.Objects = append(p.gutter.Objects, &canvas.Text{TextStyle: codeStyle, Alignment: fyne.TextAlignTrailing})
	}
	for i, o := range p.gutter.Objects {
		show(o, i < count)
		if i >= count {
			continue
		}
		t := o.(*canvas.Text)
		t.Text, t.Color, t.TextSize = strconv.Itoa(first+i+1), themeColor(colorInk3), dp(jsonText)
		put(t, p.at.X, p.top()+float32(first+i)*p.pitch(), dp(gutterWidth-13), p.pitch())
		t.Refresh()
	}
}

// jsonEntry is the text. It knows nothing of JSON but where a line begins.
type jsonEntry struct {
	widget.Entry
	shell *container.ThemeOverride
	close func()
}

var _ fyne.Tabbable = (*jsonEntry)(nil)

func newJSONEntry(closeSheet func()) *jsonEntry {
	e := &jsonEntry{close: closeSheet}
	e.ExtendBaseWidget(e)
	e.MultiLine = true
	e.TextStyle = codeStyle
	e.Wrapping = fyne.TextWrapOff
	e.Scroll = fyne.ScrollNone
	e.shell = container.NewThemeOverride(e, fieldTheme{size: jsonText})
	return e
}

// AcceptsTab lets Tab leave the editor, so that every button is reached by keys.
func (e *jsonEntry) AcceptsTab() bool { return false }

// TypedShortcut lets the window have what the editor does not know.
func (e *jsonEntry) TypedShortcut(s fyne.Shortcut) {
	if c, ok := s.(*desktop.CustomShortcut); ok && passOn(e, c) {
		return
	}
	e.Entry.TypedShortcut(s)
}

// TypedKey closes the sheet on Escape and indents a new line like the one before.
func (e *jsonEntry) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyEscape:
		e.close()
	case fyne.KeyReturn, fyne.KeyEnter:
		lines := strings.Split(e.Text, "\n")
		line := lines[min(e.CursorRow, len(lines)-1)]
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		indent = indent[:min(len(indent), e.CursorColumn)]
		e.Entry.TypedKey(k)
		for _, r := range indent {
			e.TypedRune(r)
		}
	default:
		e.Entry.TypedKey(k)
	}
}
