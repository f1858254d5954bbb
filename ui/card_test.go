package ui

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"clefbar/engine"
	"clefbar/ui/document"
)

// ticketWindow is a window with the ticket open and answered.
func ticketWindow(t *testing.T) (*Window, *scripted) {
	t.Helper()
	d, e, _, _ := testDeps()
	d.FirstRun = true
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	return w, e
}

func cardOf(t *testing.T, w *Window, n int) *card {
	t.Helper()
	list := w.page.doc.Questions()
	if n >= len(list) {
		t.Fatalf("got %d questions, want more than %d", len(list), n)
	}
	return w.page.cards[list[n].Key]
}

func names(c *card) string {
	var out []string
	for _, o := range c.view.question.Options {
		out = append(out, o.Name)
	}
	return strings.Join(out, " ")
}

func TestClickEditsInPlace(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	r := c.shown[0]
	test.Tap(r.name)
	if w.win.Canvas().Focused() != c.body {
		t.Fatalf("got focus on %T, want the card's entry", w.win.Canvas().Focused())
	}
	if got := c.body.Text; got != "billing" {
		t.Errorf("entry: got %q, want the text of the cell", got)
	}
	test.Type(c.body, "_team")
	if got := names(c); got != "billing_team technical sales" {
		t.Errorf("case: got %q", got)
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(r.name)
	field := fyne.CurrentApp().Driver().AbsolutePositionForObject(c.body.frame)
	if got := at.X - field.X; got != inlinePad {
		t.Errorf("field begins %v dp before the text, want %v", got, inlinePad)
	}
}

func TestReturnAddsRows(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	test.Tap(c.shown[2].name)
	c.body.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	test.Type(c.body, "refund")
	c.body.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	test.Type(c.body, "other")
	if got := names(c); got != "billing technical sales refund other" {
		t.Fatalf("got %q", got)
	}
	c.body.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	c.body.TypedKey(&fyne.KeyEvent{Name: fyne.KeyBackspace})
	if got := names(c); got != "billing technical sales refund other" {
		t.Errorf("after Backspace on an empty row: got %q", got)
	}
	if c.cell == nil || c.cell.field.Option != c.view.question.Options[4].Key {
		t.Error("after Backspace: got no edit in the row above")
	}
}

func TestTabWalksTheCells(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	c.begin(c.head.title)
	c.title.TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
	if c.cell != c.head.id {
		t.Fatalf("after the title: got %+v, want the id", c.cell)
	}
	c.ident.TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
	if got := w.win.Canvas().Focused(); got != fyne.Focusable(c.head.kind) {
		t.Fatalf("after the id: got %T, want the kind", got)
	}
	c.begin(c.shown[0].name)
	c.body.TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
	if c.cell != c.shown[0].desc {
		t.Errorf("after a name: got %+v, want its description", c.cell)
	}
	c.body.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	c.body.TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
	if c.cell != c.shown[0].name {
		t.Errorf("backwards: got %+v, want the name", c.cell)
	}
}

func TestAltArrowsMoveTheRow(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	c.begin(c.shown[0].desc)
	down := &desktop.CustomShortcut{KeyName: fyne.KeyDown, Modifier: fyne.KeyModifierAlt}
	up := &desktop.CustomShortcut{KeyName: fyne.KeyUp, Modifier: fyne.KeyModifierAlt}
	for _, step := range []struct {
		s    *desktop.CustomShortcut
		want string
	}{
		{down, "technical billing sales"},
		{down, "technical sales billing"},
		{down, "technical sales billing"},
		{up, "technical billing sales"},
		{up, "billing technical sales"},
		{up, "billing technical sales"},
	} {
		c.body.TypedShortcut(step.s)
		if got := names(c); got != step.want {
			t.Fatalf("got %q, want %q", got, step.want)
		}
	}
	if got := c.cell.field.Part; got != document.PartDescription {
		t.Errorf("got the edit in part %d, want it to stay in the description", got)
	}
}

func TestPastedColumnMakesRows(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 1)
	test.Tap(c.shown[2].desc)
	clip := fyne.CurrentApp().Clipboard()
	clip.SetContent("Tomorrow\r\nNext month\n\nNever\n")
	c.body.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if got := len(c.view.question.Options); got != 6 {
		t.Fatalf("got %d levels, want 6", got)
	}
	if got := c.view.question.Options[5].Description.Text; got != "Never" {
		t.Errorf("got %q, want the last line", got)
	}
	w.page.undo()
	if got := len(cardOf(t, w, 1).view.question.Options); got != 3 {
		t.Errorf("after one undo: got %d levels, want 3", got)
	}
}

func TestPastedLineIsText(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	c.addRow()
	clip := fyne.CurrentApp().Clipboard()
	clip.SetContent("refund\n")
	c.body.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if got := names(c); got != "billing technical sales refund" {
		t.Errorf("got %q", got)
	}
}

func TestKindKeepsWhatWasTyped(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	key := c.view.question.Key
	before := string(w.page.doc.JSON())
	for _, k := range []engine.Kind{engine.Score, engine.Noul, engine.Score, engine.Choice} {
		w.page.doc.SetKind(key, k)
		if got := c.view.question.Kind; got != k {
			t.Fatalf("got %v, want %v", got, k)
		}
	}
	if got := string(w.page.doc.JSON()); got != before {
		t.Errorf("back at the first kind: got\n%s\nwant\n%s", got, before)
	}
}

