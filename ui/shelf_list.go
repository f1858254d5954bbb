package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// The measures of the shelf.
const (
	shelfPad     = 29 // beside the cards
	shelfIndent  = 20 // of a card's text
	rowHere      = 68
	rowRemote    = 60
	shelfTop     = 65 // from the toolbar to the heading of the first card
	sectionHead  = 23
	sectionGap   = 19
	memoryWidth  = 192
	ticketWidth  = 128 // from the memory column to the right edge of the times
	actionWidth  = 184 // from there to the edge of the card
	diskWidth    = 76
	shelfGap     = 24
	meterWidth   = 296
	narrowShelf  = 960
	shelfLeast   = 700 // a narrower window scrolls sideways
	memoryNarrow = 150
)

// shelfColumns are where the columns of the shelf stand, measured from the left
// edge of a card.
type shelfColumns struct {
	name    float32 // width of the name column
	disk    float32 // right edge
	memory  float32 // left edge
	width   float32 // of the memory column
	ticket  float32 // right edge
	action  float32 // right edge
	tickets bool    // there is room for times
}

func shelfColumnsAt(width float32) shelfColumns {
	c := shelfColumns{action: width - dp(16), width: dp(memoryWidth), tickets: width >= dp(narrowShelf-2*shelfPad)}
	c.ticket = width - dp(actionWidth+16)
	c.memory = c.ticket - dp(ticketWidth) - c.width
	if !c.tickets {
		c.width = dp(memoryNarrow)
		c.memory = width - dp(actionWidth) - c.width
	}
	c.disk = c.memory - dp(shelfGap)
	c.name = c.disk - dp(diskWidth) - dp(shelfIndent)
	return c
}

// shelfList is everything under the toolbar: the machine, then a card for each
// group of models.
type shelfList struct {
	figure
	shelf   *shelfPage
	machine Machine
	rows    []*shelfRow // as shown, those here first
	here    int         // how many of them
	across  float32     // width of the page: what is checked is told in lines of that width

	name, gives *label
	inUse, free *label
	track, fill *canvas.Rectangle
	heads       [2]*label // of the groups
	columns     [3]*label
	cards       [2]*canvas.Rectangle
	lines       []*canvas.Rectangle
	looking     *label
	trouble     *paragraph // with the place where downloads go
	elsewhere   *button    // the way out of it
	fixed       []fyne.CanvasObject
}

var _ drawn = (*shelfList)(nil)

