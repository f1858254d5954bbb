package ui

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
)

// askHub looks for models of an owner on the Hub, or adds one by its name. Nothing is asked before the person says so.
func (s *shelfPage) askHub() {
	m := newModal(s.page, "Find on the Hub", "")
	m.width, m.height = 560, 420
	b := newHubBody(s, m)
	m.body = b
	m.done.set(rankPrimary, "Find", "")
	m.done.onTap = b.submit
	m.head = []fyne.CanvasObject{newButton(rankOutline, "", "Close", m.close)}
	m.open()
	s.page.canvas().Focus(b.field)
}

// hubBody is a field and what was found.
type hubBody struct {
	figure
	shelf  *shelfPage
	sheet  *modal
	note   *paragraph
	field  *askField
	said   *paragraph
	scroll *container.Scroll
	hits   *hitColumn
	asking bool
}

var _ drawn = (*hubBody)(nil)

const hubNote = "Write an owner’s name, such as mlx-community or TrevorJS, to list the repositories that hold Clef’s decision head, or owner/name to add one. The Hub is asked when you press Find."

func newHubBody(s *shelfPage, m *modal) *hubBody {
	b := &hubBody{shelf: s, sheet: m, note: newParagraph(hubNote, colorInk2, 13), said: newParagraph("", colorInk2, 13), hits: newHitColumn()}
	b.field = newAskField("", func(string) { b.submit() }, m.close)
	b.field.SetPlaceHolder("owner, or owner/name")
	b.scroll = container.NewVScroll(b.hits)
	b.parts = []fyne.CanvasObject{b.note, b.field, b.said, b.scroll}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *hubBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

// repoName takes what a person pastes: a name, or the address of its page.
func repoName(typed string) string {
	typed = strings.TrimSpace(typed)
	if _, rest, ok := strings.Cut(typed, "://"); ok {
		_, typed, _ = strings.Cut(rest, "/")
	}
	parts := strings.Split(strings.Trim(typed, "/"), "/")
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// submit searches, or adds a repository that is named in full.
func (b *hubBody) submit() {
	if b.asking {
		return
	}
	switch name := repoName(b.field.Text); {
	case name == "":
		b.say("Write the name of an owner.", true)
	case strings.Contains(name, "/"):
		b.add(name)
	default:
		b.wait(true, "Asking the Hub…")
		b.shelf.shelf.Search(name, func(h Hits, err error) { onUI(func() { b.found(name, h, err) }) })
	}
}

// wait shows that the Hub is being asked.
func (b *hubBody) wait(asking bool, said string) {
	b.asking = asking
	b.sheet.done.setDisabled(asking)
	b.say(said, false)
}

func (b *hubBody) say(text string, bad bool) {
	ink := colorInk2
	if bad {
		ink = colorRed
	}
	b.said.recolor(ink)
	b.said.set(text)
	b.Refresh()
}

func (b *hubBody) found(owner string, h Hits, err error) {
	b.wait(false, "")
	if err != nil {
		b.hits.set(nil, nil)
		b.say(sentenceOf(err), true)
		return
	}
	text := fmt.Sprintf("%s of %s’s %s %s Clef’s decision head.", counted(len(h.List)), owner, plural(h.Looked, "repository", "repositories"), verbFor(len(h.List)))
	if h.More {
		text += " Only those that changed last were looked at: write owner/name for another one."
	}
	b.hits.set(h.List, b.add)
	b.say(text, false)
}

func counted(n int) string {
	if n == 0 {
		return "None"
	}
	return itoa(n)
}

func verbFor(n int) string {
	if n == 1 {
		return "holds"
	}
	return "hold"
}

// add puts a repository on the shelf.
func (b *hubBody) add(repo string) {
	if b.asking {
		return
	}
	b.wait(true, "Asking the Hub about "+repo+"…")
	b.shelf.shelf.AddRepo(repo, func(err error) {
		onUI(func() {
			if err != nil {
				b.wait(false, "")
				b.say(sentenceOf(err), true)
				return
			}
			b.hits.listed(repo)
			b.wait(false, repo+" is on the list of what can be downloaded.")
			b.shelf.refresh()
		})
	})
}

func (b *hubBody) paint() {}

func (b *hubBody) least() fyne.Size { return fyne.NewSize(dp(300), dp(200)) }

func (b *hubBody) arrange(size fyne.Size) {
	x, w, y := dp(20), size.Width-dp(40), dp(14)
	h := b.note.heightAt(w)
	put(b.note, x, y, w, h)
	y += h + dp(10)
	h = b.field.MinSize().Height
	put(b.field, x, y, w, h)
	y += h + dp(10)
	h = b.said.heightAt(w)
	put(b.said, x, y, w, h)
	y += h + dp(8)
	put(b.scroll, 0, y, size.Width, max(0, size.Height-y))
	b.scroll.Refresh()
}

// hitColumn lists repositories with a button each.
type hitColumn struct {
	figure
	list  []Hit
	names []*label
	notes []*label
	acts  []*button
	lines []*canvas.Rectangle
}

var _ drawn = (*hitColumn)(nil)

const hitHeight = 52

func newHitColumn() *hitColumn {
	c := &hitColumn{}
	c.ExtendBaseWidget(c)
	return c
}

// CreateRenderer builds the drawing.
func (c *hitColumn) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *hitColumn) set(list []Hit, add func(repo string)) {
	c.list, c.names, c.notes, c.acts, c.lines, c.parts = list, nil, nil, nil, nil, nil
	for _, h := range list {
		name, note := newLabel(h.Repo, colorInk, 13, bold), newLabel(h.Note, colorInk2, 12, regular)
		act, line := newButton(rankOutline, "", "Add", func() { add(h.Repo) }), newRect(0)
		act.setDisabled(!h.Usable)
		c.names, c.notes, c.acts, c.lines = append(c.names, name), append(c.notes, note), append(c.acts, act), append(c.lines, line)
		c.parts = append(c.parts, line, name.Text, note.Text, act)
	}
	for _, h := range list {
		if h.Listed {
			c.listed(h.Repo)
		}
	}
	c.Refresh()
}

// listed marks a repository that is on the shelf.
func (c *hitColumn) listed(repo string) {
	for i, h := range c.list {
		if strings.EqualFold(h.Repo, repo) {
			c.acts[i].set(rankOutline, "On the list", "")
			c.acts[i].setDisabled(true)
		}
	}
	c.Refresh()
}

func (c *hitColumn) paint() {
	for i := range c.list {
		c.names[i].paint()
		c.notes[i].paint()
		c.lines[i].FillColor = themeColor(colorLine)
	}
}

func (c *hitColumn) least() fyne.Size {
	return fyne.NewSize(dp(240), float32(len(c.list))*dp(hitHeight)+dp(8))
}

func (c *hitColumn) arrange(size fyne.Size) {
	h := dp(hitHeight)
	for i := range c.list {
		y := float32(i) * h
		put(c.lines[i], dp(20), y, size.Width-dp(40), 1)
		s := c.acts[i].least()
		put(c.acts[i], size.Width-dp(20)-s.Width, y+(h-s.Height)/2, s.Width, s.Height)
		w := size.Width - dp(40+8) - s.Width
		c.names[i].place(dp(20), y+dp(7), w, dp(20))
		c.notes[i].place(dp(20), y+dp(27), w, dp(18))
	}
}
