package ui

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"clefbar/engine"
)

// arrived is when the first request of a test comes.
var arrived = time.Date(2026, 11, 30, 14, 32, 0, 0, time.UTC)

// arrivals fills a log as the endpoint does: each request first arrives, then is
// answered or refused.
func arrivals(l *RequestLog) {
	at := arrived
	request, err := engine.ParseRequest([]byte(keptJSON), engine.Limits{})
	if err != nil {
		panic(err)
	}
	answer := func(n int) *engine.Response {
		r := &engine.Response{Model: "clef-flash", Usage: engine.Usage{InputTokens: 412}, Timing: engine.Timing{Queue: 3 * time.Millisecond, Prefill: 780 * time.Millisecond, Head: 20 * time.Millisecond}}
		all := []engine.Answer{
			{ID: "team", Kind: engine.Choice, Options: []string{"billing", "technical", "sales"}, Probs: []float64{0.04, 0.94, 0.02}, Best: 1, Confidence: 0.91},
			{ID: "urgency", Kind: engine.Score, Options: []string{"0", "1"}, Probs: []float64{0.13, 0.87}, Best: 1, Score: 0.87, Legend: []engine.Value{engine.Text("Can wait"), engine.Text("This week")}},
			{ID: "service_down", Kind: engine.Noul, Options: []string{"true", "false"}, Probs: []float64{0.97, 0.03}, Noul: 0.97},
		}
		r.Answers = all[:n]
		return r
	}
	for i, s := range []Seen{
		{Client: "typesafe-sdk/0.7.5", Status: 200, Bytes: 764, Questions: 3, Took: 803 * time.Millisecond, Response: answer(3), Request: request},
		{Client: "curl/8.4.0", Status: 200, Bytes: 212, Questions: 1, Took: 741 * time.Millisecond, Response: answer(1), Request: request},
		{Client: "typesafe-ai-js/0.6.0", Status: 422, Bytes: 1930, Took: time.Millisecond, Error: "questions.team.choice.criteria: At least 1 option is needed."},
		{Client: "node", Status: 413, Bytes: 131072, Took: 12 * time.Millisecond, Error: "The request needs 21390 tokens; the limit is 16384."},
		{Client: "openai/3.57.0", Path: "/v1/decisions", Status: 200, Bytes: 890, Questions: 2, Took: 812 * time.Millisecond, Response: answer(2), Request: request},
		{Client: "typesafe-sdk/0.7.5", Status: 0, Bytes: 52000},
	} {
		s.ID, s.At, s.Address, s.Method = fmt.Sprintf("req_%024d", i), at.Add(time.Duration(i)*7*time.Second), "127.0.0.1:5014"+itoa(i), "POST"
		if s.Path == "" {
			s.Path = "/v1/systemone"
		}
		l.Started(Seen{ID: s.ID, At: s.At, Client: s.Client, Address: s.Address, Method: s.Method, Path: s.Path})
		if s.Status != 0 {
			l.Finished(s)
		}
	}
}

func requestsWindow(t *testing.T, d Deps) (*Window, *requestsBody) {
	t.Helper()
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	w.page.openRequests()
	b := w.page.sheet.body.(*requestsBody)
	b.now = func() time.Time { return arrived.Add(time.Hour) }
	b.sift()
	return w, b
}

func TestLogForgetsWhatRequestsSay(t *testing.T) {
	var l RequestLog
	arrivals(&l)
	dump := fmt.Sprintf("%+v", l.Seen())
	for _, s := range l.Seen() {
		if s.Request != nil {
			t.Error("a request was kept")
		}
		if s.Response != nil {
			dump += fmt.Sprintf("%+v", *s.Response)
		}
	}
	for _, word := range []string{"team", "billing", "Can wait", "Our checkout"} {
		if strings.Contains(dump, word) {
			t.Errorf("%q was kept: %s", word, dump)
		}
	}
	if !strings.Contains(dump, "21390") {
		t.Error("counts need not be forgotten")
	}
	var kept RequestLog
	kept.KeepBodies(true)
	arrivals(&kept)
	newest := kept.Seen()
	if newest[0].Status != 0 || newest[1].Path != "/v1/decisions" || newest[1].Request == nil || newest[1].Response.Answers[0].ID != "team" {
		t.Errorf("got %+v", newest[:2])
	}
	kept.KeepBodies(false)
	if s := kept.Seen()[1]; s.Request != nil || s.Response.Answers[0].ID != "Question 1" || s.Response.Answers[0].Probs[1] != 0.94 {
		t.Errorf("after switching off: %+v", s)
	}
	kept.Clear()
	if s := kept.Seen(); len(s) != 1 || s[0].Status != 0 {
		t.Errorf("after clearing: %+v", s)
	}
	for i := range 3 * seenMost {
		kept.Started(Seen{ID: itoa(i)})
	}
	if s := kept.Seen(); len(s) != seenMost || s[0].ID != itoa(3*seenMost-1) {
		t.Errorf("%d are remembered, the newest is %s", len(s), s[0].ID)
	}
}

