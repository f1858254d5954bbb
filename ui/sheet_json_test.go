package ui

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"clefbar/ui/document"
)

const keptJSON = `{
  "model": "clef-flash",
  "state": "Our checkout started returning errors about twenty minutes ago.",
  "questions": {
    "team": {
      "type": "choice",
      "instructions": "Which team should handle it?",
      "criteria": {
        "billing": "Payments, invoices or refunds",
        "technical": "Bugs, errors or outages",
        "sales": {"description": "Plans, quotes or upgrades", "since": 2019}
      }
    },
    "urgency": {
      "type": "score",
      "instructions": "How urgent is it?",
      "criteria": ["Can wait: nothing is blocked", "This week: work is slower, not stopped"]
    },
    "service_down": {
      "type": "noul",
      "instructions": "Is a service down?",
      "criteria": {"true": "A service is unreachable"}
    }
  }
}
`

// sheetWindow is a window with the case and its JSON sheet open.
func sheetWindow(t *testing.T, text string) (*Window, *jsonBody) {
	t.Helper()
	d, _, _, _ := testDeps()
	return sheetWindowOf(t, d, text)
}

func sheetWindowOf(t *testing.T, d Deps, text string) (*Window, *jsonBody) {
	t.Helper()
	w := testWindow(t, d, 1178, 730)
	c, err := document.FromJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w.page.open(c)
	settle(w.page)
	w.page.openJSON()
	if w.page.sheet == nil {
		t.Fatal("no sheet is open")
	}
	return w, w.page.sheet.body.(*jsonBody)
}

func footText(w *Window) string { return w.page.sheet.left.(*jsonFoot).text.full }

func sideText(b *jsonBody) string {
	var s []string
	for _, block := range b.side.blocks {
		s = append(s, block.title)
		s = append(s, block.lines...)
	}
	return strings.Join(s, "|")
}

func TestJSONSheetIsTwoWay(t *testing.T) {
	w, b := sheetWindow(t, keptJSON)
	if b.entry.Text != keptJSON || footText(w) != "Valid. Applied to the form." {
		t.Fatalf("got %q and %s", footText(w), b.entry.Text)
	}
	if got := sideText(b); got != "Kept as written|Line 11: sales holds structured text. The form shows it as a chip and never rewrites it.|Size|3 questions|764 bytes|412 tokens" {
		t.Errorf("beside the text: %s", got)
	}
	if len(b.paper.tinted) != 1 || b.paper.tinted[0] != [2]int{10, 10} {
		t.Errorf("tinted lines: %v", b.paper.tinted)
	}
	b.entry.SetText(strings.Replace(keptJSON, "How urgent", "How very urgent", 1))
	if got := w.page.doc.Questions()[1].Instructions.Text; got != "How very urgent is it?" {
		t.Errorf("the form shows %q", got)
	}
	b.entry.SetText(strings.Replace(keptJSON, `"score"`, `"rank"`, 1))
	if got := footText(w); got != `Line 15, column 15, questions.urgency.type: the type is "noul", "choice" or "score", not "rank".` {
		t.Errorf("got %s", got)
	}
	if got := w.page.doc.Questions()[1].Instructions.Text; got != "How very urgent is it?" {
		t.Errorf("a broken text reached the form: %q", got)
	}
	b.entry.SetText(strings.Replace(keptJSON, `"technical"`, `"billing"`, 1))
	if got := footText(w); got != "Line 10: “billing” names two options. Only one of them could be answered." {
		t.Errorf("got %s", got)
	}
	foot := w.page.sheet.left.(*jsonFoot)
	test.Tap(foot.back)
	if got := string(w.page.doc.JSON()); got != keptJSON || b.entry.Text != keptJSON || foot.back.Visible() {
		t.Errorf("after taking the edits back: %s", got)
	}
}

func TestJSONSheetLosesNothing(t *testing.T) {
	w, b := sheetWindow(t, keptJSON)
	broken := strings.Replace(keptJSON, `"questions": {`, `"questions": `, 1)
	b.entry.SetText(broken)
	b.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.page.sheet != nil || string(w.page.doc.JSON()) != keptJSON {
		t.Fatal("Escape did not close the sheet, or changed the case")
	}
	w.page.openJSON()
	b = w.page.sheet.body.(*jsonBody)
	if b.entry.Text != broken {
		t.Error("the broken text is gone")
	}
	b.entry.SetText(keptJSON)
	w.page.openJSON()
	if w.page.sheet != nil {
		t.Error("the key does not close the sheet")
	}
	w.page.openJSON()
	if got := w.page.sheet.body.(*jsonBody).entry.Text; got != keptJSON {
		t.Errorf("a mended text is shown broken again: %s", got)
	}
}

func TestJSONSheetCutsLongText(t *testing.T) {
	long := strings.Repeat("words without end ", 60000)
	w, b := sheetWindow(t, strings.Replace(keptJSON, "Our checkout", long, 1))
	if len(b.entry.Text) > 3000 || !strings.Contains(sideText(b), "Shown cut") {
		t.Fatalf("%d bytes in the editor; beside it %s", len(b.entry.Text), sideText(b))
	}
	b.entry.SetText(strings.Replace(b.entry.Text, "How urgent", "How very urgent", 1))
	if got := len(w.page.doc.JSON()); got != len(keptJSON)+len(long)-len("Our checkout")+len("very ") {
		t.Errorf("the request has %d bytes now", got)
	}
}

func TestLongJSONIsReadWhenTypingRests(t *testing.T) {
	var rows []string
	for i := range 250 {
		rows = append(rows, fmt.Sprintf("%q: %q", "option_"+itoa(i), strings.Repeat("a long description ", 12)))
	}
	w, b := sheetWindow(t, strings.Replace(keptJSON, `"billing"`, strings.Join(rows, ",\n")+`, "billing"`, 1))
	b.entry.SetText(strings.Replace(b.entry.Text, "How urgent", "How very urgent", 1))
	if got := w.page.doc.Questions()[1].Instructions.Text; got != "How urgent is it?" {
		t.Errorf("read at once: %q", got)
	}
	until(t, "the text to be read", func() bool { return w.page.doc.Questions()[1].Instructions.Text == "How very urgent is it?" })
	b.entry.SetText(strings.Replace(b.entry.Text, "very urgent", "most urgent", 1))
	w.page.sheet.close()
	if got := w.page.doc.Questions()[1].Instructions.Text; got != "How most urgent is it?" {
		t.Errorf("closing lost what was typed: %q", got)
	}
}

func TestJSONEditorKeepsIndentation(t *testing.T) {
	_, b := sheetWindow(t, keptJSON)
	b.entry.CursorRow, b.entry.CursorColumn = 8, len(`        "billing": "Payments, invoices or refunds",`)
	b.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.entry.TypedRune('"')
	if got := strings.Split(b.entry.Text, "\n")[9]; got != `        "` {
		t.Errorf("the new line is %q", got)
	}
}
