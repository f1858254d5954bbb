package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"clefbar/engine"
)

const (
	readsTitle = "What the model reads"
	readsNote  = "Exactly this text, in this order. Options are sorted by name."
)

// readsSheet is the exact prompt, tinted by where its text comes from.
type readsSheet struct {
	*modal
	body   *readsBody
	serial int // of the newest encoding asked for
}

// openReads shows what the model reads, or closes it again.
func (p *page) openReads() {
	if p.sheet != nil && p.sheet.title.full == readsTitle {
		p.sheet.close()
		return
	}
	s := &readsSheet{modal: newModal(p, readsTitle, readsNote)}
	s.body = newReadsBody(s)
	s.modal.body, s.modal.left = s.body, newReadsLegend()
	s.modal.right = newFootNote(keyText(fyne.KeyE, command()|fyne.KeyModifierShift))
	s.modal.head = []fyne.CanvasObject{newButton(rankOutline, "copy", "Copy", s.copy)}
	s.open()
	s.encode()
}

// encode asks for the prompt of the case as it is now, off the UI goroutine.
func (s *readsSheet) encode() {
	p := s.page
	s.serial++
	serial := s.serial
	r, problems := p.doc.Request()
	if r == nil {
		s.body.explain("This is not a request yet: " + problems[0].Sentence)
		return
	}
	p.counter.work.Go(func() {
		e, err := p.deps.Engine.Encode(r)
		if engine.ReasonOf(err) == engine.TooLong { // shown as it would be with its end cut
			cut := *r
			cut.Truncate = true
			if short, e2 := p.deps.Engine.Encode(&cut); e2 == nil {
				e, err = short, nil
			}
		}
		onUI(func() {
			switch {
			case serial != s.serial || p.sheet != s.modal:
			case err != nil:
				s.body.explain(sentenceOf(err))
			default:
				s.show(e, r)
			}
		})
	})
}

// show shows a prompt, and says when its end had to be cut to fit.
func (s *readsSheet) show(e *engine.Encoding, r *engine.Request) {
	note := readsNote
	switch {
	case e.Truncated > 0 && r.Truncate:
		note = "The last " + plural(e.Truncated, "token", "tokens") + " of the state are cut, as you chose."
	case e.Truncated > 0:
		note = "This is " + plural(e.Truncated, "token", "tokens") + " too long to run: so much of the state’s end is left out here."
	}
	s.note.set(note)
	s.body.showEncoding(e, r)
	s.modal.Refresh()
}

// readLiterally makes control tokens in the person's text plain text, or not.
func (s *readsSheet) readLiterally(on bool) {
	s.page.doc.SetLiteral(on)
	s.encode()
}

func (s *readsSheet) copy() {
	if e := s.body.encoding; e != nil {
		s.page.copyText("the prompt", e.Text)
	}
}

// readsBody is the prompt with its token counts beside it.
type readsBody struct {
	figure
	sheet    *readsSheet
	encoding *engine.Encoding
	runs     []promptRun
	lines    [][]promptRun
	columns  int
	list     *widget.List
	message  *paragraph
	side     *readsSide
	rule     *canvas.Rectangle
}

var _ drawn = (*readsBody)(nil)

const readsSideWidth = 256

func newReadsBody(s *readsSheet) *readsBody {
	b := &readsBody{sheet: s, message: newParagraph("", colorInk2, 13), side: newReadsSide(s.readLiterally), rule: newRect(0)}
	b.list = widget.NewList(
		func() int { return len(b.lines) },
		func() fyne.CanvasObject { return newPromptLine() },
		func(i widget.ListItemID, o fyne.CanvasObject) { o.(*promptLine).set(b.lines[i]) },
	)
	b.list.HideSeparators = true
	b.list.OnSelected = func(i widget.ListItemID) { b.list.Unselect(i) }
	b.parts = []fyne.CanvasObject{b.list, b.message, b.side, b.rule}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *readsBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

// explain says why there is no prompt to show.
func (b *readsBody) explain(text string) {
	b.encoding, b.runs, b.lines = nil, nil, nil
	b.message.set(text)
	b.side.set(nil, nil, false)
	b.list.Refresh()
	b.Refresh()
}

func (b *readsBody) showEncoding(e *engine.Encoding, r *engine.Request) {
	b.encoding, b.runs, b.columns = e, promptRuns(e), 0
	b.message.set("")
	b.side.set(tokenRows(e), e.Control, r.Literal)
	b.Refresh()
	b.list.ScrollToTop()
}

func (b *readsBody) paint() { b.rule.FillColor = themeColor(colorLine) }

func (b *readsBody) least() fyne.Size { return fyne.NewSize(dp(300), dp(120)) }

func (b *readsBody) arrange(size fyne.Size) {
	side := min(dp(readsSideWidth), size.Width/2)
	text := size.Width - side
	put(b.rule, text, 0, 1, size.Height)
	put(b.side, text+1, 0, side-1, size.Height)
	put(b.message, dp(20), dp(14), text-dp(40), dp(60))
	// Wrapped anew only when the number of columns changes.
	if n := max(20, int((text-dp(44))/textWidth("0", dp(promptText), mono))); n != b.columns && b.runs != nil {
		b.columns, b.lines = n, wrapRuns(b.runs, n)
		b.list.Refresh()
	}
	put(b.list, 0, dp(10), text, size.Height-dp(10))
}

// readsLegend explains the tints.
type readsLegend struct {
	figure
	swatches []*canvas.Rectangle
	texts    []*label
}

var _ drawn = (*readsLegend)(nil)

var origins = []struct {
	text string
	from origin
}{
	{"your state", fromState}, {"your questions and options", fromQuestion}, {"control token", fromControl},
}

func newReadsLegend() *readsLegend {
	l := &readsLegend{}
	for _, e := range origins {
		swatch, text := newRect(3), newLabel(e.text, colorInk2, 13, regular)
		l.swatches, l.texts = append(l.swatches, swatch), append(l.texts, text)
		l.parts = append(l.parts, swatch, text.Text)
	}
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer builds the drawing.
func (l *readsLegend) CreateRenderer() fyne.WidgetRenderer { return newDrawing(l) }

func (l *readsLegend) paint() {
	for i, e := range origins {
		paintSwatch(l.swatches[i], e.from)
		l.texts[i].paint()
	}
}

func (l *readsLegend) least() fyne.Size { return fyne.NewSize(dp(420), dp(20)) }

func (l *readsLegend) arrange(size fyne.Size) {
	x := float32(0)
	for i, t := range l.texts {
		put(l.swatches[i], x, (size.Height-dp(12))/2, dp(12), dp(12))
		x += dp(19)
		x += t.place(x, 0, t.width()+1, size.Height) + dp(16)
	}
}

func paintSwatch(r *canvas.Rectangle, from origin) {
	r.FillColor = themeColor(from.fill())
	r.StrokeColor, r.StrokeWidth = themeColor(from.edge()), 1
}
