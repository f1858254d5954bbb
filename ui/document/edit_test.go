package document

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"clefbar/engine"
)

// kitchen has one question of each kind, odd spacing, structured texts and fields
// that the form does not know.
const kitchen = `{
  "model": "clef-flash",
  "x_trace" : [1.0, 1e2],
  "state": "Our checkout \u0069s down.",
  "questions": {
    "team": {"type": "choice", "weight": 1.50, "instructions": "Which team?", "criteria": {
      "billing": "Payments", "sales": {"since" : 2019}, "ops":null, "empty": ""}},
    "urgency": { "type":"score", "criteria":["Can wait","Today", ["now","!"]] },
    "down": {"type": "noul", "instructions": {"ask":"Down?"}, "criteria": {"false": "All well"}}
  }
}
`

func mustCase(t *testing.T, text string) *Case {
	t.Helper()
	c, err := FromJSON([]byte(text))
	if err != nil {
		t.Fatalf("open %s: %v", text, err)
	}
	return c
}

// key returns the key of a question, or of its option.
func key(t *testing.T, c *Case, id string, option ...string) Key {
	t.Helper()
	for _, q := range c.Questions() {
		if q.ID != id {
			continue
		}
		if len(option) == 0 {
			return q.Key
		}
		for _, o := range q.Options {
			if o.Name == option[0] {
				return o.Key
			}
		}
	}
	t.Fatalf("no question %s %v", id, option)
	return 0
}

func TestUntouchedTextIsUntouched(t *testing.T) {
	for _, text := range []string{kitchen, "\n " + kitchen + "\t", `{"questions":{},"state":[1.0,{"a":-0.0}]}`, `{"questions":{"q":{"type":"noul","type2":1}},"seed":1e5}`} {
		if got := string(mustCase(t, text).JSON()); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	if got, want := string(mustCase(t, "\ufeff{}").JSON()), "{}"; got != want {
		t.Errorf("byte order mark: got %q, want %q", got, want)
	}
}

func TestEditsChangeOnlyWhatWasEdited(t *testing.T) {
	for _, e := range []struct {
		name     string
		edit     func(c *Case, t *testing.T)
		from, to string // what stands in the text before and after
	}{
		{"state", func(c *Case, _ *testing.T) { c.SetText("New \"text\"") }, `"Our checkout \u0069s down."`, `"New \"text\""`},
		{"instructions", func(c *Case, t *testing.T) { c.SetInstructions(key(t, c, "team"), "Who?") }, `"Which team?"`, `"Who?"`},
		{"id", func(c *Case, t *testing.T) { c.SetID(key(t, c, "urgency"), "how urgent") }, `"urgency"`, `"how urgent"`},
		{"name", func(c *Case, t *testing.T) { c.SetName(key(t, c, "team"), key(t, c, "team", "sales"), "verkauf") }, `"sales":`, `"verkauf":`},
		{"description", func(c *Case, t *testing.T) { c.SetDescription(key(t, c, "team"), key(t, c, "team", "ops"), "Ops") }, `"ops":null`, `"ops":"Ops"`},
		{"cleared description", func(c *Case, t *testing.T) {
			c.SetDescription(key(t, c, "team"), key(t, c, "team", "billing"), "")
		}, `"Payments"`, `null`},
		{"level", func(c *Case, t *testing.T) { c.SetDescription(key(t, c, "urgency"), key(t, c, "urgency", "1"), "Now") }, `"Today"`, `"Now"`},
		{"other side", func(c *Case, t *testing.T) { c.SetDescription(key(t, c, "down"), KeyTrue, "It is") }, `{"false": "All well"}`, `{"true": "It is", "false": "All well"}`},
		{"cleared side", func(c *Case, t *testing.T) { c.SetDescription(key(t, c, "down"), KeyFalse, "") }, `, "criteria": {"false": "All well"}`, ``},
		{"new option", func(c *Case, t *testing.T) {
			q := key(t, c, "team")
			c.SetName(q, c.AddOption(q, 1), "new")
		}, `"Payments", "sales"`, `"Payments", "new": null, "sales"`},
		{"removed option", func(c *Case, t *testing.T) { c.RemoveOption(key(t, c, "team"), key(t, c, "team", "sales")) }, `"sales": {"since" : 2019}, `, ``},
		{"moved level", func(c *Case, t *testing.T) { c.MoveOption(key(t, c, "urgency"), key(t, c, "urgency", "0"), 1) }, `"Can wait","Today"`, `"Today","Can wait"`},
		{"flag", func(c *Case, _ *testing.T) { c.SetLiteral(true) }, "}}\n  }\n}\n", "}}\n  },\n  \"x_control\": \"literal\"\n}\n"},
		{"unlocked", func(c *Case, t *testing.T) {
			c.Unlock(Field{Part: PartInstructions, Question: key(t, c, "down")})
		}, `{"ask":"Down?"}`, `"{\"ask\":\"Down?\"}"`},
	} {
		c := mustCase(t, kitchen)
		before := c.Revision()
		e.edit(c, t)
		want := strings.Replace(kitchen, e.from, e.to, 1)
		if got := string(c.JSON()); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", e.name, got, want)
		}
		if c.Revision() == before {
			t.Errorf("%s: the revision did not change", e.name)
		}
		for c.Undo() {
		}
		if got := string(c.JSON()); got != kitchen || c.Revision() != before {
			t.Errorf("%s: after undo got %s at revision %d, want the original at %d", e.name, got, c.Revision(), before)
		}
	}
}