func newShelfList(s *shelfPage) *shelfList {
	l := &shelfList{shelf: s, track: newRect(2), fill: newRect(2)}
	text := func(s string, token fyne.ThemeColorName, style fyne.TextStyle) *label {
		t := newLabel(s, token, 13, style)
		l.fixed = append(l.fixed, t.Text)
		return t
	}
	for i := range l.cards {
		l.cards[i] = newRect(10)
		l.fixed = append(l.fixed, l.cards[i])
	}
	l.name, l.gives = text("", colorInk, bold), text("", colorInk2, regular)
	l.inUse, l.free = text("", colorInk2, regular), text("", colorInk2, regular)
	l.inUse.size, l.free.size = 12, 12
	here := "On this computer"
	if macKeys {
		here = "On this Mac"
	}
	l.heads = [2]*label{text(here, colorInk, bold), text("Can be downloaded", colorInk, bold)}
	l.columns = [3]*label{text("On disk", colorInk2, regular), text("Memory it needs", colorInk2, regular), text("500-token ticket", colorInk2, regular)}
	for _, c := range l.columns {
		c.size = 12
	}
	l.looking = text("Looking for more…", colorInk3, regular)
	l.looking.size = 12
	l.trouble = newParagraph("", colorRed, 13)
	l.elsewhere = newButton(rankOutline, "folder", "Choose another folder…", s.page.pickModelFolder)
	l.fixed = append(l.fixed, l.track, l.fill, l.trouble, l.elsewhere)
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer builds the drawing.
func (l *shelfList) CreateRenderer() fyne.WidgetRenderer { return newDrawing(l) }

// set shows the machine and the models. Rows stay with their models, so that
// progress glides.
func (l *shelfList) set(m Machine, models []Shelved) {
	l.machine = m
	known := map[string]*shelfRow{}
	for _, r := range l.rows {
		known[r.model.ID] = r
	}
	l.rows, l.here = nil, 0
	for _, here := range []bool{true, false} {
		for _, s := range models {
			if s.here() != here {
				continue
			}
			r, ok := known[s.ID]
			if !ok {
				r = newShelfRow(l.shelf)
			}
			r.set(s, m)
			l.rows = append(l.rows, r)
			if here {
				l.here++
			}
		}
	}
	l.parts = append([]fyne.CanvasObject(nil), l.fixed...)
	for i, r := range l.rows {
		if i >= len(l.lines) {
			l.lines = append(l.lines, newRect(0))
		}
		l.parts = append(l.parts, r, l.lines[i])
	}
	l.nameMachine()
	l.Refresh()
}

func (l *shelfList) nameMachine() {
	this := "This computer"
	if macKeys {
		this = "This Mac"
	}
	if l.machine.Name != "" {
		this += ": " + l.machine.Name
	}
	l.name.set(this)
	l.trouble.set(l.machine.Trouble)
	l.gives.set("")
	l.free.set("")
	l.inUse.set(bytesText(l.machine.InUse) + " in use")
	if l.machine.Gives > 0 {
		l.gives.set("It can give models " + bytesText(l.machine.Gives) + ".")
		l.free.set(bytesText(max(0, l.machine.Gives-l.machine.InUse)) + " free")
	}
}

func (l *shelfList) paint() {
	for _, t := range []*label{l.name, l.gives, l.inUse, l.free, l.heads[0], l.heads[1], l.columns[0], l.columns[1], l.columns[2], l.looking} {
		t.paint()
	}
	l.track.FillColor, l.fill.FillColor = themeColor(colorTrack), themeColor(colorAccent)
	for _, c := range l.cards {
		c.FillColor, c.StrokeColor, c.StrokeWidth = themeColor(colorSurface), themeColor(colorLine), 1
		c.CornerRadius = dp(10)
	}
	for _, r := range l.lines {
		r.FillColor = themeColor(colorLine)
	}
}

func (l *shelfList) least() fyne.Size {
	height := l.top(l.across) + dp(sectionHead) + l.heightOf(l.rows[:l.here], l.across, dp(rowHere))
	if away := l.rows[l.here:]; len(away) > 0 {
		height += dp(sectionGap+sectionHead+3) + l.heightOf(away, l.across, dp(rowRemote))
	}
	return fyne.NewSize(dp(shelfLeast), height+dp(24))
}

func (l *shelfList) arrange(size fyne.Size) {
	pad := dp(shelfPad)
	width := size.Width - 2*pad
	l.arrangeMachine(pad, width)
	c := shelfColumnsAt(width)
	y := l.top(size.Width)
	l.arrangeHead(0, pad, y, c)
	y = l.arrangeCard(0, l.rows[:l.here], pad, y+dp(sectionHead), width, dp(rowHere))
	away := l.rows[l.here:]
	show(l.heads[1].Text, len(away) > 0)
	show(l.cards[1], len(away) > 0)
	if len(away) > 0 {
		y += dp(sectionGap)
		l.arrangeHead(1, pad, y, c)
		l.arrangeCard(1, away, pad, y+dp(sectionHead+3), width, dp(rowRemote))
	}
}

func (l *shelfList) arrangeMachine(pad, width float32) {
	x, y := pad+dp(4), dp(19)
	show(l.trouble, l.trouble.text != "")
	h := l.trouble.heightAt(width - dp(8))
	put(l.trouble, x, dp(50), width-dp(8), h)
	show(l.elsewhere, l.movable())
	least := l.elsewhere.least()
	put(l.elsewhere, x, dp(54)+h, least.Width, least.Height)
	x += l.name.place(x, y, width/2, dp(20)) + dp(10)
	l.gives.place(x, y, width/2, dp(20))
	meter := min(dp(meterWidth), width/3)
	left := pad + width - meter - dp(3)
	show(l.track, l.machine.Gives > 0)
	l.inUse.place(left, dp(15), meter/2, dp(20))
	l.free.placeRight(left+meter, dp(15), meter/2, dp(20))
	put(l.track, left, dp(37), meter, dp(4))
	share := float32(0)
	if l.machine.Gives > 0 {
		share = min(1, float32(l.machine.InUse)/float32(l.machine.Gives))
	}
	show(l.fill, share > 0)
	put(l.fill, left, dp(37), max(dp(4), meter*share), dp(4))
}

func (l *shelfList) arrangeHead(i int, pad, y float32, c shelfColumns) {
	w := l.heads[i].place(pad+dp(shelfIndent), y-dp(3), c.name, dp(20))
	if i > 0 {
		return
	}
	show(l.looking.Text, l.machine.Looking)
	l.looking.place(pad+dp(shelfIndent)+w+dp(10), y-dp(3), max(0, c.name-w-dp(10)), dp(20))
	l.columns[0].placeRight(pad+c.disk, y-dp(3), dp(diskWidth), dp(20))
	l.columns[1].place(pad+c.memory, y-dp(3), c.width, dp(20))
	show(l.columns[2].Text, c.tickets)
	l.columns[2].placeRight(pad+c.ticket, y-dp(3), dp(ticketWidth), dp(20))
}

// top is where the heading of the first card stands, in a list of this width.
func (l *shelfList) top(across float32) float32 {
	if l.trouble.text == "" {
		return dp(shelfTop)
	}
	h := dp(shelfTop) + l.trouble.heightAt(across-2*dp(shelfPad+4)) + dp(4)
	if l.movable() {
		h += dp(buttonUsual + 10)
	}
	return h
}

// movable reports that another folder for downloads is offered.
func (l *shelfList) movable() bool {
	_, fixed := l.shelf.shelf.Folder()
	return l.trouble.text != "" && !fixed
}

// heightOf is the height of the card that holds rows, in a list of this width.
func (l *shelfList) heightOf(rows []*shelfRow, across, line float32) (h float32) {
	for _, r := range rows {
		h += r.heightAt(across-2*dp(shelfPad), line)
	}
	return h
}

// arrangeCard places the rows of a group and returns where its card ends.
func (l *shelfList) arrangeCard(i int, rows []*shelfRow, pad, y, width, height float32) float32 {
	put(l.cards[i], pad, y, width, l.heightOf(rows, width+2*pad, height))
	first := 0
	if i == 1 {
		first = l.here
	}
	for j, r := range rows {
		h := r.heightAt(width, height)
		put(r, pad, y, width, h)
		line := l.lines[first+j]
		show(line, j > 0)
		put(line, pad+1, y, width-2, 1)
		y += h
	}
	return y
}
