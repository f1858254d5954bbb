package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"clefbar/assets"
	"clefbar/engine"
	"clefbar/ui/document"
)

func TestFirstRunShowsBars(t *testing.T) {
	w, e := ticketWindow(t)
	if asked, _ := e.count(); asked == 0 {
		t.Fatal("got no decision, want the sample answered by itself")
	}
	bars := w.Bars()
	if len(bars) != 7 {
		t.Fatalf("got %d bars, want 7", len(bars))
	}
	want := map[string]string{"team/technical": "0.94", "urgency/2": "0.87", "service_down/Yes": "0.97"}
	for _, b := range bars {
		if n, ok := want[b.Question+"/"+b.Option]; ok && b.Number != n {
			t.Errorf("%s %s: got %s, want %s", b.Question, b.Option, b.Number, n)
		}
	}
	if got := bars[1].Fill; got < 0.939 || got > 0.941 {
		t.Errorf("technical: got %v of the track filled, want 0.94", got)
	}
}

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

func TestLongPasteBecomesAnAttachment(t *testing.T) {
	w, _ := ticketWindow(t)
	clip := fyne.CurrentApp().Clipboard()
	for name, text := range map[string]string{
		"200 KB of lines":    strings.Repeat("23:41:07 gw-2 POST /v1/charge 502 upstream reset\n", 4100),
		"200 KB in one line": strings.Repeat("abcdefghi ", 20_000),
		"a 10 KB data line":  strings.Repeat("0123456789abcdef", 640),
	} {
		w.page.newCase()
		clip.SetContent(text)
		began := time.Now()
		w.page.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
		if took := time.Since(began); took > 100*time.Millisecond*slowness {
			t.Errorf("%s: got %v for the paste, want under 100 ms", name, took)
		}
		list := w.page.doc.State().Attachments
		if len(list) != 1 || list[0].Text != text {
			t.Errorf("%s: got %d attachments, want the text as one", name, len(list))
		}
		if got := w.page.state.entry.Text; got != "" {
			t.Errorf("%s: got %d bytes in the editor", name, len(got))
		}
		if len(w.page.state.attached) != 1 {
			t.Errorf("%s: got no card", name)
		}
		w.page.openAttachment(list[0].Key)
		w.page.sheet.close()
		w.page.undo()
		if got := len(w.page.doc.State().Attachments); got != 0 {
			t.Errorf("%s, after undo: got %d attachments", name, got)
		}
	}
}

// slowness stretches time limits for machines that run other things.
const slowness = 3

func TestShortPasteGoesIntoTheEditor(t *testing.T) {
	w, _ := ticketWindow(t)
	w.page.newCase()
	clip := fyne.CurrentApp().Clipboard()
	clip.SetContent("a short\nstory")
	w.page.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if got := w.page.doc.State().Text; got != "a short\nstory" {
		t.Errorf("got %q", got)
	}
}

func TestPastedRequestOpens(t *testing.T) {
	w, _ := ticketWindow(t)
	clip := fyne.CurrentApp().Clipboard()
	clip.SetContent(`{"state":"other","questions":{"q":{"type":"noul"}}}`)
	w.page.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if got := w.page.doc.State().Text; got != "other" {
		t.Errorf("got state %q, want the request's", got)
	}
}

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

