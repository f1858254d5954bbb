package ui

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"clefbar/ui/document"
)

// viewerColumns is how many characters a line of the viewer holds. Longer lines are
// broken, so that no line is ever too wide to draw.
const viewerColumns = 110

// openAttachment shows a long text: a list that draws only the lines in sight.
// What fits the editor can be moved there to be shortened; anything can be pasted
// anew.
func (p *page) openAttachment(k document.Key) {
	var text document.Attachment
	for _, a := range p.doc.State().Attachments {
		if a.Key == k {
			text = a
		}
	}
	if text.Key == 0 {
		return
	}
	lines := viewerLines(text.Text)
	m := newModal(p, text.Name, attachmentMeta(text.Text))
	m.body = newViewer(lines)
	inline := newButton(rankOutline, "", "Edit in the state", func() {
		m.close()
		p.doc.Inline(k)
		p.focusState()
	})
	inline.setDisabled(!document.FitsEditor(p.doc.State().Text + "\n\n" + text.Text))
	inline.tip = "For texts of up to 16 KB"
	keep := newButton(rankOutline, "", "Keep lines…", func() { p.askLines(k, len(splitLines(text.Text))) })
	copyAll := newButton(rankOutline, "copy", "Copy", func() { p.copyText(text.Name, text.Text) })
	m.head = []fyne.CanvasObject{inline, keep, copyAll}
	m.open()
}

// viewerLine is one line as drawn; a broken line has a number only once.
type viewerLine struct {
	number int
	text   string
}

func viewerLines(text string) []viewerLine {
	var lines []viewerLine
	for i, line := range splitLines(text) {
		runes := []rune(breaks.Replace(line))
		number := i + 1
		for {
			n := min(viewerColumns, len(runes))
			lines = append(lines, viewerLine{number, string(runes[:n])})
			runes, number = runes[n:], 0
			if len(runes) == 0 {
				break
			}
		}
	}
	return lines
}

func newViewer(lines []viewerLine) *widget.List {
	list := widget.NewList(
		func() int { return len(lines) },
		func() fyne.CanvasObject { return newViewerRow() },
		func(i widget.ListItemID, o fyne.CanvasObject) { o.(*viewerRow).set(lines[i]) },
	)
	list.HideSeparators = true
	list.OnSelected = func(i widget.ListItemID) { list.Unselect(i) }
	return list
}

// viewerRow is one line of the viewer.
type viewerRow struct {
	figure
	number, text *label
}

var _ drawn = (*viewerRow)(nil)

func newViewerRow() *viewerRow {
	r := &viewerRow{number: newLabel("", colorInk3, 11, mono), text: newLabel("", colorInk, 12, mono)}
	r.parts = []fyne.CanvasObject{r.number.Text, r.text.Text}
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer builds the drawing.
func (r *viewerRow) CreateRenderer() fyne.WidgetRenderer { return newDrawing(r) }

func (r *viewerRow) set(l viewerLine) {
	r.number.set("")
	if l.number > 0 {
		r.number.set(strconv.Itoa(l.number))
	}
	r.text.set(l.text)
	r.Refresh()
}

func (r *viewerRow) paint() {
	r.number.paint()
	r.text.paint()
}

func (r *viewerRow) least() fyne.Size { return fyne.NewSize(dp(300), dp(16)) }

func (r *viewerRow) arrange(size fyne.Size) {
	r.number.placeRight(dp(52), 0, dp(52), size.Height)
	r.text.place(dp(68), 0, max(0, size.Width-dp(76)), size.Height)
}
