package ui

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
)

// offlineTip says why nothing can be fetched.
const offlineTip = "Clefbar is set to stay offline"

// shelfRow is one model: what it is, what it costs, and the one thing to do next.
type shelfRow struct {
	figure
	shelf   *shelfPage
	model   Shelved
	machine Machine
	hovered bool

	name, layout     *label
	note             *paragraph // as many lines as it takes
	tag              *badge
	practice         *badge // beside another tag
	disk, need, word *label
	ticket           *label
	track, fill      *canvas.Rectangle
	share            glide // of the bar
	action           shelfAction
	act              *button
	stop             *iconButton // gives a download up
	more             *iconButton
	found            *verdictCard // what a check found, under the row
	folded           bool         // the person has closed it
}

var (
	_ drawn                  = (*shelfRow)(nil)
	_ desktop.Hoverable      = (*shelfRow)(nil)
	_ fyne.SecondaryTappable = (*shelfRow)(nil)
)

func newShelfRow(s *shelfPage) *shelfRow {
	r := &shelfRow{shelf: s, track: newRect(2), fill: newRect(2), share: newGlide()}
	text := func(token fyne.ThemeColorName, style fyne.TextStyle) *label {
		t := newLabel("", token, 13, style)
		r.parts = append(r.parts, t.Text)
		return t
	}
	r.name, r.layout = text(colorInk, bold), text(colorInk2, regular)
	r.note = newParagraph("", colorInk2, 12)
	r.disk, r.need, r.word, r.ticket = text(colorInk2, regular), text(colorInk, regular), text(colorInk2, regular), text(colorInk2, regular)
	r.word.size = 12
	r.tag, r.practice = newBadge("", colorInk2, colorRaised), practiceBadge()
	r.stop = newIconButton("close", "Give the download up", func() { r.shelf.askCancel(r.model) })
	r.more = newIconButton("more", "More", nil)
	r.more.onTap = func() { openPopMenu(r.more, r.menu()) }
	r.more.onFocus = r.Refresh
	r.parts = append(r.parts, r.note, r.tag, r.practice, r.track, r.fill)
	r.offer(shelfAction{})
	r.found = newVerdictCard(r)
	r.parts = append(r.parts, r.stop, r.more, r.found)
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer builds the drawing.
func (r *shelfRow) CreateRenderer() fyne.WidgetRenderer { return newDrawing(r) }

// MouseIn shows the row's menu button.
func (r *shelfRow) MouseIn(*desktop.MouseEvent) { r.hovered = true; r.Refresh() }

// MouseMoved does nothing.
func (r *shelfRow) MouseMoved(*desktop.MouseEvent) {}

// MouseOut hides it again.
func (r *shelfRow) MouseOut() { r.hovered = false; r.Refresh() }

// TappedSecondary opens the row's menu where the pointer is.
func (r *shelfRow) TappedSecondary(e *fyne.PointEvent) {
	if rows := r.menu(); len(rows) > 0 {
		openPopMenuAt(r.shelf.page.canvas(), e.AbsolutePosition, rows)
	}
}

func (r *shelfRow) set(s Shelved, m Machine) {
	if s.checking() {
		r.folded = false
	}
	r.model, r.machine = s, m
	r.found.set(s.Verdict)
	r.name.set(s.Name)
	r.layout.set(s.Layout)
	r.note.set(s.sentence())
	r.disk.set("")
	if s.Disk > 0 && s.Stage != StageArriving && s.Stage != StagePaused {
		r.disk.set(bytesText(s.Disk))
	}
	r.ticket.set(s.ticketText(m))
	a := actionOf(s, m)
	r.offer(a)
	offline := m.Offline && a.verb == verbGet
	r.act.setDisabled(offline)
	r.act.tip = ""
	if offline {
		r.act.tip = offlineTip
	}
	r.weigh()
	r.Refresh()
}

// offer shows the one thing to do next. Another thing is another button.
func (r *shelfRow) offer(a shelfAction) {
	if a == r.action && r.act != nil {
		return
	}
	old := r.act
	r.action = a
	r.act = newButton(a.rank, a.icon, a.text, func() { r.shelf.do(a.verb, r.model) })
	r.act.onFocus = r.Refresh
	if old == nil {
		r.parts = append(r.parts, r.act)
		return
	}
	r.parts = slices.Clone(r.parts)
	r.parts[slices.Index(r.parts, fyne.CanvasObject(old))] = r.act
}

// downloading reports that the row shows progress instead of memory.
func (s Shelved) downloading() bool { return s.Stage == StageArriving || s.Stage == StagePaused }

// weigh fills the memory column.
func (r *shelfRow) weigh() {
	s := r.model
	share := noValue + 0.0
	switch {
	case s.downloading():
		r.need.set(s.progressText())
		if s.Total > 0 {
			share = float64(s.Done) / float64(s.Total)
		}
	case s.Server != "":
		r.need.set("On " + s.Server)
	case s.Stage == StageNoHead || s.Stage == StageUnsupported:
		r.need.set("Cannot decide")
	case s.Stage == StageAway:
		r.need.set("Not there now")
	case s.Known:
		r.need.set(bytesText(s.Memory))
		if r.machine.Gives > 0 {
			share = min(1, float64(s.Memory)/float64(r.machine.Gives))
		}
	default:
		r.need.set("–")
	}
	r.share.move(share, r.Refresh)
}

// aside is what stands at the right of the memory column; a narrow window leaves
// the speed out.
func (r *shelfRow) aside(wide bool) string {
	switch s := r.model; {
	case s.Stage == StagePaused:
		return "paused"
	case s.Stage == StageArriving && wide:
		return joined(speedText(s.Speed), leftText(s.Left))
	case s.Stage == StageArriving:
		return leftText(s.Left)
	case r.share.has():
		return r.machine.fitWord(s)
	}
	return ""
}

func joined(a, b string) string {
	if a != "" && b != "" {
		return a + "    " + b
	}
	return a + b
}

// sentence is the second line of a row.
func (s Shelved) sentence() string {
	switch {
	case s.checking() && s.Verdict.Doing != "":
		return s.Verdict.Doing + "…"
	case s.checking():
		return "Checking the files and asking the built-in probes…"
	case s.Why != "":
		return s.Why
	}
	return s.Note
}

func (r *shelfRow) paint() {
	s := r.model
	text, ink, fill := tagOf(s)
	r.tag.text.set(text)
	r.tag.text.token, r.tag.fill = ink, fill
	show(r.tag, text != "")
	show(r.practice, s.Practice && text != r.practice.text.full)
	r.tag.Refresh()
	for _, l := range []*label{r.name, r.layout, r.disk, r.need, r.word, r.ticket} {
		switch l {
		case r.name:
			l.token = colorInk
		case r.need:
			l.token = colorInk
			if s.Server != "" || s.Stage == StageNoHead || s.Stage == StageUnsupported || s.Stage == StageAway {
				l.token = colorInk3
			}
		default:
			l.token = colorInk2
		}
		if s.Stage == StageAway {
			l.token = colorInk3
		}
	}
	ink = colorInk2
	if s.Stage == StageFailed {
		ink = colorRed
	}
	r.note.recolor(ink)
	bar := r.barToken()
	if bar != colorFill2 && bar != colorAccent {
		r.word.token = bar
	}
	for _, l := range []*label{r.name, r.layout, r.disk, r.need, r.word, r.ticket} {
		l.paint()
	}
	r.track.FillColor, r.fill.FillColor = themeColor(colorTrack), themeColor(bar)
}

func (r *shelfRow) barToken() fyne.ThemeColorName {
	switch {
	case r.model.Stage == StagePaused:
		return colorFill2
	case r.model.downloading():
		return colorAccent
	case r.machine.fitOf(r.model) == tooMuch && r.model.Known:
		return colorRed
	case r.machine.fitOf(r.model) == tight && r.model.Known:
		return colorAmber
	}
	return colorFill2
}
