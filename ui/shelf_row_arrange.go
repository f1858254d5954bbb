package ui

import "fyne.io/fyne/v2"

func (r *shelfRow) least() fyne.Size { return fyne.NewSize(dp(640), dp(rowRemote)) }

// opened reports that the card of the last check stands under the row.
func (r *shelfRow) opened() bool { return r.model.checked() && !r.folded }

// heightAt is the height of the row with the card of its last check; line is that of the row alone.
func (r *shelfRow) heightAt(width, line float32) float32 {
	line += r.further(width)
	if !r.opened() {
		return line
	}
	return line + r.found.heightAt(width-2*dp(verdictIn)) + dp(verdictIn)
}

// noteWide is the room for the note in a row of this width.
func noteWide(width float32) float32 {
	return max(dp(80), shelfColumnsAt(width).disk-dp(diskWidth+shelfIndent))
}

// further is what the note takes beyond its first line.
func (r *shelfRow) further(width float32) float32 {
	return max(0, r.note.heightAt(noteWide(width))-r.note.lineHeight())
}

func (r *shelfRow) arrange(size fyne.Size) {
	show(r.found, r.opened())
	if r.opened() {
		w := size.Width - 2*dp(verdictIn)
		h := r.found.heightAt(w)
		size.Height -= h + dp(verdictIn)
		put(r.found, dp(verdictIn), size.Height, w, h)
	}
	c := shelfColumnsAt(size.Width)
	more := r.further(size.Width)
	middle := (size.Height - more) / 2
	x, top := dp(shelfIndent), middle-dp(21)
	r.arrangeTitle(x, top, x+c.name-dp(8))
	put(r.note, dp(shelfIndent), middle+dp(2), noteWide(size.Width), more+r.note.lineHeight())
	r.disk.placeRight(c.disk, middle-dp(10), dp(diskWidth), dp(20))
	r.arrangeMemory(c, middle)
	show(r.ticket.Text, c.tickets && !r.model.downloading())
	r.ticket.placeRight(c.ticket, middle-dp(10), dp(ticketWidth), dp(20))
	r.arrangeActions(c, 2*middle)
}

// arrangeTitle places the name, the layout and the badges in a line. A long name gives way to the others.
func (r *shelfRow) arrangeTitle(x, top, end float32) {
	gap, others := dp(8), float32(0)
	if w := r.layout.width(); w > 0 {
		others += w + gap
	}
	badges := []*badge{r.tag, r.practice}
	for _, b := range badges {
		if b.Visible() {
			others += b.MinSize().Width + gap
		}
	}
	x += r.name.place(x, top, max(dp(40), end-x-others), dp(20)) + gap
	if w := r.layout.place(x, top, max(0, end-x), dp(20)); w > 0 {
		x += w + gap
	}
	for _, b := range badges {
		least := b.MinSize()
		put(b, x, top, min(least.Width, max(0, end-x)), least.Height)
		if b.Visible() {
			x += least.Width + gap
		}
	}
}

func (r *shelfRow) arrangeMemory(c shelfColumns, middle float32) {
	x, width := c.memory, c.width
	r.word.set(r.aside(c.tickets))
	word := r.word.width()
	switch {
	case r.model.downloading() && c.tickets:
		width = c.ticket - x
	case r.model.downloading(): // nothing stands in the column of disks
		x -= dp(diskWidth - 8)
		width += dp(diskWidth - 8)
	}
	barred := r.share.has()
	y := middle - dp(10)
	if barred {
		y = middle - dp(15)
	}
	word = min(word, width*0.6)
	r.need.place(x, y, width-word-dp(8), dp(20))
	r.word.placeRight(x+width, y, word+1, dp(20))
	show(r.track, barred)
	show(r.fill, barred)
	put(r.track, x, middle+dp(8), width, dp(4))
	put(r.fill, x, middle+dp(8), max(dp(4), width*float32(max(0, r.share.at))), dp(4))
}

func (r *shelfRow) arrangeActions(c shelfColumns, height float32) {
	right := c.action
	show(r.stop, r.model.downloading() || r.model.Stage == StageFailed)
	if r.stop.Visible() {
		right -= placeMiddleRight(r.stop, right, height) + dp(6)
	}
	show(r.act, r.act.text.full != "")
	right -= placeMiddleRight(r.act, right, height) + dp(4)
	near := r.hovered || r.act.focused || r.more.focused // by the pointer or by Tab
	show(r.more, near && len(r.menu()) > 0)
	placeMiddleRight(r.more, right, height)
}
