package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/software"

	"clefbar/engine"
	"clefbar/ui/document"
)

// maxOpened is the largest file that is read into a case.
const maxOpened = 64 << 20

func (p *page) save() {
	if p.deps.Save != nil {
		p.deps.Save(p.settings)
	}
}

func (p *page) undo() { p.doc.Undo() }

func (p *page) redo() { p.doc.Redo() }

// menuUndo and menuRedo are the menu's: over a sheet they belong to its field.
func (p *page) menuUndo() { p.inSheet(&fyne.ShortcutUndo{}, p.undo) }

func (p *page) menuRedo() { p.inSheet(&fyne.ShortcutRedo{}, p.redo) }

func (p *page) inSheet(s fyne.Shortcut, otherwise func()) {
	if field, ok := p.canvas().Focused().(fyne.Shortcutable); ok && p.sheet != nil {
		field.TypedShortcut(s)
		return
	}
	otherwise()
}

func (p *page) fix(pr document.Problem) { p.doc.Fix(pr) }

func (p *page) dismiss(pr document.Problem) { p.doc.Dismiss(pr) }

// keep makes a case the open one and keeps it from now on.
func (p *page) keep(c *document.Case) {
	if p.deps.Cases != nil {
		p.deps.Cases.Keep(c)
	}
	p.open(c)
}

func (p *page) newCase() {
	p.keep(document.New())
	p.focusState()
}

func (p *page) focusState() { p.canvas().Focus(p.state.entry) }

// openSample opens a copy of a sample under its title.
func (p *page) openSample(s Sample) {
	c, err := document.FromSample(s.Title, s.JSON)
	if err != nil {
		p.say(sentenceOf(err))
		return
	}
	p.keep(c)
	if p.deps.Models.State().Phase == PhaseReady {
		p.decide()
	}
}

func (p *page) addQuestion(k engine.Kind) {
	n := len(p.doc.Questions())
	key := p.doc.AddQuestion(n, k)
	c, ok := p.cards[key]
	if !ok {
		return
	}
	p.questions.reveal(c.Position().Y, c.Size().Height)
	c.begin(c.head.title)
}

// focusQuestion goes to the n-th question, counted from 1.
func (p *page) focusQuestion(n int) {
	list := p.doc.Questions()
	if n < 1 || n > len(list) {
		return
	}
	c := p.cards[list[n-1].Key]
	p.reveal(c, 0, dp(cardHead))
	c.begin(c.head.title)
}

func (p *page) setThreshold(v float64) {
	p.settings.Threshold = v
	p.save()
	p.refresh()
}

// copyText puts a text on the clipboard and says so.
func (p *page) copyText(what, text string) {
	fyne.CurrentApp().Clipboard().SetContent(text)
	p.say("Copied: " + what)
}

func (p *page) copyCSV() {
	p.copyText("answers as CSV", string(p.doc.Snapshot().ResultsCSV(p.outcome.response)))
}

// pasteJSON opens the request on the clipboard as a new case.
func (p *page) pasteJSON() {
	text := fyne.CurrentApp().Clipboard().Content()
	if strings.TrimSpace(text) == "" {
		p.say("The clipboard holds no text.")
		return
	}
	p.openJSONText(text)
}

func (p *page) openJSONText(text string) {
	c, err := document.FromJSON([]byte(text))
	if err != nil {
		p.say("The clipboard holds no request: " + err.Error())
		return
	}
	p.keep(c)
}

// pasteState looks at what is pasted into the state and reports whether it is dealt
// with: a request opens as a case, a picture is attached, a long text is kept
// beside the editor.
func (p *page) pasteState(text string) bool {
	kind, data := document.Classify(p.state.entry.Text, text)
	switch kind {
	case document.PasteRequest:
		p.openJSONText(text)
	case document.PasteImage:
		p.addImage("Pasted image", data)
	case document.PasteLong:
		if p.state.entry.SelectedText() != "" {
			p.state.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDelete})
		}
		p.doc.Attach("", text)
	default:
		return false
	}
	return true
}

// attachOverflow moves a text that grew too long for the editor beside it.
func (p *page) attachOverflow(text string) {
	p.doc.SetText("")
	p.doc.Attach("Long text", text)
	p.state.entry.show("")
}

func (p *page) addImage(name string, data []byte) {
	if _, err := p.doc.AddImage(name, data); err != nil {
		p.say(sentenceOf(err))
	}
}

// dropped takes files dropped on the window: pictures, requests and text.
func (p *page) dropped(files []fyne.URI) {
	for _, f := range files {
		p.addFile(f.Path())
	}
}

// addFile puts a file into the case by what it holds.
func (p *page) addFile(path string) {
	data, err := readCapped(path)
	if err != nil {
		p.say(sentenceOf(err))
		return
	}
	name := filepath.Base(path)
	switch {
	case isPicture(data):
		p.addImage(name, data)
	case looksLikeRequest(data):
		p.openFile(path)
	case !utf8.Valid(data):
		p.say(name + " is neither text nor a PNG, JPEG or WebP picture.")
	case document.FitsEditor(string(data)) && p.state.entry.Text == "":
		p.doc.SetText(string(data))
	default:
		p.doc.Attach(name, string(data))
	}
}

func readCapped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOpened+1))
	if err == nil && len(data) > maxOpened {
		err = errors.New(filepath.Base(path) + " is larger than 64 MB")
	}
	return data, err
}

func isPicture(data []byte) bool {
	for _, magic := range []string{"\x89PNG\r\n", "\xff\xd8\xff"} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	return len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

func looksLikeRequest(data []byte) bool {
	kind, _ := document.Classify("", string(data))
	return kind == document.PasteRequest
}

// openFile opens a case file or a request.
func (p *page) openFile(path string) {
	c, err := document.FromFile(path)
	if err != nil {
		p.say(sentenceOf(err))
		return
	}
	p.keep(c)
}

// saveCase writes the case to its file, or asks for one.
func (p *page) saveCase() {
	if p.doc.FilePath() == "" {
		p.pickSave()
		return
	}
	p.saveTo(p.doc.FilePath())
}

func (p *page) saveTo(path string) {
	if err := p.doc.Save(path); err != nil {
		p.say(sentenceOf(err))
		return
	}
	p.say("Saved " + filepath.Base(path))
}

// picture draws the questions with their answers, at 2×, without the window
// around them.
func (p *page) picture() ([]byte, error) {
	cards := newColumn()
	width := dp(803)
	shot := newPage(p.window, p.deps, p.settings)
	shot.doc, shot.outcome = p.doc, p.outcome
	shot.Resize(fyne.NewSize(dp(1180), dp(700)))
	var items []stacked
	for i, q := range p.doc.Questions() {
		c := newCard(shot)
		c.wide = dp(barWidth)
		c.set(p.cardView(q, i, nil))
		c.setSeen(0, 1e6)
		items = append(items, c)
	}
	cards.set(items)
	cards.view = span1{-1e6, 1e6}
	canvas := software.NewTransparentCanvas()
	canvas.SetPadded(false)
	canvas.SetScale(2)
	canvas.SetContent(cards)
	cards.Resize(fyne.NewSize(width, 10))
	canvas.Resize(fyne.NewSize(width, cards.least().Height))
	var out bytes.Buffer
	err := png.Encode(&out, canvas.Capture())
	return out.Bytes(), err
}

// indented writes compact JSON over several lines, for reading.
func indented(text string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		return text
	}
	return out.String()
}
