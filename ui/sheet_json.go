package ui

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"clefbar/ui/document"
)

const jsonTitle = "Request as JSON"

// jsonDraft is a text of the JSON sheet that was no request when the sheet was
// closed. It is shown again as long as the case is the same.
type jsonDraft struct {
	text     string
	revision uint64
	doc      *document.Case
}

// jsonSheet is the request as text, both ways: what is valid is in the form at
// once, what is not says where and why.
type jsonSheet struct {
	*modal
	folded document.Folded
	before document.Snapshot // as the sheet was opened
	body   *jsonBody
	foot   *jsonFoot
	err    error       // of the text that is shown
	later  *time.Timer // reads a long text when typing rests; nil while there is none
}

// readAtOnce is the longest text that is read with every key; a longer one is read
// when typing rests for readDelay.
const (
	readAtOnce = 32 << 10
	readDelay  = 300 * time.Millisecond
)

// openJSON opens the sheet, or closes it when it is open.
func (p *page) openJSON() {
	if p.sheet != nil && p.sheet.title.full == jsonTitle {
		p.sheet.close()
		return
	}
	s := &jsonSheet{modal: newModal(p, jsonTitle, "Edits here change the form, and the other way round."), before: p.doc.Snapshot()}
	s.folded = s.before.Fold()
	s.body = newJSONBody(s)
	note := newFootNote(keyText(fyne.KeyE, command()) + " opens and closes this sheet")
	s.foot = newJSONFoot(s.takeBack, func() float32 {
		return min(dp(modalWidth), p.canvas().Size().Width-dp(modalMargin)) - note.MinSize().Width - dp(56)
	})
	s.modal.body, s.modal.left, s.modal.right = s.body, s.foot, note
	s.modal.head = []fyne.CanvasObject{newButton(rankOutline, "copy", "Copy", s.copy)}
	s.modal.closed = s.leave
	text := s.folded.Text
	if d := p.draft; d.doc == p.doc && d.revision == p.doc.Revision() && d.text != "" {
		text = d.text
	}
	p.draft = jsonDraft{}
	s.body.entry.SetText(text)
	s.check(text)
	s.body.entry.OnChanged = s.typed
	s.open()
	p.canvas().Focus(s.body.entry)
}

// typed reads the text now, or when typing rests.
func (s *jsonSheet) typed(text string) {
	if len(text) <= readAtOnce {
		s.read(text)
		return
	}
	if s.later != nil {
		s.later.Stop()
	}
	s.later = time.AfterFunc(readDelay, func() { onUI(s.catchUp) })
}

// catchUp reads what has been typed since the last time.
func (s *jsonSheet) catchUp() {
	if s.later != nil {
		s.later.Stop()
		s.later = nil
		s.read(s.body.entry.Text)
	}
}

// read puts a valid text into the form and says what is wrong with another.
func (s *jsonSheet) read(text string) {
	if s.check(text) {
		if err := s.page.doc.Apply([]byte(text), s.folded); err != nil {
			s.err = err
		}
	}
	s.foot.offer(s.page.doc.Snapshot() != s.before)
	s.modal.Refresh()
}

// check shows what there is to say about a text and reports whether the form can
// show it.
func (s *jsonSheet) check(text string) bool {
	probe, err := s.folded.FromText([]byte(text))
	s.err = err
	if err != nil {
		s.foot.say("alert", colorRed, capital(err.Error()))
		s.body.showMarks(text, nil)
		return false
	}
	s.body.showMarks(text, probe.Structured())
	s.body.side.set(s.sideBlocks(text, probe))
	problems := probe.Problems()
	if len(problems) == 0 {
		s.foot.say("check", colorAccent, "Valid. Applied to the form.")
		return true
	}
	where := ""
	if at := probe.At(problems[0].Field); at >= 0 {
		line, _ := document.LineColumn([]byte(text), at)
		where = fmt.Sprintf("Line %d: ", line)
	}
	more := ""
	if n := len(problems) - 1; n > 0 {
		more = fmt.Sprintf(" And %s.", plural(n, "more thing", "more things"))
	}
	s.foot.say("warning", colorAmber, where+problems[0].Sentence+more)
	return true
}

// sideBlocks explains what the form keeps as written, and the size.
func (s *jsonSheet) sideBlocks(text string, probe *document.Case) []sideBlock {
	var blocks []sideBlock
	add := func(title string, lines ...string) { blocks = append(blocks, sideBlock{title: title, lines: lines}) }
	if list := probe.Structured(); len(list) > 0 {
		add("Kept as written", keptSentence(text, list))
	}
	if names := probe.Carried(); len(names) > 0 {
		add("Carried through", "The form does not show "+listed(names)+".")
	}
	if s.folded.Reflowed {
		add("Shown indented", "The request is written in long lines. It keeps its white space until you edit it here.")
	}
	if strings.Contains(text, " characters") && strings.Contains(text, "… (") {
		add("Shown cut", "Long texts are cut here and sent whole.")
	}
	size := []string{plural(len(probe.Questions()), "question", "questions"), plural(len(s.page.doc.JSON()), "byte", "bytes")}
	if c := s.page.counter.last; !c.estimate {
		size = append(size, plural(c.tokens, "token", "tokens"))
	}
	add("Size", size...)
	return blocks
}