func TestRequestsSheetFiltersAndReplays(t *testing.T) {
	d, _, _, _ := testDeps()
	l := &RequestLog{}
	l.KeepBodies(true)
	arrivals(l)
	d.Requests = l
	w, b := requestsWindow(t, d)
	if len(b.shown) != 6 || !b.detail.act.Disabled() && b.detail.act.Visible() {
		t.Fatalf("%d rows", len(b.shown))
	}
	for filter, want := range map[string]int{"typesafe": 3, "422": 1, "typesafe running": 1, "decisions": 1, "21390": 1, "nothing like it": 0, "ANSWERED": 3} {
		if b.filter.SetText(filter); len(b.shown) != want {
			t.Errorf("%q: %d rows, want %d", filter, len(b.shown), want)
		}
	}
	b.filter.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if len(b.shown) != 6 || w.page.sheet == nil {
		t.Fatalf("Escape did not empty the filter: %d rows", len(b.shown))
	}
	b.choose(b.shown[5].ID)
	if got := fmt.Sprint(b.detail.text.blocks); !strings.Contains(got, "{technical 0.94 true} {billing 0.04 false} {sales 0.02 false}") || !strings.Contains(got, "412 tokens by Clef-flash") {
		t.Errorf("got %s", got)
	}
	test.Tap(b.detail.act)
	if w.page.sheet != nil || len(w.page.doc.Questions()) != 3 || !strings.HasPrefix(w.page.doc.Title(), "typesafe-sdk/0.7.5, ") {
		t.Errorf("replayed %q with %d questions", w.page.doc.Title(), len(w.page.doc.Questions()))
	}
}

func TestRequestsArriveWhileTheSheetIsOpen(t *testing.T) {
	d, _, _, _ := testDeps()
	l := &RequestLog{}
	d.Requests = l
	w, b := requestsWindow(t, d)
	if b.empty.text == "" || !strings.HasPrefix(w.page.sheet.note.full, "None since") {
		t.Errorf("an empty log says %q, %q", b.empty.text, w.page.sheet.note.full)
	}
	var one sync.WaitGroup
	one.Go(func() { arrivals(l) })
	one.Wait()
	until(t, "six rows", func() bool { return len(b.shown) == 6 })
	if len(b.shown) != 6 || b.empty.text != "" || !strings.HasPrefix(w.page.sheet.note.full, "6 requests since Clefbar started. What they say is not kept.") {
		t.Errorf("%d rows, %q", len(b.shown), w.page.sheet.note.full)
	}
	b.choose(b.shown[1].ID)
	if !b.detail.act.Disabled() || b.detail.act.tip == "" {
		t.Error("a request that was not kept can be opened")
	}
	test.Tap(w.page.sheet.head[0].(*button))
	until(t, "the running one alone", func() bool { return len(b.shown) == 1 })
	w.page.openRequests()
	if w.page.sheet != nil {
		t.Error("the sheet does not close")
	}
	arrivals(l) // nobody listens any more
}

func TestRequestsWithoutALog(t *testing.T) {
	d, _, _, _ := testDeps()
	if w, body := requestsWindow(t, d); len(body.shown) != 0 || !strings.HasPrefix(w.page.sheet.note.full, "None since Clefbar started") {
		t.Errorf("got %+v, %q", body.shown, w.page.sheet.note.full)
	}
}

func TestRequestColumnsFit(t *testing.T) {
	for _, width := range []float32{300, 370, 420, 480, 560, 700} {
		width = dp(width)
		end := float32(0)
		arrangeColumns(width, func(i int, x, w float32, _ bool) {
			if w == 0 {
				return
			}
			if x < end {
				t.Errorf("%v: column %d begins at %v, the one before ends at %v", width, i, x, end)
			}
			end = max(end, x+w)
		})
		if end > width-dp(19) && width > dp(360) {
			t.Errorf("%v: the columns end at %v", width, end)
		}
	}
}
