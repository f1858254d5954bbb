package ui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"clefbar/engine"
	"clefbar/engine/prompt"
	"clefbar/engine/tokenizer"
	"clefbar/ui/document"
)

// encoding is an engine that encodes for real, with a small vocabulary.
type encoding struct {
	*scripted
	tok   *tokenizer.Tokenizer
	limit int
}

func (e encoding) Encode(r *engine.Request) (*engine.Encoding, error) {
	return prompt.Encode(e.tok, r, prompt.Options{Limit: e.limit})
}

func realEncoder(t *testing.T) encoding {
	t.Helper()
	data, err := os.ReadFile("../engine/testdata/golden/tiny-9b-shape-hf/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	_, s, _, _ := testDeps()
	return encoding{scripted: s, tok: tok, limit: 65536}
}

var controlJSON = strings.Replace(keptJSON, "minutes ago.", "minutes ago and orders are blocked. Customers see “Payment service unavailable” after they enter a card. <|im_end|> We have not changed anything on our side.", 1)

func readsWindow(t *testing.T, d Deps, text string) (*Window, *readsBody) {
	t.Helper()
	if s, ok := d.Engine.(*scripted); ok {
		e := realEncoder(t)
		e.scripted = s
		d.Engine = e
	}
	w := testWindow(t, d, 1178, 730)
	c, err := document.FromJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w.page.open(c)
	settle(w.page)
	w.page.openReads()
	b := w.page.sheet.body.(*readsBody)
	until(t, "the prompt", func() bool { return b.encoding != nil || b.message.text != "" })
	return w, b
}

func allText(lines [][]promptRun) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, r := range line {
			b.WriteString(r.text)
		}
	}
	return b.String()
}

func TestReadsSheetShowsThePrompt(t *testing.T) {
	d, _, _, _ := testDeps()
	_, b := readsWindow(t, d, controlJSON)
	// Wrapped lines keep every character; only breaks are added.
	if got, want := strings.ReplaceAll(allText(b.lines), "\n", ""), strings.ReplaceAll(b.encoding.Text, "\n", ""); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var state, control, question string
	for _, r := range b.runs {
		switch r.from {
		case fromState:
			state += r.text
		case fromControl:
			control += r.text
		case fromQuestion:
			question += r.text + "|"
		}
	}
	if !strings.HasPrefix(state, "Our checkout") || !strings.HasSuffix(state, "on our side.") || control != "<|im_end|>" {
		t.Errorf("state %q, control %q", state, control)
	}
	if !strings.HasPrefix(question, `Which team should handle it?|{"description":"Payments, invoices or refunds","option_id":"billing"}|{"description":{`) {
		t.Errorf("questions %s", question)
	}
	sum := 0
	var names []string
	for _, r := range b.side.table.rows {
		sum += r.tokens
		names = append(names, r.name)
		if r.tokens <= 0 {
			t.Errorf("%s has %d tokens", r.name, r.tokens)
		}
	}
	if got := strings.Join(names, "|"); got != "Frame|State|Schema heading|1 team|2 urgency|3 service_down|Closing" || sum != len(b.encoding.IDs) {
		t.Errorf("got %s with %d tokens, want %d", got, sum, len(b.encoding.IDs))
	}
	// "3 service_down" begins with its own header.
	starts := questionStarts(b.encoding)
	for _, p := range b.encoding.Pieces {
		if p.Tokens.From == starts[2] && p.Tokens.Len() > 0 && !strings.HasPrefix(p.Text, "\nFIELD 3\nID: service_down") {
			t.Errorf("question 3 begins with %q", p.Text)
		}
	}
}

func TestControlTokensCanBeReadAsText(t *testing.T) {
	d, _, _, _ := testDeps()
	w, b := readsWindow(t, d, controlJSON)
	card := b.side.warning
	if !card.Visible() || card.title.full != "Control token in the state" || !strings.Contains(card.body.text, "end of a message") {
		t.Fatalf("got %q %q", card.title.full, card.body.text)
	}
	before := len(b.encoding.IDs)
	test.Tap(card.act)
	until(t, "the literal prompt", func() bool { return len(b.encoding.IDs) > before })
	if !w.page.doc.Literal() || len(b.encoding.IDs) <= before || card.title.full != "Control token, read as plain text" {
		t.Errorf("literal %v, %d tokens after %d, %q", w.page.doc.Literal(), len(b.encoding.IDs), before, card.title.full)
	}
	test.Tap(card.act)
	until(t, "the first prompt", func() bool { return len(b.encoding.IDs) == before })
	if w.page.doc.Literal() || len(b.encoding.IDs) != before {
		t.Errorf("literal %v, %d tokens, want %d", w.page.doc.Literal(), len(b.encoding.IDs), before)
	}
}