func TestDragMovesTheRow(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	sales := c.shown[2]
	sales.grip.Dragged(&fyne.DragEvent{Dragged: fyne.NewDelta(0, -30)})
	if c.lifted != sales {
		t.Fatal("got no lifted row")
	}
	if got := sales.Position().X - c.shown[0].Position().X; got != liftX {
		t.Errorf("lifted row stands out by %v dp, want %v", got, liftX)
	}
	if c.shown[1].Position().Y <= c.shown[0].Position().Y+c.rowHeight() {
		t.Error("got no room made above the row below")
	}
	sales.grip.Dragged(&fyne.DragEvent{Dragged: fyne.NewDelta(0, -40)})
	sales.grip.DragEnd()
	if got := names(c); got != "sales billing technical" {
		t.Errorf("got %q", got)
	}
	if c.lifted != nil || c.insert.Visible() {
		t.Error("after the drop: got a lifted row or an insertion line")
	}
	w.page.undo()
	if got := names(cardOf(t, w, 0)); got != "billing technical sales" {
		t.Errorf("after undo: got %q", got)
	}
}

func TestWinnerIsMarkedByShapeAndWeight(t *testing.T) {
	w, e := ticketWindow(t)
	c := cardOf(t, w, 0)
	check := func(when string, row int, kind markKind, stale bool) {
		t.Helper()
		for i, r := range c.shown {
			want := markNone
			if i == row {
				want = kind
			}
			if r.mark.kind != want {
				t.Errorf("%s, row %d: got mark %d, want %d", when, i, r.mark.kind, want)
			}
			if got := r.name.style.Bold; got != (i == row) {
				t.Errorf("%s, row %d: got bold %v", when, i, got)
			}
			if r.answer.stale != stale {
				t.Errorf("%s, row %d: got stale %v, want %v", when, i, r.answer.stale, stale)
			}
		}
	}
	check("0.94", 1, markDisc, false)
	e.probs = map[string]float64{"team/billing": 0.5, "team/technical": 0.5, "team/sales": 0}
	w.page.decide()
	settle(w.page)
	check("a tie", 0, markRing, false)
	w.page.setThreshold(0.5)
	check("a lower threshold", 0, markDisc, false)
	w.page.doc.SetText("another story")
	check("after an edit", 0, markDisc, true)
	w.page.undo()
	check("after undo", 0, markDisc, false)
}

func TestOldAnswersStayWithTheirRows(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	q := c.view.question
	w.page.doc.SetName(q.Key, q.Options[1].Key, "engineering")
	w.page.doc.MoveOption(q.Key, q.Options[1].Key, 0)
	r := c.shown[0]
	if r.number.full != "0.94" || !r.answer.stale || !r.answer.leads {
		t.Errorf("renamed and moved: got %q stale %v leads %v, want the old 0.94", r.number.full, r.answer.stale, r.answer.leads)
	}
	w.page.doc.AddOption(q.Key, 3)
	if got := c.shown[3].number.full; got != "–" {
		t.Errorf("new row: got %q, want a dash", got)
	}
}

func TestHundredsOfRowsExistOnlyWhereSeen(t *testing.T) {
	w, _ := ticketWindow(t)
	q := w.page.doc.Questions()[0]
	var lines []string
	for i := range 252 {
		lines = append(lines, fmt.Sprintf("option_%d\tdescription", i))
	}
	if _, err := w.page.doc.PasteRows(q.Key, 0, strings.Join(lines, "\n")); err != nil {
		t.Fatal(err)
	}
	c := cardOf(t, w, 0)
	if got := len(c.view.question.Options); got != 255 {
		t.Fatalf("got %d options, want 255", got)
	}
	if got := len(c.shown); got > 40 {
		t.Errorf("got %d rows as objects, want those in sight", got)
	}
	if want := float32(255 * rowHeight); c.Size().Height < want {
		t.Errorf("card: got %v high, want more than %v", c.Size().Height, want)
	}
	w.page.questions.scroll.ScrollToOffset(fyne.NewPos(0, 255*rowHeight-300))
	w.page.questions.seen()
	last := c.shown[len(c.shown)-1]
	if last.key != c.view.question.Options[254].Key {
		t.Error("scrolled to the end: got no last row")
	}
	c.editRow(0, document.PartName)
	if got := w.page.questions.scroll.Offset.Y; got > 60 {
		t.Errorf("editing the first row: got scrolled to %v, want the row in sight", got)
	}
}

func TestStructuredTextIsAChip(t *testing.T) {
	w, _ := ticketWindow(t)
	c, err := document.FromJSON([]byte(`{"state":"x","questions":{"team":{"type":"choice","criteria":{"a":{"description":"Plans","since":2019},"b":"y"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	w.page.keep(c)
	settle(w.page)
	cd := cardOf(t, w, 0)
	if !cd.shown[0].desc.locked {
		t.Fatal("got text, want a chip")
	}
	before := string(w.page.doc.JSON())
	test.Tap(cd.shown[0].desc)
	if cd.cell != nil {
		t.Error("got an edit, want a menu")
	}
	if got := string(w.page.doc.JSON()); got != before {
		t.Errorf("got %s, want it as written", got)
	}
}

func TestDuplicateNamesAreMarked(t *testing.T) {
	w, _ := ticketWindow(t)
	c := cardOf(t, w, 0)
	q := c.view.question
	w.page.doc.SetName(q.Key, q.Options[2].Key, "billing")
	for _, i := range []int{0, 2} {
		if c.shown[i].broken == "" {
			t.Errorf("row %d: got no mark", i)
		}
	}
	if c.shown[1].broken != "" {
		t.Error("row 1: got a mark, want none")
	}
	if !w.page.toolbar.decide.Disabled() {
		t.Error("Decide: got enabled, want off")
	}
	if !c.advice.visible() || !c.advice.what.Blocks {
		t.Error("got no line that says what is wrong")
	}
}
