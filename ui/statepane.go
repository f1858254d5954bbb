package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"clefbar/engine"
	"clefbar/ui/document"
)

// statePane is the left side, or the upper one in a narrow window: the state with
// its meter, what is attached to it, and the hints of a first run.
type statePane struct {
	figure
	page    *page
	stacked bool

	back     *canvas.Rectangle
	title    *label
	count    *label
	meter    *meter
	entry    *stateEntry
	kept     *structured
	attached []*attachmentCard
	note     *paragraph
	pictures []*pictureCard
	hints    []*hint
	file     *button
	image    *button
	drop     *label
}

var _ drawn = (*statePane)(nil)

func newStatePane(p *page) *statePane {
	s := &statePane{page: p, back: newRect(0), meter: newMeter(), entry: newStateEntry(p)}
	s.title = newLabel("State", colorInk, 13, bold)
	s.count = newLabel("", colorInk3, 12, regular)
	s.kept = newStructured(p)
	s.note = newParagraph("Long text is kept beside the editor so that typing stays quick. The model reads it in full, right here.", colorInk3, 12)
	s.file = newButton(rankQuiet, "file", "File", p.pickFile)
	s.image = newButton(rankQuiet, "image", "Image", p.pickImage)
	s.drop = newLabel("or drop anything here", colorInk3, 12, regular)
	s.ExtendBaseWidget(s)
	s.collect()
	return s
}

// CreateRenderer builds the drawing.
func (s *statePane) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

// showCase shows the state of a case.
func (s *statePane) showCase(st document.State, images []document.Image) {
	locked := st.Type != engine.String
	show(s.entry.shell, !locked)
	show(s.kept, locked)
	if locked {
		s.kept.set(st.Type, st.Text)
	} else {
		s.entry.show(st.Text)
	}
	s.showAttachments(st.Attachments)
	s.showPictures(images)
	s.collect()
	s.Refresh()
}

func (s *statePane) showAttachments(list []document.Attachment) {
	old := map[document.Key]*attachmentCard{}
	for _, c := range s.attached {
		old[c.key] = c
	}
	s.attached = nil
	for _, a := range list {
		c := old[a.Key]
		if c == nil || c.size != attachmentMeta(a.Text) || c.name.full != oneLine(a.Name) {
			c = newAttachmentCard(s.page, a)
		}
		s.attached = append(s.attached, c)
	}
}

func (s *statePane) showPictures(list []document.Image) {
	old := map[document.Key]*pictureCard{}
	for _, c := range s.pictures {
		old[c.key] = c
	}
	s.pictures = nil
	for _, im := range list {
		c := old[im.Key]
		if c == nil {
			c = newPictureCard(s.page, im)
		}
		s.pictures = append(s.pictures, c)
	}
}

// showCount shows tokens against the limit.
func (s *statePane) showCount(c tokenCount, limit int) {
	s.meter.set(c.tokens, limit, c.estimate)
	text := thousands(c.tokens)
	if c.estimate && c.tokens > 0 {
		text = "about " + text
	}
	if limit > 0 {
		text += " of " + thousands(limit)
	}
	s.count.set(text + " tokens")
	style := regular
	if s.meter.token() != colorInk3 {
		style = bold
	}
	s.count.recolor(s.meter.token(), style)
	for _, p := range s.pictures {
		p.setTokens(c.media[p.key])
	}
	s.showShares(c.state)
	s.arrange(s.Size())
}

// showShares tells what each attachment costs: its share of the state.
func (s *statePane) showShares(tokens int) {
	total := len(s.entry.Text)
	for _, a := range s.attached {
		total += a.bytes
	}
	for _, a := range s.attached {
		a.setTokens(int(float64(tokens) * float64(a.bytes) / float64(max(1, total))))
	}
}

func (s *statePane) showHints(hints []*hint) {
	s.hints = hints
	s.collect()
	s.Refresh()
}

func (s *statePane) collect() {
	s.parts = []fyne.CanvasObject{s.back, s.title.Text, s.count.Text, s.meter, s.entry.shell, s.kept, s.note}
	for _, a := range s.attached {
		s.parts = append(s.parts, a)
	}
	for _, p := range s.pictures {
		s.parts = append(s.parts, p)
	}
	for _, h := range s.hints {
		s.parts = append(s.parts, h)
	}
	s.parts = append(s.parts, s.file, s.image, s.drop.Text)
}

