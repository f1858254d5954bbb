package document

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"clefbar/engine"
)

// FuzzJSON: whatever opens is written back byte for byte, and the builder lets a
// request through exactly when the one parser does.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		kitchen, `{}`, `{ }`, `[1]`, one(`{"type":"choice","criteria":["a"]}`), one(`{"type":"noul","criteria":{"yes":"\ud83d"}}`),
		`{"state":"s","questions":{"q":{"type":"score","criteria":{"1":null}}},"images":["data:image/png;base64,AAAA"]}`,
		`{"x_clefbar":{"version":1,"attachments":[{"name":"a","bytes":3}]},"state":"abc","questions":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := FromJSON(data)
		if err != nil {
			return
		}
		text := string(c.JSON())
		if c.now.root.find(metaField) < 0 && !strings.Contains(string(data), "x_clefb") && !strings.Contains(string(data), `\u`) && text != strings.TrimPrefix(string(data), "\ufeff") {
			t.Fatalf("got %q, want %q", text, data)
		}
		r, problems := c.Request()
		want, err := engine.ParseRequest(c.JSON(), engine.Limits{})
		for _, p := range problems {
			if p.Rule == RuleEmptyQuestion { // the builder alone asks for a question
				return
			}
		}
		if (err == nil) != (len(problems) == 0) {
			t.Fatalf("%q: problems %+v, parser says %v", text, problems, err)
		}
		if err == nil && string(r.JSON()) != string(want.JSON()) {
			t.Fatalf("got %s, want %s", r.JSON(), want.JSON())
		}
		c.Advice()
		again, err := FromJSON(c.Snapshot().File())
		if err != nil {
			t.Fatalf("the case file of %q does not open: %v", text, err)
		}
		if len(c.now.root.slots) > 0 && string(again.JSON()) != text {
			t.Fatalf("from its file got %q, want %q", again.JSON(), text)
		}
		for _, p := range append(problems, c.Advice()...) {
			c.Fix(p)
			c.Problems()
		}
		for c.Undo() {
		}
		if string(c.JSON()) != text {
			t.Fatalf("after undo got %q, want %q", c.JSON(), text)
		}
	})
}

// words are what the walk types.
var words = []string{"", "a", "b", "billing", "Zahlung \"x\"\n\t", "\U0001F468\u200d\U0001F469\u200d\U0001F467", "`$(rm)`'\\", "true", "0", "\u2028<&>", strings.Repeat("long ", 600)}

// walk does one random edit.
func walk(c *Case, r *rand.Rand) {
	word := func() string { return words[r.IntN(len(words))] }
	q := Key(r.IntN(30))
	o := Key(r.IntN(30))
	if qs := c.Questions(); len(qs) > 0 && r.IntN(8) > 0 {
		quest := qs[r.IntN(len(qs))]
		q = quest.Key
		if len(quest.Options) > 0 {
			o = quest.Options[r.IntN(len(quest.Options))].Key
		}
	}
	at := r.IntN(6) - 1
	kind := engine.Kind(r.IntN(3))
	if r.IntN(100) == 0 {
		c.RemoveQuestion(q)
	}
	edits := []func(){
		func() { c.SetText(word()) }, func() { c.AddQuestion(at, kind) }, func() { c.MoveQuestion(q, at) }, func() { c.SetID(q, word()) },
		func() { c.SetInstructions(q, word()) }, func() { c.SetKind(q, kind) }, func() { c.AddOption(q, at) }, func() { c.RemoveOption(q, o) },
		func() { c.MoveOption(q, o, at) }, func() { c.SetName(q, o, word()) }, func() { c.SetDescription(q, o, word()) }, func() { c.DuplicateOption(q, o) },
		func() { c.DuplicateQuestion(q) }, func() { _, _ = c.PasteRows(q, o, word()+"\tx\n"+word()) }, func() { c.Attach(word(), word()) },
		func() { c.Undo() }, func() { c.Redo() }, func() { c.SetTitle(word()) }, func() { c.SetLiteral(r.IntN(2) == 0) },
		func() { c.Unlock(Field{PartDescription, q, o}) }, func() { c.Convert(q) },
		func() {
			for _, p := range append(c.Problems(), c.Advice()...) {
				if r.IntN(3) == 0 {
					c.Fix(p)
				} else {
					c.Dismiss(p)
				}
			}
		},
	}
	edits[r.IntN(len(edits))]()
}

// shown is what a person sees of the questions, without keys and blank rows.
func shown(c *Case) string {
	var b strings.Builder
	st := c.State()
	fmt.Fprintf(&b, "%d %q\n", st.Type, strings.Join(composed(st.Text, st.Attachments), ""))
	for _, q := range c.Questions() {
		fmt.Fprintf(&b, "%q %s %+v %v %v\n", q.ID, q.Kind, q.Instructions, q.OtherForm, q.Extra)
		for _, o := range q.Asked() {
			fmt.Fprintf(&b, "  %q %+v\n", o.Name, o.Description)
		}
	}
	return b.String()
}

func TestRandomEditsLoseNothing(t *testing.T) {
	for _, start := range []string{kitchen, `{"state":"","questions":{}}`, "{\n\t\"questions\": {},\n\t\"state\": [1]\n}"} {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1))
			c := mustCase(t, start)
			for step := range 120 {
				walk(c, r)
				text := c.JSON()
				again, err := FromJSON(text)
				if err != nil {
					t.Fatalf("seed %d step %d: the text does not open: %v\n%s", seed, step, err, text)
				}
				if got, want := shown(again), shown(c); got != want {
					t.Fatalf("seed %d step %d: got\n%s\nwant\n%s\nfrom %s", seed, step, got, want, text)
				}
				file, err := FromJSON(c.Snapshot().File())
				if err != nil || string(file.JSON()) != string(text) || shown(file) != shown(c) || file.now.title != c.now.title {
					t.Fatalf("seed %d step %d: the file gives %v\n%s\nwant\n%s", seed, step, err, file.JSON(), text)
				}
			}
			if len(c.past) < undoSteps {
				for c.Undo() {
				}
				if got := string(c.JSON()); got != start {
					t.Fatalf("seed %d: after undo got %s", seed, got)
				}
			}
		}
	}
}
