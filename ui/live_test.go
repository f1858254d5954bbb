package ui

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"
)

func TestTypingGreysTheBars(t *testing.T) {
	w, _ := ticketWindow(t)
	test.Type(w.page.state.entry, "x")
	for _, b := range w.Bars() {
		if !b.Stale {
			t.Errorf("%s %s: got fresh, want stale", b.Question, b.Option)
		}
	}
	if got := w.page.status.view.lead; got != "Grey answers are from before your edit" {
		t.Errorf("status: got %q", got)
	}
}

func TestLiveFollowsTyping(t *testing.T) {
	w, e := ticketWindow(t)
	on := true
	w.page.settings.Live = &on
	before, _ := e.count()
	for _, r := range "we were charged twice" {
		w.page.state.entry.TypedRune(r)
	}
	settle(w.page)
	asked, _ := e.count()
	if asked != before+1 {
		t.Errorf("got %d decisions for one burst of keys, want 1", asked-before)
	}
	if got := e.asked[len(e.asked)-1].State.Text; !strings.Contains(got, "we were charged twice") {
		t.Errorf("got %q asked, want the newest text", got)
	}
	for _, b := range w.Bars() {
		if b.Stale {
			t.Errorf("%s %s: got stale after the answer", b.Question, b.Option)
		}
	}
}

func TestLiveCancelsTheOlderDecision(t *testing.T) {
	w, e := ticketWindow(t)
	on := true
	w.page.settings.Live = &on
	e.mu.Lock()
	e.hold = make(chan struct{})
	e.mu.Unlock()
	w.page.state.entry.TypedRune('a')
	until(t, "a running decision", w.page.run.running)
	w.page.state.entry.TypedRune('b')
	until(t, "the older one to end", func() bool { _, ended := e.count(); return ended == 1 })
	close(e.hold)
	settle(w.page)
	if got := w.page.outcome.revision; got != w.page.doc.Revision() {
		t.Errorf("got the answer of revision %d, want %d", got, w.page.doc.Revision())
	}
}

func TestLiveDoesNotFlash(t *testing.T) {
	w, _ := ticketWindow(t)
	on := true
	w.page.settings.Live = &on
	w.page.state.entry.TypedRune('a')
	for _, b := range w.Bars() {
		if b.Stale {
			t.Fatal("right after a key: got grey bars, want a grace")
		}
	}
	if w.page.run.visible() || w.page.questions.updating.Visible() {
		t.Error("right after a key: got Updating")
	}
	settle(w.page)
}

func TestLiveIsOnByItselfWhileDecisionsAreQuick(t *testing.T) {
	for _, tt := range []struct {
		took time.Duration
		want bool
	}{{31 * time.Millisecond, true}, {149 * time.Millisecond, true}, {150 * time.Millisecond, false}, {800 * time.Millisecond, false}} {
		d, e, _, _ := testDeps()
		e.took, d.FirstRun = tt.took, true
		w := testWindow(t, d, 1178, 730)
		settle(w.page)
		if got := w.page.liveOn(); got != tt.want {
			t.Errorf("after %v: got live %v, want %v", tt.took, got, tt.want)
		}
	}
}

func TestCancelLeavesEverything(t *testing.T) {
	w, e := ticketWindow(t)
	e.mu.Lock()
	e.hold = make(chan struct{})
	e.mu.Unlock()
	w.page.state.entry.TypedRune('x')
	text := string(w.page.doc.JSON())
	test.Tap(w.page.toolbar.decide)
	until(t, "the busy state", w.page.run.visible)
	if got := w.page.toolbar.decide.text.full; got != "Cancel" {
		t.Errorf("button: got %q, want Cancel", got)
	}
	if !w.page.questions.progress.Visible() {
		t.Error("got no line on top of the questions")
	}
	w.page.escape()
	w.page.run.work.Wait()
	if w.page.run.running() {
		t.Error("after Escape: got a running decision")
	}
	if got := string(w.page.doc.JSON()); got != text {
		t.Error("after Escape: got another case")
	}
	if w.page.outcome == nil || w.page.outcome.response.Answers[0].Probs[1] != 0.94 {
		t.Error("after Escape: got no old answer")
	}
}

func TestWindowStaysFreeWhileDeciding(t *testing.T) {
	w, e := ticketWindow(t)
	e.mu.Lock()
	e.hold = make(chan struct{})
	e.mu.Unlock()
	began := time.Now()
	w.page.decide()
	if took := time.Since(began); took > 100*time.Millisecond {
		t.Errorf("Decide blocked for %v", took)
	}
	test.Type(w.page.state.entry, "still typing")
	if !strings.Contains(w.page.doc.State().Text, "still typing") {
		t.Error("got no typed text while deciding")
	}
	close(e.hold)
}