func TestReadsSheetWithoutAPrompt(t *testing.T) {
	d, _, _, _ := testDeps()
	w, b := readsWindow(t, d, `{"state":"x","questions":{}}`)
	if b.message.text != "This is not a request yet: There is nothing to decide yet: add a question." || len(b.lines) != 0 {
		t.Errorf("got %q", b.message.text)
	}
	w.page.openReads()
	if w.page.sheet != nil {
		t.Error("the key does not close the sheet")
	}
	e := realEncoder(t)
	e.limit = 64
	d.Engine = e
	if _, b := readsWindow(t, d, controlJSON); !strings.Contains(b.message.text, "64") {
		t.Errorf("questions too long: got %q", b.message.text)
	}
	e.limit = 600
	d.Engine = e
	w, b = readsWindow(t, d, controlJSON)
	rows := fmt.Sprint(b.side.table.rows)
	if len(b.encoding.IDs) != 600 || b.encoding.Truncated == 0 || !strings.Contains(rows, "Cut from its end") || !strings.Contains(w.page.sheet.note.full, "too long to run") {
		t.Errorf("too long: %d tokens, %d cut, %s, %q", len(b.encoding.IDs), b.encoding.Truncated, rows, w.page.sheet.note.full)
	}
	if all := b.side.table.nums; all[len(all)-1].full != "600" {
		t.Errorf("all: %s", all[len(all)-1].full)
	}
}

func TestWrapping(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"one two three", 8, "one two \nthree"},
		{"one\n\ntwo", 8, "one\n\ntwo"},
		{"abcdefghijkl", 5, "abcde\nfghij\nkl"},
		{"a abcdefgh", 5, "a \nabcde\nfgh"},
		{"中文字符号", 4, "中文\n字符\n号"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301\ne\u0301"},
		{"12345 ", 5, "12345 "},
	} {
		// Origins change inside words too.
		whole := []rune(c.text)
		runs := []promptRun{{string(whole[:len(whole)/2]), fromState}, {string(whole[len(whole)/2:]), fromState}}
		for _, runs := range [][]promptRun{{{c.text, fromState}}, runs} {
			got := allText(wrapRuns(runs, c.columns))
			if got != c.want && len(runs) == 1 {
				t.Errorf("%q in %d: got %q, want %q", c.text, c.columns, got, c.want)
			}
			if strings.ReplaceAll(got, "\n", "") != strings.ReplaceAll(c.text, "\n", "") {
				t.Errorf("%q in %d: characters were lost: %q", c.text, c.columns, got)
			}
		}
	}
}

func TestReadsSheetHoldsLongPrompts(t *testing.T) {
	d, _, _, _ := testDeps()
	state := strings.Repeat("a long log line with words and <|im_end|> in it\\n", 5000) + strings.Repeat("x", 50000)
	_, b := readsWindow(t, d, strings.Replace(keptJSON, "Our checkout", state, 1))
	if b.encoding == nil && !strings.Contains(b.message.text, "65,536") && !strings.Contains(b.message.text, "65536") {
		t.Fatalf("got %q", b.message.text)
	}
	e := &engine.Encoding{Pieces: []engine.Piece{{Part: engine.PartState, Text: strings.ReplaceAll(state, "\\n", "\n")}}, Control: []engine.Control{{Token: "<|im_end|>"}}}
	quickest := time.Hour
	lines := 0
	for range 5 { // the quickest, as tests share their machine
		start := time.Now()
		lines = len(wrapRuns(promptRuns(e), 88))
		quickest = min(quickest, time.Since(start))
	}
	if quickest > 200*time.Millisecond || lines < 5000 {
		t.Errorf("%d lines took %s to wrap", lines, quickest)
	}
}
