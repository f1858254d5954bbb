package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"clefbar/engine"
)

func TestTooLong(t *testing.T) {
	d, e, _, _ := testDeps()
	d.FirstRun, e.tokens = true, 21390
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	w.page.refresh()
	if !w.page.toolbar.decide.Disabled() {
		t.Error("Decide: got enabled, want off above the limit")
	}
	if w.page.notice == nil || w.page.notice.what.title != "This is 5,006 tokens too long" {
		t.Fatalf("got notice %+v", w.page.notice)
	}
	if got := w.page.status.view.lead; got != "Not run: 5,006 tokens over the limit" {
		t.Errorf("status: got %q", got)
	}
	w.page.askCut()
	test.Tap(w.page.sheet.done)
	settle(w.page)
	if !w.page.doc.Truncate() {
		t.Error("after saying so: got no leave to cut")
	}
	if asked, _ := e.count(); asked == 0 || !e.asked[len(e.asked)-1].Truncate {
		t.Error("after saying so: got no decision with the end cut")
	}
}

func TestControlTokensAreMarked(t *testing.T) {
	d, e, _, _ := testDeps()
	d.FirstRun = true
	e.control = []engine.Control{{Token: "<|im_end|>", Where: "state", At: 40}}
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	if w.page.notice == nil || w.page.notice.what.bad || !strings.Contains(w.page.notice.what.body, "<|im_end|>") {
		t.Fatalf("got notice %+v, want one that names the token", w.page.notice)
	}
	if w.page.toolbar.decide.Disabled() {
		t.Error("Decide: got off, want advice that never blocks")
	}
	test.Tap(w.page.notice.buttons[0])
	settle(w.page)
	if !w.page.doc.Literal() || w.page.notice != nil {
		t.Error("read as plain text: got no such choice, or the card still")
	}
}

func TestTooLongForTheEncoder(t *testing.T) {
	d, e, _, _ := testDeps()
	d.FirstRun = true
	e.err = &engine.Error{Reason: engine.TooLong, Message: "too long", Needed: 109_515, Limit: 16_384}
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	if w.page.notice == nil || w.page.notice.what.title != "This is 93,131 tokens too long" {
		t.Fatalf("got notice %+v, want the counts of the refusal", w.page.notice)
	}
	if len(w.page.notice.buttons) < 2 {
		t.Errorf("got %d ways out, want two", len(w.page.notice.buttons))
	}
	if !w.page.toolbar.decide.Disabled() {
		t.Error("Decide: got enabled, want off above the limit")
	}
}

func TestTooLongCanRaiseTheLimit(t *testing.T) {
	d, e, m, _ := testDeps()
	d.FirstRun = true
	tooLongLog(&d, e, m, nil)
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	n := w.page.notice
	if n == nil || len(n.buttons) != 3 || n.buttons[1].text.full != "Raise the limit to 32,768" || n.buttons[1].extra.full != "+1.1 GB" {
		t.Fatalf("got %+v", n)
	}
	test.Tap(n.buttons[1])
	w.page.modelChanged() // the watcher is told a moment later
	settle(w.page)
	if m.state.Info.Limit != 32768 || w.page.notice != nil || w.page.toolbar.decide.Disabled() {
		t.Errorf("limit %d, card %v, Decide off %v", m.state.Info.Limit, w.page.notice, w.page.toolbar.decide.Disabled())
	}
}

func TestRaiseTo(t *testing.T) {
	for _, tt := range []struct{ limit, most, tokens, want int }{
		{16384, 65536, 16385, 32768}, {16384, 65536, 40000, 65536}, {16384, 65536, 65537, 0}, {16384, 40000, 39000, 40000}, {16384, 0, 20000, 0}, {0, 65536, 10, 0},
	} {
		s := ModelState{Longer: Longer{Most: tt.most}}
		s.Info.Limit = tt.limit
		if got := s.raiseTo(tt.tokens); got != tt.want {
			t.Errorf("%+v: got %d", tt, got)
		}
	}
}