func TestLockedValuesStay(t *testing.T) {
	c := mustCase(t, kitchen)
	team := key(t, c, "team")
	c.SetDescription(team, key(t, c, "team", "sales"), "x")
	c.SetInstructions(key(t, c, "down"), "x")
	c.SetDescription(key(t, c, "urgency"), key(t, c, "urgency", "2"), "x")
	if got := string(c.JSON()); got != kitchen {
		t.Errorf("typing over structured text changed it: %s", got)
	}
	q, _ := c.Question(team)
	if !q.Options[1].Description.Locked() || q.Options[1].Description.Text != `{"since" : 2019}` {
		t.Errorf("got %+v, want the structured text as written", q.Options[1].Description)
	}
	if got := q.Options[2].Description; got != (Text{Type: engine.Null}) {
		t.Errorf("null description: got %+v", got)
	}
	if got := q.Options[3].Description; got != (Text{Type: engine.String}) {
		t.Errorf("empty description: got %+v", got)
	}
	if len(q.Extra) != 1 || q.Extra[0] != "weight" {
		t.Errorf("got extra fields %v, want [weight]", q.Extra)
	}
	s := mustCase(t, `{"state":{"a":1.0},"questions":{}}`)
	s.SetText("x")
	if s.Attach("", "y") != 0 || !s.State().Locked() || s.State().Text != `{"a":1.0}` {
		t.Errorf("structured state: got %+v", s.State())
	}
}

func TestEveryKindKeepsWhatWasTyped(t *testing.T) {
	c := mustCase(t, kitchen)
	q := key(t, c, "team")
	c.SetKind(q, engine.Score)
	view, _ := c.Question(q)
	if got := view.Options[0].Description.Text; got != "billing: Payments" {
		t.Errorf("first level from the options: got %q", got)
	}
	k := view.Options[0].Key
	c.SetDescription(q, k, "Low")
	c.SetKind(q, engine.Noul)
	c.SetDescription(q, KeyTrue, "Yes!")
	c.SetKind(q, engine.Score)
	view, _ = c.Question(q)
	if got := view.Options[0].Description.Text; got != "Low" {
		t.Errorf("level after a detour: got %q, want Low", got)
	}
	c.SetKind(q, engine.Choice)
	if got := string(c.JSON()); got != kitchen {
		t.Errorf("options after a detour: got %s", got)
	}
	c.SetKind(q, engine.Noul)
	view, _ = c.Question(q)
	if got := view.Options[0].Description.Text; got != "Yes!" {
		t.Errorf("side after a detour: got %q, want Yes!", got)
	}
}

