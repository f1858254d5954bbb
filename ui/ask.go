package ui

import (
	"fmt"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"clefbar/ui/document"
)

// ask shows a small sheet with one field; Return takes it.
func (p *page) ask(title, note, value string, take func(string)) {
	m := newModal(p, title, "")
	m.width, m.height = 420, 168
	field := newAskField(value, func(s string) {
		m.close()
		take(s)
	}, m.close)
	m.done.onTap = func() { field.OnSubmitted(field.Text) }
	m.body = newAskBody(note, field)
	m.open()
	p.canvas().Focus(field)
}

// confirm shows a small sheet with a question; the page does nothing without a yes.
func (p *page) confirm(title, note, yes string, do func()) {
	m := newModal(p, title, "")
	m.width, m.height = noteWidth, max(150, noteHeight(note))
	m.done.set(rankPrimary, yes, "")
	m.done.onTap = func() {
		m.close()
		do()
	}
	m.head = []fyne.CanvasObject{newButton(rankOutline, "", "Cancel", m.close)}
	m.body = newAskBody(note, nil)
	m.open()
}

// tell shows a small sheet with something that the person should know.
func (p *page) tell(title, note string) {
	m := newModal(p, title, "")
	m.width, m.height = noteWidth, noteHeight(note)
	m.body = newAskBody(note, nil)
	m.open()
}

const noteWidth = 460

// noteHeight is how high a small sheet is that shows nothing but a note, in dp.
func noteHeight(note string) float32 {
	return modalHead + 36 + newParagraph(note, colorInk2, 13).heightAt(dp(noteWidth-40))/dp(1)
}

// askCut asks before the end of a state may be cut.
func (p *page) askCut() {
	over := p.counter.last.tokens - p.deps.Models.State().Info.Limit
	p.confirm("Cut the end?", fmt.Sprintf("The model will not read the last %s tokens of the state. The text itself stays as it is, and every answer says how much was cut.", thousands(over)),
		"Cut and decide", func() {
			p.doc.SetTruncate(true)
			p.decide()
		})
}

// askLines keeps a stretch of an attachment's lines.
func (p *page) askLines(k document.Key, n int) {
	p.ask("Keep lines", "Which lines should stay? For example 1-200.", "1-"+strconv.Itoa(n), func(s string) {
		from, to, ok := lineRange(s, n)
		if !ok {
			p.say("Write two line numbers, such as 1-200.")
			return
		}
		for _, a := range p.doc.State().Attachments {
			if a.Key == k {
				p.doc.SetAttachment(k, strings.Join(splitLines(a.Text)[from-1:to], "\n"))
			}
		}
	})
}

// lineRange reads "20-400" within 1..n.
func lineRange(s string, n int) (from, to int, ok bool) {
	a, b, found := strings.Cut(s, "-")
	if !found {
		b = a
	}
	from, err1 := strconv.Atoi(strings.TrimSpace(a))
	to, err2 := strconv.Atoi(strings.TrimSpace(b))
	if err1 != nil || err2 != nil || from < 1 || from > n || to < from {
		return 0, 0, false
	}
	return from, min(to, n), true
}

func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// askField is a field that Escape leaves.
type askField struct {
	widget.Entry
	leave func()
}

func newAskField(value string, take func(string), leave func()) *askField {
	f := &askField{leave: leave}
	f.ExtendBaseWidget(f)
	f.SetText(value)
	f.OnSubmitted = take
	return f
}

// TypedKey leaves on Escape.
func (f *askField) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		f.leave()
		return
	}
	f.Entry.TypedKey(k)
}

// askBody is a sentence over a field.
type askBody struct {
	figure
	note  *paragraph
	field *askField
}

var _ drawn = (*askBody)(nil)

func newAskBody(note string, field *askField) *askBody {
	b := &askBody{note: newParagraph(note, colorInk2, 13), field: field}
	b.parts = []fyne.CanvasObject{b.note}
	if field != nil {
		b.parts = append(b.parts, field)
	}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *askBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *askBody) paint() {}

func (b *askBody) least() fyne.Size { return fyne.NewSize(dp(300), dp(90)) }

func (b *askBody) arrange(size fyne.Size) {
	w := size.Width - dp(40)
	h := b.note.heightAt(w)
	put(b.note, dp(20), dp(16), w, h)
	if b.field != nil {
		put(b.field, dp(20), dp(16)+h+dp(12), w, b.field.MinSize().Height)
	}
}
