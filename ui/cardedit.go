package ui

import (
	"fyne.io/fyne/v2"

	"clefbar/engine"
	"clefbar/ui/document"
)

// begin moves the entry over a cell. A structured text opens its menu instead.
func (c *card) begin(target *cell) {
	if target.locked {
		c.openLocked(target)
		return
	}
	e := c.entryFor(target)
	if c.cell != nil && c.entryFor(c.cell) != e {
		c.entryFor(c.cell).hide()
	}
	c.cell = target
	if c.page.touched[c.view.question.Key] = true; !c.advice.has {
		c.page.refresh()
	}
	e.fill(target, c.textOf(target.field), target.placeholder)
	e.show()
	c.foot.set(c.view, c.footHint(), c.sides)
	c.Refresh()
	if canvas := c.page.canvas(); canvas != nil {
		canvas.Focus(e)
	}
}

func (c *card) entryFor(target *cell) *inline {
	switch target.field.Part {
	case document.PartInstructions:
		return c.title
	case document.PartID:
		return c.ident
	}
	return c.body
}

// textOf reads the text of a field from the case.
func (c *card) textOf(f document.Field) string {
	q := &c.view.question
	switch f.Part {
	case document.PartInstructions:
		return q.Instructions.Text
	case document.PartID:
		return q.ID
	}
	o, ok := q.Option(f.Option)
	switch {
	case !ok:
		return ""
	case f.Part == document.PartName:
		return o.Name
	}
	return o.Description.Text
}

// typed puts what is typed into the case.
func (c *card) typed(target *cell, text string) {
	f, doc := target.field, c.page.doc
	switch f.Part {
	case document.PartInstructions:
		doc.SetInstructions(f.Question, text)
	case document.PartID:
		doc.SetID(f.Question, text)
	case document.PartName:
		doc.SetName(f.Question, f.Option, text)
	case document.PartDescription:
		doc.SetDescription(f.Question, f.Option, text)
	}
}

// placeField keeps the entry over its cell through every layout.
func (c *card) placeField() {
	if c.cell == nil {
		return
	}
	x, y, ok := c.positionOf(c.cell)
	e := c.entryFor(c.cell)
	if !ok {
		e.hide()
		return
	}
	s := c.cell.Size()
	extra := dp(inlinePad)
	if c.cell.field.Part == document.PartID {
		room := max(s.Width, dp(96))
		x, s.Width = x-(room-s.Width), room
	}
	e.place(x-extra, y, s.Width+extra+dp(4), s.Height)
}

// positionOf finds a cell in the card's coordinates; a cell that has scrolled out
// of sight has none.
func (c *card) positionOf(target *cell) (x, y float32, ok bool) {
	switch target {
	case c.head.title, c.head.id:
		p := c.head.Position().Add(target.Position())
		return p.X, p.Y, target.Visible()
	case c.answer.desc:
		p := c.answer.Position().Add(target.Position())
		return p.X, p.Y, c.answer.Visible()
	}
	for _, r := range c.shown {
		if r.name == target || r.desc == target {
			p := r.Position().Add(target.Position())
			return p.X, p.Y, true
		}
	}
	return 0, 0, false
}

// editing reports whether a text of the row is being edited.
func (c *card) editing(r *row) bool {
	return c.cell != nil && (c.cell == r.name || c.cell == r.desc)
}

// leave ends the edit and moves to the next or previous thing that takes keys.
func (c *card) leave(forward bool) {
	from := c.cell
	c.finish()
	canvas := c.page.canvas()
	if from == nil || canvas == nil {
		return
	}
	from.passing = true
	canvas.Focus(from)
	from.passing = false
	if forward {
		canvas.FocusNext()
	} else {
		canvas.FocusPrevious()
	}
}

// finish puts the entry away.
func (c *card) finish() {
	if c.cell == nil {
		return
	}
	e := c.entryFor(c.cell)
	c.cell, e.cell = nil, nil
	e.hide()
	c.foot.set(c.view, c.footHint(), c.sides)
	c.Refresh()
}

// escape ends the edit and leaves the keys to the window.
func (c *card) escape() {
	c.finish()
	if canvas := c.page.canvas(); canvas != nil {
		canvas.Unfocus()
	}
}