func keptSentence(text string, list []document.Structured) string {
	line, _ := document.LineColumn([]byte(text), list[0].From)
	if len(list) == 1 {
		return fmt.Sprintf("Line %d: %s holds structured text. The form shows it as a chip and never rewrites it.", line, list[0].Name)
	}
	var lines []string
	for _, s := range list {
		n, _ := document.LineColumn([]byte(text), s.From)
		if at := itoa(n); len(lines) == 0 || lines[len(lines)-1] != at {
			lines = append(lines, at)
		}
	}
	where := "Lines "
	if len(lines) == 1 {
		where = "Line "
	}
	return where + listed(lines) + " hold structured text. The form shows it as chips and never rewrites it."
}

// listed joins words as people do, at most five of them.
func listed(words []string) string {
	const most = 5
	if len(words) > most {
		words = append(words[:most:most], fmt.Sprintf("%d more", len(words)-most))
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func capital(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-'a'+'A') + s[1:]
	}
	return strings.TrimSuffix(s, ".") + "."
}

// copy puts the exact request on the clipboard, or the text while it is none.
func (s *jsonSheet) copy() {
	s.catchUp()
	text := string(s.page.doc.JSON())
	if s.err != nil {
		text = s.body.entry.Text
	}
	fyne.CurrentApp().Clipboard().SetContent(text)
	s.foot.say("check", colorAccent, "Copied.")
}

// takeBack gives the case back as it was when the sheet was opened.
func (s *jsonSheet) takeBack() {
	s.catchUp()
	s.page.doc.Restore(s.before)
	s.folded = s.before.Fold()
	s.body.entry.OnChanged = nil
	s.body.entry.SetText(s.folded.Text)
	s.body.entry.OnChanged = s.typed
	s.check(s.folded.Text)
	s.foot.offer(false)
	s.modal.Refresh()
}

// leave keeps a text that is no request for the next time.
func (s *jsonSheet) leave() {
	s.catchUp()
	if s.err == nil {
		return
	}
	p := s.page
	p.draft = jsonDraft{text: s.body.entry.Text, revision: p.doc.Revision(), doc: p.doc}
	p.say("The JSON has a slip in it and is not in the form; " + keyText(fyne.KeyE, command()) + " shows it again.")
}

// jsonFoot says what the text is worth, and offers the way back.
type jsonFoot struct {
	figure
	sign *icon
	text *label
	back *button
	room func() float32 // what the foot has for it
}

var _ drawn = (*jsonFoot)(nil)

func newJSONFoot(takeBack func(), room func() float32) *jsonFoot {
	f := &jsonFoot{room: room, sign: newIcon("check", colorAccent), text: newLabel("", colorInk2, 13, regular)}
	f.back = newButton(rankLink, "", "Take the edits back", takeBack)
	f.back.Hide()
	f.parts = []fyne.CanvasObject{f.sign.Image, f.text.Text, f.back}
	f.ExtendBaseWidget(f)
	return f
}

// CreateRenderer builds the drawing.
func (f *jsonFoot) CreateRenderer() fyne.WidgetRenderer { return newDrawing(f) }

func (f *jsonFoot) say(sign string, token fyne.ThemeColorName, text string) {
	f.sign.become(sign, token)
	f.text.token = colorInk2
	if token == colorRed {
		f.text.token = colorRed
	}
	f.text.set(text)
	f.Refresh()
}

func (f *jsonFoot) offer(changed bool) {
	show(f.back, changed)
	f.Refresh()
}

func (f *jsonFoot) paint() {
	f.sign.paint()
	f.text.paint()
}

func (f *jsonFoot) least() fyne.Size {
	width := dp(24) + f.text.width()
	if f.back.Visible() {
		width += dp(16) + f.back.MinSize().Width
	}
	return fyne.NewSize(min(width, f.room()), dp(24))
}

func (f *jsonFoot) arrange(size fyne.Size) {
	put(f.sign.Image, dp(1), (size.Height-dp(14))/2, dp(14), dp(14))
	room := size.Width - dp(23)
	if f.back.Visible() {
		room -= f.back.MinSize().Width + dp(8)
	}
	w := f.text.place(dp(23), 0, room, size.Height)
	s := f.back.MinSize()
	put(f.back, dp(23)+w+dp(8), (size.Height-s.Height)/2, s.Width, s.Height)
}

// footNote is a quiet sentence at the end of a foot.
type footNote struct {
	figure
	text *label
}

var _ drawn = (*footNote)(nil)

func newFootNote(text string) *footNote {
	n := &footNote{text: newLabel(text, colorInk3, 12, regular)}
	n.parts = []fyne.CanvasObject{n.text.Text}
	n.ExtendBaseWidget(n)
	return n
}

// CreateRenderer builds the drawing.
func (n *footNote) CreateRenderer() fyne.WidgetRenderer { return newDrawing(n) }

func (n *footNote) paint() { n.text.paint() }

func (n *footNote) least() fyne.Size { return fyne.NewSize(n.text.width()+1, dp(20)) }

func (n *footNote) arrange(size fyne.Size) { n.text.place(0, 0, size.Width+1, size.Height) }
