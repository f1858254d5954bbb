package ui

import (
	"time"

	"fyne.io/fyne/v2"

	"clefbar/engine"
	"clefbar/ui/document"
)

func menuLine() menuRow { return menuRow{line: true} }

// sampleRows lists the samples with what they show.
func (p *page) sampleRows() []menuRow {
	var rows []menuRow
	for _, s := range p.deps.Samples {
		rows = append(rows, menuRow{text: s.Title, detail: s.Note, run: func() { p.openSample(s) }})
	}
	return rows
}

// inspectRows opens the two sheets that show what is sent and what is read.
func (p *page) inspectRows() []menuRow {
	return []menuRow{
		{text: "Request as JSON", detail: keyText(fyne.KeyE, command()), run: p.openJSON},
		{text: "What the model reads", detail: keyText(fyne.KeyE, command()|fyne.KeyModifierShift), run: p.openReads},
	}
}

// copyRows copies the case or its answers in a form that others take.
func (p *page) copyRows() []menuRow {
	answered := p.outcome != nil
	return []menuRow{
		{text: "JSON", detail: "the request", run: func() { p.copyText("JSON", string(p.doc.JSON())) }},
		{text: "curl", run: func() { p.copyText("curl command", p.doc.Snapshot().AsCurl(p.target())) }},
		{text: "Python", run: func() { p.copyText("Python program", p.doc.Snapshot().AsPython(p.target())) }},
		{text: "JavaScript", run: func() { p.copyText("JavaScript program", p.doc.Snapshot().AsJavaScript(p.target())) }},
		{text: "Go", run: func() { p.copyText("Go program", p.doc.Snapshot().AsGo(p.target())) }},
		menuLine(),
		{text: "CSV", detail: "the answers", disabled: !answered, run: p.copyCSV},
		{text: "Picture of the result…", detail: "PNG", disabled: !answered, run: p.savePicture},
	}
}

// target is this machine's endpoint, for copied programs.
func (p *page) target() document.Target {
	s := p.deps.Endpoint.State()
	return document.Target{
		BaseURL: "http://127.0.0.1:" + itoa(s.Port), Model: p.deps.Models.State().Info.Name, Key: s.Key,
	}
}

// moreRows is the ⋯ menu of a narrow window.
func (p *page) moreRows() []menuRow {
	rows := append(p.inspectRows(), menuRow{text: "Paste JSON", run: p.pasteJSON})
	rows = append(rows, menuRow{text: "Add a file…", run: p.pickFile}, menuRow{text: "Add an image…", run: p.pickImage}, menuLine())
	for _, r := range p.copyRows() {
		if !r.line {
			r.text = "Copy as " + r.text
		}
		rows = append(rows, r)
	}
	return rows
}

// modelRows lists the models that can be chosen, the one in use ticked.
func (p *page) modelRows() []menuRow {
	var rows []menuRow
	state := p.deps.Models.State()
	for _, m := range p.deps.Models.List() {
		r := menuRow{text: m.full(), detail: m.Note, checked: m.ID == state.ID, disabled: !m.Usable}
		r.run = func() { p.deps.Models.Open(m.ID) }
		rows = append(rows, r)
	}
	if len(rows) > 0 {
		rows = append(rows, menuLine())
	}
	if p.deps.Shelf != nil {
		rows = append(rows, menuRow{text: "All models…", run: p.openShelf})
	}
	rows = append(rows, menuRow{text: "Add a folder…", run: p.pickFolder})
	switch state.Phase {
	case PhaseReady:
		rows = append(rows, menuRow{text: "Unload", run: p.deps.Models.Unload})
	case PhaseOpening:
		rows = append(rows, menuRow{text: "Stop opening", run: p.deps.Models.Stop})
	}
	return rows
}

// endpointRows is the endpoint's menu in the status line.
func (p *page) endpointRows() []menuRow {
	s := p.deps.Endpoint.State()
	return []menuRow{
		{text: "On at :" + itoa(s.Port), checked: s.On, run: func() { p.deps.Endpoint.SetOn(!s.On) }},
		menuLine(),
		{text: "Copy URL", run: func() { p.copyText("URL", s.URL()) }},
		{text: "Copy curl", run: func() { p.copyText("curl command", p.doc.Snapshot().AsCurl(p.target())) }},
		{text: "Requests…", detail: itoa(s.Today) + " today", run: p.openRequests},
	}
}