func TestKindOfAnEmptyQuestion(t *testing.T) {
	c := New()
	q := c.AddQuestion(0, engine.Noul)
	for _, kind := range []engine.Kind{engine.Choice, engine.Score, engine.Noul, engine.Choice} {
		c.SetKind(q, kind)
		view, _ := c.Question(q)
		if view.Kind != kind {
			t.Fatalf("got kind %s, want %s", view.Kind, kind)
		}
	}
	if got, want := string(c.JSON()), "{\n  \"state\": \"\",\n  \"questions\": {\n    \"question_1\": {\n      \"type\": \"choice\",\n      \"instructions\": \"\",\n      \"criteria\": {}\n    }\n  }\n}\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBlankRowsAreNotAsked(t *testing.T) {
	c := mustCase(t, `{"state":"s","questions":{"q":{"type":"score","instructions":"How?","criteria":["a","b"]}}}`)
	before := string(c.JSON())
	q := key(t, c, "q")
	blank := c.AddOption(q, 1)
	if got := string(c.JSON()); got != before {
		t.Errorf("a blank row is written: %s", got)
	}
	view, _ := c.Question(q)
	if len(view.Options) != 3 || len(view.Asked()) != 2 || !view.Options[1].Blank || view.Options[2].Name != "1" {
		t.Errorf("got %+v", view.Options)
	}
	if _, problems := c.Request(); len(problems) > 0 {
		t.Errorf("a blank row blocks: %+v", problems)
	}
	c.SetDescription(q, blank, "m")
	if got, want := string(c.JSON()), strings.Replace(before, `"a"`, `"a","m"`, 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDuplicate(t *testing.T) {
	c := mustCase(t, kitchen)
	q := c.DuplicateQuestion(key(t, c, "team"))
	view, ok := c.Question(q)
	if !ok || view.ID != "team_2" || len(view.Options) != 4 || c.Questions()[1].Key != q {
		t.Fatalf("got %+v", view)
	}
	c.SetName(q, view.Options[0].Key, "changed")
	if first := c.Questions()[0]; first.Options[0].Name != "billing" {
		t.Errorf("the copy shares rows with the original: %+v", first.Options)
	}
	k := c.DuplicateOption(q, view.Options[1].Key)
	view, _ = c.Question(q)
	if o, ok := view.Option(k); !ok || o.Name != "sales_2" || o.Description.Text != `{"since" : 2019}` {
		t.Errorf("got %+v", o)
	}
}

func TestTypingIsOneStepOfUndo(t *testing.T) {
	c := New()
	now := time.Unix(0, 0)
	c.clock = func() time.Time { return now }
	for i := range "hello" {
		c.SetText("hello"[:i+1])
		now = now.Add(200 * time.Millisecond)
	}
	now = now.Add(5 * time.Second)
	c.SetText("hello you")
	c.Undo()
	if got := c.State().Text; got != "hello" {
		t.Errorf("after one undo got %q, want hello", got)
	}
	c.Undo()
	if got := c.State().Text; got != "" || c.CanUndo() {
		t.Errorf("after two undos got %q", got)
	}
	c.Redo()
	c.Redo()
	if got := c.State().Text; got != "hello you" || c.CanRedo() {
		t.Errorf("after redo got %q", got)
	}
}

func TestAttachmentsAreReadAfterTheText(t *testing.T) {
	c := New()
	log := strings.Repeat("line\n", 40000)
	k := c.Attach("gateway.log", log)
	c.SetText("Which part fails?")
	want := "Which part fails?\n\n" + log
	r := mustCase(t, string(c.JSON()))
	if got := strings.Join(composed(r.State().Text, r.State().Attachments), ""); got != want {
		t.Errorf("the state has %d bytes, want %d", len(got), len(want))
	}
	if st := c.State(); st.Text != "Which part fails?" || len(st.Attachments) != 1 || st.Attachments[0].Name != "gateway.log" {
		t.Errorf("got %d bytes and %d attachments", len(st.Text), len(st.Attachments))
	}
	c.Inline(k)
	if len(c.State().Attachments) != 1 {
		t.Error("a long text was put into the editor")
	}
	c.SetAttachment(k, "short")
	c.Inline(k)
	if st := c.State(); st.Text != "Which part fails?\n\nshort" || len(st.Attachments) != 0 {
		t.Errorf("got %+v", st)
	}
}

func TestUndoHoldsALongTextOnce(t *testing.T) {
	c := mustCase(t, kitchen)
	c.Attach("", strings.Repeat("a long log line\n", 1<<16)) // 1 MB
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for i := range 100 {
		c.SetText(fmt.Sprint("edit ", i))
		c.SetTitle(fmt.Sprint("title ", i))
		if _, p := c.Request(); len(p) > 0 {
			t.Fatal(p)
		}
	}
	if grown := int64(held()) - int64(before); grown > 8<<20 {
		t.Errorf("100 edits hold %d MB more", grown>>20)
	}
	if !c.CanUndo() {
		t.Error("nothing to undo")
	}
}

func TestLongPastedStateBecomesAnAttachment(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("a", EditorParagraph):                     false,
		strings.Repeat("a", EditorParagraph+1):                   true,
		strings.Repeat("short line\n", EditorBytes/11):           false,
		strings.Repeat("short line\n", EditorBytes/11+1) + "end": true,
	} {
		c := mustCase(t, `{"state":`+string(appendQuoted(nil, text))+`,"questions":{}}`)
		if got := len(c.State().Attachments) == 1; got != want {
			t.Errorf("%d bytes: attached %v, want %v", len(text), got, want)
		}
		if got := c.State().Text == ""; got != want {
			t.Errorf("%d bytes: editor empty %v, want %v", len(text), got, want)
		}
	}
}