func (s *statePane) paint() {
	s.back.FillColor = themeColor(colorSurface)
	s.title.paint()
	s.count.paint()
	s.drop.paint()
}

func (s *statePane) least() fyne.Size { return fyne.NewSize(dp(280), dp(110)) }

// stackedLeast is how high the pane must be above the questions: what is attached
// to the state is never out of sight.
func (s *statePane) stackedLeast() float32 {
	h := dp(stackLeast) + s.meter.least().Height
	for range s.attached {
		h += dp(attachmentHead + 8)
	}
	for range s.pictures {
		h += dp(66 + 8)
	}
	return h
}

const statePad = 20

func (s *statePane) arrange(size fyne.Size) {
	put(s.back, 0, 0, size.Width, size.Height)
	pad := dp(statePad)
	top := dp(14)
	if s.stacked {
		top = dp(11)
	}
	s.title.place(pad, top, size.Width/2, dp(22))
	s.count.placeRight(size.Width-pad, top, size.Width-2*pad-dp(60), dp(22))
	meter := s.meter.least().Height
	put(s.meter, pad, top+dp(30), size.Width-2*pad, meter)
	y := top + dp(30) + meter + dp(5)
	if s.stacked {
		y -= dp(4)
	}
	bottom := s.arrangeBelow(size)
	s.arrangeText(size, y, bottom)
}

// arrangeBelow places what stands at the bottom, upwards, and returns where it
// begins.
func (s *statePane) arrangeBelow(size fyne.Size) float32 {
	bottom := size.Height
	for _, o := range []fyne.CanvasObject{s.file, s.image, s.drop.Text} {
		show(o, !s.stacked)
	}
	x, width := dp(12), size.Width-dp(24)
	if !s.stacked {
		bottom -= dp(48)
		w := placeMiddleAt(s.file, dp(15), bottom, dp(46))
		placeMiddleAt(s.image, dp(15)+w+dp(8), bottom, dp(46))
		s.drop.placeRight(size.Width-dp(statePad), bottom, width/2, dp(46))
	}
	gap := dp(8)
	for i := len(s.pictures) - 1; i >= 0; i-- {
		h := s.pictures[i].least().Height
		bottom -= h
		put(s.pictures[i], x, bottom, width, h)
		bottom -= gap
	}
	for i := len(s.hints) - 1; i >= 0; i-- {
		h := s.hints[i].heightAt(width)
		fits := !s.stacked && bottom-h > dp(200)
		show(s.hints[i], fits)
		if fits {
			bottom -= h
			put(s.hints[i], x, bottom, width, h)
			bottom -= gap
		}
	}
	return bottom
}

// arrangeText places editor and attachments between the meter and the bottom.
func (s *statePane) arrangeText(size fyne.Size, y, bottom float32) {
	pad := dp(statePad)
	x, width := pad-dp(8), size.Width-2*(pad-dp(8))
	room := max(dp(40), bottom-y)
	show(s.note, len(s.attached) > 0 && !s.stacked)
	editor := s.entry.shell.MinSize().Height
	if s.kept.Visible() {
		put(s.kept, pad, y+dp(12), size.Width-2*pad, max(0, room-dp(16)))
		return
	}
	if len(s.attached) == 0 {
		put(s.entry.shell, x, y, width, room)
		return
	}
	need := float32(0)
	for _, a := range s.attached {
		a.compact = s.stacked || len(s.attached) > 2
		need += a.least().Height + dp(8)
	}
	editor = min(max(s.entry.textHeight(width), editor), max(dp(48), room-need-dp(44)))
	put(s.entry.shell, x, y, width, editor)
	y += editor
	for _, a := range s.attached {
		h := a.least().Height
		put(a, pad, y, size.Width-2*pad, h)
		y += h + dp(8)
	}
	w := size.Width - 2*pad
	put(s.note, pad, y+dp(2), w, s.note.heightAt(w))
}

// placeMiddleAt is placeMiddle in a band that begins at y.
func placeMiddleAt(o fyne.CanvasObject, x, y, height float32) float32 {
	s := o.MinSize()
	put(o, x, y+(height-s.Height)/2, s.Width, s.Height)
	return s.Width
}

// textHeight is how high the editor is with its text wrapped at a width.
func (e *stateEntry) textHeight(width float32) float32 {
	lines := len(wrapWords(e.Text, width-dp(16), dp(15)))
	return float32(lines)*dp(22.2) + dp(22)
}