func TestLongPasteReplacesTheSelection(t *testing.T) {
	w, _ := ticketWindow(t)
	clip := fyne.CurrentApp().Clipboard()
	clip.SetContent(strings.Repeat("a line of a log\n", 4000))
	w.page.focusState()
	w.page.state.entry.TypedShortcut(&fyne.ShortcutSelectAll{})
	w.page.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if s := w.page.doc.State(); s.Text != "" || len(s.Attachments) != 1 {
		t.Errorf("got %q and %d attachments, want the paste alone", s.Text, len(s.Attachments))
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

func TestEndpointInTheStatusLine(t *testing.T) {
	d, _, _, b := testDeps()
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	check := func(want string, dot bool) {
		t.Helper()
		if v := w.page.status.view; v.endpoint != want || v.dot != dot {
			t.Errorf("got %q %v, want %q %v", v.endpoint, v.dot, want, dot)
		}
	}
	check("Endpoint on :2533", true)
	test.Tap(w.page.status.endpoint)
	menu, ok := w.win.Canvas().Overlays().Top().(*popMenu)
	if !ok {
		t.Fatal("got no menu")
	}
	test.Tap(menu.rows[0])
	during(50 * time.Millisecond)
	if b.state.On {
		t.Fatal("got the endpoint on, want one click to stop it")
	}
	check("Endpoint off", false)
	b.state.On, b.state.Err = true, fmt.Errorf("port 2533 is taken by another program")
	b.watch()
	during(50 * time.Millisecond)
	check("Endpoint off: Port 2533 is taken by another program.", false)
}

func TestEveryActionHasAKey(t *testing.T) {
	w, e := ticketWindow(t)
	press := func(k fyne.KeyName, mod fyne.KeyModifier) {
		w.win.Canvas().(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: k, Modifier: command() | mod})
	}
	before, _ := e.count()
	w.page.focusState()
	w.page.state.entry.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: command()})
	settle(w.page)
	if asked, _ := e.count(); asked != before+1 {
		t.Errorf("decide from the editor: got %d decisions, want 1", asked-before)
	}
	live := w.page.liveOn()
	press(fyne.KeyL, 0)
	if w.page.liveOn() == live {
		t.Error("live: got no change")
	}
	settle(w.page)
	press(fyne.Key2, 0)
	if c := cardOf(t, w, 1); c.cell != c.head.title {
		t.Error("second question: got no edit in its title")
	}
	press(fyne.KeyComma, 0)
	if w.page.sheet == nil || w.page.sheet.title.full != "Settings" {
		t.Error("settings: got no sheet")
	}
	w.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.page.sheet != nil {
		t.Error("Escape: got the sheet still")
	}
	press(fyne.KeyN, 0)
	if !w.page.doc.Empty() {
		t.Error("new case: got the old one")
	}
	settle(w.page)
}

func TestTabReachesEverything(t *testing.T) {
	w, _ := ticketWindow(t)
	c := w.win.Canvas()
	c.Unfocus()
	seen := map[fyne.Focusable]bool{}
	for range 200 {
		if e, ok := c.Focused().(*inline); ok {
			e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
		} else {
			c.FocusNext()
		}
		if c.Focused() == fyne.Focusable(w.page.toolbar.model) && len(seen) > 5 {
			break
		}
		seen[c.Focused()] = true
	}
	p := w.page
	for what, o := range map[string]fyne.Focusable{
		"model": p.toolbar.model, "samples": p.toolbar.samples, "paste": p.toolbar.paste, "inspect": p.toolbar.inspect,
		"copy as": p.toolbar.copyAs, "live": p.toolbar.live, "decide": p.toolbar.decide, "state": p.state.entry,
		"file": p.state.file, "image": p.state.image, "question": p.questions.add, "threshold": p.questions.threshold,
		"endpoint": p.status.endpoint, "kind": cardOf(t, w, 0).head.kind, "card menu": cardOf(t, w, 0).head.more,
		"option": cardOf(t, w, 0).foot.add, "last card": cardOf(t, w, 2).foot.add,
	} {
		if !seen[o] {
			t.Errorf("%s: got passed over by Tab", what)
		}
	}
}

func TestUndoReachesTheEditor(t *testing.T) {
	w, _ := ticketWindow(t)
	before := w.page.doc.State().Text
	w.page.focusState()
	test.Type(w.page.state.entry, "xyz")
	w.page.state.entry.TypedShortcut(&fyne.ShortcutUndo{})
	if got := w.page.state.entry.Text; got != before {
		t.Errorf("got %q, want the text from before", got)
	}
	w.page.state.entry.TypedShortcut(&fyne.ShortcutRedo{})
	if got := w.page.state.entry.Text; got != "xyz"+before {
		t.Errorf("redo: got %q", got)
	}
}

func TestEmptyCaseOffersThreeKinds(t *testing.T) {
	d, _, _, _ := testDeps()
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	e := w.page.questions.empty
	if !e.Visible() || len(e.kinds) != 3 || len(e.cards) != 6 {
		t.Fatalf("got visible %v, %d kinds, %d samples", e.Visible(), len(e.kinds), len(e.cards))
	}
	test.Tap(e.kinds[1])
	if e.Visible() {
		t.Error("after adding a question: got the empty page still")
	}
	q := w.page.doc.Questions()
	if len(q) != 1 || q[0].Kind != engine.Score {
		t.Errorf("got %+v, want one rating", q)
	}
}