func TestFailureIsACardWithAWayOut(t *testing.T) {
	d, e, m, _ := testDeps()
	d.FirstRun = true
	e.err = &engine.Error{Reason: engine.Device, Message: "the GPU stopped in the middle of a decision"}
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	n := w.page.notice
	if n == nil || !n.what.bad {
		t.Fatal("got no error card")
	}
	if got, want := n.what.body, "The GPU stopped in the middle of a decision. Your case is untouched."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.mu.Lock()
	e.err = nil
	e.mu.Unlock()
	test.Tap(n.buttons[0])
	if len(m.opened) != 1 {
		t.Fatalf("got %v opened, want the model again", m.opened)
	}
	settle(w.page)
	w.page.decide()
	settle(w.page)
	if w.page.notice != nil {
		t.Error("after a good answer: got the error card still")
	}
}

func TestModelOpensThenAnswers(t *testing.T) {
	d, e, m, _ := testDeps()
	d.FirstRun = true
	ready := m.state
	m.state.Phase, m.state.Done, m.state.Total = PhaseOpening, 1, 2
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	if asked, _ := e.count(); asked != 0 {
		t.Fatal("got a decision before the model was ready")
	}
	if !w.page.toolbar.decide.Disabled() || w.page.questions.column.items[0] != stacked(w.page.loading) {
		t.Error("got no loading card, or Decide on")
	}
	test.Type(w.page.state.entry, "typing does not wait")
	m.state = ready
	m.changed()
	until(t, "the answers", func() bool { return w.page.outcome != nil })
	settle(w.page)
}

func TestNoModelOffersTwo(t *testing.T) {
	d, _, m, _ := testDeps()
	m.state = ModelState{}
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	w.page.addQuestion(engine.Choice)
	if w.page.notice == nil {
		t.Fatal("got no card")
	}
	var got []string
	for _, a := range w.page.notice.what.actions {
		got = append(got, a.text)
	}
	if want := "Open Clef-flash 8-bit|Use Etude"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestHintsGoForGood(t *testing.T) {
	d, e, m, b := testDeps()
	practiceModel(&d, e, m, b)
	d.FirstRun = true
	var saved Settings
	d.Save = func(s Settings) { saved = s }
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	if got := len(w.page.state.hints); got != 2 {
		t.Fatalf("got %d hints, want 2", got)
	}
	for len(w.page.state.hints) > 0 {
		test.Tap(w.page.state.hints[0].close)
	}
	if len(saved.HintsClosed) != 2 {
		t.Errorf("got %v kept, want both hints", saved.HintsClosed)
	}
	w.page.refresh()
	if got := len(w.page.state.hints); got != 0 {
		t.Errorf("after closing: got %d hints", got)
	}
}

func TestPracticeShowsEverywhere(t *testing.T) {
	d, e, m, b := testDeps()
	practiceModel(&d, e, m, b)
	d.FirstRun = true
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	if !w.page.toolbar.model.badge.Visible() {
		t.Error("model button: got no badge")
	}
	for _, q := range w.page.doc.Questions() {
		if got := w.page.cards[q.Key].foot.notes[0].full; got != "Practice answer" {
			t.Errorf("%s: got %q in the foot", q.ID, got)
		}
	}
}

func TestUnloadedModelOpensAgain(t *testing.T) {
	d, e, m, _ := testDeps()
	d.FirstRun = true
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	m.Unload()
	during(3 * modelWait)
	if w.page.toolbar.decide.Disabled() {
		t.Error("after Unload: got Decide off, want it to open the model again")
	}
	before, _ := e.count()
	w.page.decide()
	settle(w.page)
	if asked, _ := e.count(); asked != before+1 {
		t.Errorf("got %d decisions, want 1", asked-before)
	}
}

func TestDecideSaysWhyNot(t *testing.T) {
	w, _ := ticketWindow(t)
	q := w.page.doc.Questions()[0]
	w.page.doc.SetName(q.Key, q.Options[2].Key, "billing")
	w.page.decide()
	if w.page.status.view.lead == "Ready" || w.page.said == "" {
		t.Errorf("got %q, want the broken rule", w.page.status.view.lead)
	}
	settle(w.page)
}
