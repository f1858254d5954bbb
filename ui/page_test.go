package ui

import (
	"testing"

	"fyne.io/fyne/v2/test"

	"clefbar/engine"
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