func TestSizesOfTheWindow(t *testing.T) {
	d, _, _, _ := testDeps()
	d.FirstRun = true
	for _, tt := range []struct {
		w, h    float32
		stacked bool
		bar     float32
	}{{1180, 732, false, 248}, {1480, 732, false, 348}, {2400, 1200, false, 360}, {960, 700, false, 0}, {959, 700, true, 248}, {760, 492, true, 0}} {
		t.Run(fmt.Sprint(tt.w), func(t *testing.T) {
			w := testWindow(t, d, tt.w, tt.h)
			settle(w.page)
			if got := w.page.state.stacked; got != tt.stacked {
				t.Errorf("got stacked %v, want %v", got, tt.stacked)
			}
			c := cardOf(t, w, 0)
			cols := c.columns(c.Size().Width)
			if tt.bar > 0 && cols.barW != tt.bar {
				t.Errorf("got bars of %v, want %v", cols.barW, tt.bar)
			}
			if tt.bar == 0 && !cols.twoLines {
				t.Error("got one line a row, want two")
			}
			assertInside(t, c)
		})
	}
}

// assertInside checks that nothing of a card's visible rows sticks out of it.
func assertInside(t *testing.T, c *card) {
	t.Helper()
	for _, r := range c.shown {
		for _, o := range r.parts {
			if !o.Visible() {
				continue
			}
			if end := o.Position().X + o.Size().Width; end > r.Size().Width+0.6 || o.Position().X < -0.1 {
				t.Errorf("%T from %v to %v in a row of %v", o, o.Position().X, end, r.Size().Width)
			}
		}
	}
}

func TestThresholdStandsOverTheTicks(t *testing.T) {
	w, _ := ticketWindow(t)
	driver := fyne.CurrentApp().Driver()
	for _, v := range []float64{0.5, 0.8, 0.99} {
		w.page.setThreshold(v)
		b := w.page.questions.threshold
		head := driver.AbsolutePositionForObject(b).X + b.tickX()
		r := cardOf(t, w, 0).shown[0].bar
		tick := driver.AbsolutePositionForObject(r).X + r.ticks[0].Position().X + r.ticks[0].Size().Width/2
		if d := abs32(head - tick); d > 1 && v < 0.9 {
			t.Errorf("threshold %v: header %v dp beside the ticks", v, d)
		}
	}
}

func TestRecentCaseComesBack(t *testing.T) {
	d, _, _, _ := testDeps()
	store, err := document.OpenStore(t.TempDir(), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	d.Cases = store
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	w.page.newCase()
	test.Type(w.page.state.entry, "the first story")
	w.page.newCase()
	settle(w.page)
	if err := store.Flush(); err != nil {
		t.Fatal(err)
	}
	items := w.menus.recentItems()
	if !strings.HasPrefix(items[0].Label, "the first story") {
		t.Fatalf("got %q, want the first case", items[0].Label)
	}
	items[0].Action()
	settle(w.page)
	if got := w.page.state.entry.Text; got != "the first story" {
		t.Errorf("got %q", got)
	}
}

func TestTrayMenuAsDesigned(t *testing.T) {
	w, _ := ticketWindow(t)
	var got []string
	for _, item := range w.TrayMenu().Items {
		if item.IsSeparator {
			got = append(got, "-")
			continue
		}
		got = append(got, item.Label)
	}
	want := "Clef-flash 4-bit · ready · 6.2 GB|-|Open Clefbar|Decide Clipboard|-|Model|Unload|-|Endpoint|Recent|-|Settings…|About Clefbar|-|Quit Clefbar"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if !w.TrayMenu().Items[0].Disabled {
		t.Error("status line: got a row that can be chosen")
	}
	items := w.menus.modelItems()
	if !items[1].Checked || items[0].Checked {
		t.Error("models: got the wrong one ticked")
	}
	for _, item := range w.TrayMenu().Items {
		if item.IsSeparator || item.Label == "Open Clefbar" {
			continue
		}
		if !inMenuBar(w, item.Label) {
			t.Errorf("%s: got no such item in the window's menu bar", item.Label)
		}
	}
}

func inMenuBar(w *Window, label string) bool {
	for _, m := range w.menus.main.Items {
		for _, item := range m.Items {
			if item.Label == label {
				return true
			}
		}
	}
	return false
}

func TestGlyphTellsTheState(t *testing.T) {
	w, e := ticketWindow(t)
	var got []string
	w.OnGlyph(func(g assets.Glyph) { got = append(got, string(g)) })
	e.mu.Lock()
	e.err = &engine.Error{Reason: engine.Device, Message: "x"}
	e.mu.Unlock()
	w.page.decide()
	settle(w.page)
	if want := "glyph-idle glyph-thinking glyph-error"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