// enter adds a row below the one being edited; from the title it goes to the first
// row, and an empty last row ends the list.
func (c *card) enter(from *cell) {
	at := c.indexOf(from.field.Option)
	switch {
	case from.field.Option == 0 && len(c.view.question.Options) > 0 && c.view.question.Kind != engine.Noul:
		c.editRow(0, document.PartName)
	case from.field.Option == 0 && c.view.question.Kind != engine.Noul:
		c.addRow()
	case c.view.question.Kind == engine.Noul:
		c.leave(true)
	case at == len(c.view.question.Options)-1 && c.emptyRow(at):
		c.escape()
	default:
		c.addRowAt(at + 1)
	}
}

func (c *card) indexOf(k document.Key) int {
	for i, o := range c.view.question.Options {
		if o.Key == k {
			return i
		}
	}
	return -1
}

func (c *card) emptyRow(i int) bool {
	o := c.view.question.Options[i]
	return o.Description.Text == "" && (o.Name == "" || c.view.question.Kind == engine.Score)
}

// addRow is the foot's button: another option or level, or the two sides.
func (c *card) addRow() {
	if c.view.question.Kind == engine.Noul {
		c.sides = !c.sides
		c.page.refresh()
		if c.sides {
			c.page.reveal(c, c.rowsTop(), 2*c.rowHeight()+dp(cardFoot))
			c.editRow(0, document.PartDescription)
		} else {
			c.escape()
		}
		return
	}
	c.addRowAt(len(c.view.question.Options))
}

func (c *card) addRowAt(i int) {
	if c.page.doc.AddOption(c.view.question.Key, i) != 0 {
		c.editRow(i, document.PartName)
	}
}

// editRow edits a row's first text, after bringing it into sight.
func (c *card) editRow(i int, part document.Part) {
	options := c.view.question.Options
	if i < 0 || i >= len(options) {
		return
	}
	c.page.reveal(c, c.rowsTop()+float32(i)*c.rowHeight(), c.rowHeight())
	r, ok := c.rows[options[i].Key]
	if !ok {
		return
	}
	if part == document.PartName && c.view.question.Kind == engine.Choice {
		c.begin(r.name)
		return
	}
	c.begin(r.desc)
}

// step moves to the same column of the row above or below.
func (c *card) step(from *cell, by int) {
	at := c.indexOf(from.field.Option)
	switch {
	case at >= 0 && at+by >= 0 && at+by < len(c.listed()):
		c.editRow(at+by, from.field.Part)
	case at == 0 && by < 0, at < 0 && by < 0:
		c.begin(c.head.title)
	case at < 0 && by > 0:
		c.editRow(0, document.PartName)
	}
}

// shift moves the row being edited up or down (Alt with an arrow).
func (c *card) shift(from *cell, down bool) {
	at := c.indexOf(from.field.Option)
	to := at - 1
	if down {
		to = at + 1
	}
	if at < 0 || c.view.question.Kind == engine.Noul || to < 0 || to >= len(c.view.question.Options) {
		return
	}
	c.page.doc.MoveOption(c.view.question.Key, from.field.Option, to)
	c.editRow(to, from.field.Part)
}

// dropEmpty removes an empty row on Backspace and goes to the one above.
func (c *card) dropEmpty(from *cell) bool {
	at := c.indexOf(from.field.Option)
	if at < 0 || c.view.question.Kind == engine.Noul || !c.emptyRow(at) {
		return false
	}
	key := from.field.Option
	c.finish()
	c.page.doc.RemoveOption(c.view.question.Key, key)
	c.editRow(max(0, at-1), document.PartName)
	return true
}

// pasteRows makes one row a line of a pasted column. A tab separates name and
// description.
func (c *card) pasteRows(at *cell, text string) bool {
	i := c.indexOf(at.field.Option)
	if i < 0 || c.view.question.Kind == engine.Noul {
		return false
	}
	n, err := c.page.doc.PasteRows(c.view.question.Key, at.field.Option, text)
	if err != nil {
		c.page.say(err.Error())
		return true
	}
	c.editRow(min(i+n, len(c.view.question.Options))-1, at.field.Part)
	return true
}

// footHint names the keys that help while a row is edited.
func (c *card) footHint() string {
	if c.cell == nil || c.cell.field.Option == 0 || c.view.question.Kind == engine.Noul {
		return ""
	}
	return "Return adds a row   " + keyText(fyne.KeyUp, fyne.KeyModifierAlt) + " " + keyText(fyne.KeyDown, fyne.KeyModifierAlt) + " moves it"
}