var kinds = []engine.Kind{engine.Choice, engine.Score, engine.Noul}

// questionRows adds a question of one of the kinds.
func (p *page) questionRows() []menuRow {
	var rows []menuRow
	for _, k := range kinds {
		rows = append(rows, menuRow{text: kindName(k), detail: k.String(), tip: kindTip(k), run: func() { p.addQuestion(k) }})
	}
	return rows
}

func kindTip(k engine.Kind) string {
	switch k {
	case engine.Choice:
		return "One of the named options"
	case engine.Score:
		return "A level on an ordered scale"
	}
	return "The probability of yes"
}

// openKinds changes the kind; what was typed for the others is kept.
func (c *card) openKinds(anchor fyne.CanvasObject) {
	var rows []menuRow
	q := c.view.question
	for _, k := range kinds {
		rows = append(rows, menuRow{text: kindName(k), detail: k.String(), tip: kindTip(k), checked: k == q.Kind, run: func() {
			c.finish()
			c.page.doc.SetKind(q.Key, k)
		}})
	}
	openPopMenu(anchor, rows)
}

// openMenu is a card's ⋯ menu.
func (c *card) openMenu(anchor fyne.CanvasObject) {
	doc, q, at, last := c.page.doc, c.view.question, c.view.number-1, len(c.page.doc.Questions())-1
	openPopMenu(anchor, []menuRow{
		{text: "Rename the id…", detail: q.ID, run: func() { c.renameID() }},
		{text: "Duplicate", run: func() { doc.DuplicateQuestion(q.Key) }},
		{text: "Move up", disabled: at == 0, run: func() { doc.MoveQuestion(q.Key, at-1) }},
		{text: "Move down", disabled: at == last, run: func() { doc.MoveQuestion(q.Key, at+1) }},
		menuLine(),
		{text: "Remove", run: func() { c.finish(); doc.RemoveQuestion(q.Key) }},
	})
}

// openRowMenu is a row's menu, on its handle and on the second mouse button.
func (c *card) openRowMenu(r *row, point fyne.Position) {
	doc, q, at := c.page.doc, c.view.question, c.indexOf(r.key)
	last := len(q.Options) - 1
	noul := q.Kind == engine.Noul
	openPopMenuAt(c.page.canvas(), point, []menuRow{
		{text: "Duplicate", disabled: noul, run: func() { doc.DuplicateOption(q.Key, r.key) }},
		{text: "Move up", detail: keyText(fyne.KeyUp, fyne.KeyModifierAlt), disabled: noul || at == 0, run: func() { doc.MoveOption(q.Key, r.key, at-1) }},
		{text: "Move down", detail: keyText(fyne.KeyDown, fyne.KeyModifierAlt), disabled: noul || at == last, run: func() { doc.MoveOption(q.Key, r.key, at+1) }},
		menuLine(),
		{text: "Remove", run: func() { c.finish(); doc.RemoveOption(q.Key, r.key) }},
	})
}

// openLocked offers what can be done with a structured text.
func (c *card) openLocked(target *cell) {
	openPopMenu(target, []menuRow{
		{text: "Edit as JSON", detail: keyText(fyne.KeyE, command()), run: c.page.openJSON},
		{text: "Turn into text", tip: "The JSON as it is written; Undo brings it back", run: func() { c.page.doc.Unlock(target.field) }},
	})
}

// renameID edits the id in the head, or in a sheet where the head has no room.
func (c *card) renameID() {
	if c.head.id.Visible() {
		c.begin(c.head.id)
		return
	}
	q := c.view.question
	c.page.ask("Rename the id", "The name of this question in requests and answers.", q.ID, func(s string) {
		c.page.doc.SetID(q.Key, s)
	})
}

// recentTime writes when a case was last open: 14:50 today, Sunday this week, else
// the date.
func recentTime(t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format("15:04")
	case now.Sub(t) < 6*24*time.Hour:
		return t.Format("Monday")
	}
	return t.Format("2 Jan 2006")
}
