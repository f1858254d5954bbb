package document

import (
	"strings"
	"testing"
)

func TestFoldedTextComesBackWhole(t *testing.T) {
	long := strings.Repeat("A long story, \"told\" in one line. ", 40)
	c := mustCase(t, strings.Replace(strings.Replace(kitchen, `Our checkout \u0069s down.`, strings.ReplaceAll(long, `"`, `\"`), 1), `"Payments"`, `"`+strings.Repeat(`\u0061`, 200)+`"`, 1))
	before := string(c.JSON())
	f := c.Snapshot().Fold()
	for line := range strings.SplitSeq(f.Text, "\n") {
		if len(line) > lineBytes {
			t.Errorf("a line of %d bytes is left: %s", len(line), line)
		}
	}
	if f.Reflowed || strings.Contains(f.Text, long[:100]) || !strings.Contains(f.Text, `… (1360 characters)"`) || !strings.Contains(f.Text, `… (200 characters)"`) {
		t.Fatalf("got %s", f.Text)
	}
	snapshot := c.Snapshot()
	if err := c.Apply([]byte(f.Text), f); err != nil || c.Snapshot() != snapshot {
		t.Errorf("the same text changed the case: %v", err)
	}
	if err := c.Apply([]byte(strings.Replace(f.Text, "Which team?", "Who?", 1)), f); err != nil {
		t.Fatal(err)
	}
	if got, want := string(c.JSON()), strings.Replace(before, "Which team?", "Who?", 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	err := c.Apply([]byte(strings.Replace(f.Text, "A long story", "A story", 1)), f)
	if e, ok := err.(*SyntaxError); !ok || e.Line != 4 || !strings.Contains(e.Message, "shown cut") {
		t.Errorf("an edited cut text gave %v", err)
	}
	if err := c.Apply([]byte(strings.Replace(f.Text, `"state": "A long story`, `"state": "x", "y": "A long story`, 1)), f); err != nil || c.State().Text != "x" {
		t.Errorf("a cut text under another name: %v", err)
	}
}

func TestOneLongLineIsIndented(t *testing.T) {
	text := one(`{"type":"choice","instructions":"?","criteria":` + options(255) + `}`)
	c := mustCase(t, text)
	f := c.Snapshot().Fold()
	if !f.Reflowed || strings.Count(f.Text, "\n") < 255 {
		t.Fatalf("got %q", f.Text)
	}
	if err := c.Apply([]byte(f.Text), f); err != nil || string(c.JSON()) != text {
		t.Errorf("opening and closing the sheet changed the text (%v)", err)
	}
	if err := c.Apply([]byte(strings.Replace(f.Text, `"?"`, `"!"`, 1)), f); err != nil || c.Questions()[0].Instructions.Text != "!" {
		t.Errorf("got %v", err)
	}
}

func TestPlacesInTheText(t *testing.T) {
	c, err := Folded{}.FromText([]byte(kitchen))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.Structured() {
		line, _ := LineColumn([]byte(kitchen), s.From)
		got = append(got, s.Name+" "+kitchen[s.From:s.To]+" "+string(rune('0'+line)))
	}
	if want := `sales {"since" : 2019} 7|level 2 ["now","!"] 8|instructions {"ask":"Down?"} 9`; strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
	if got := strings.Join(c.Carried(), " "); got != "x_trace weight" {
		t.Errorf("carried through: got %q", got)
	}
	team := key(t, c, "team")
	for f, want := range map[Field]string{
		{Part: PartState}:                                                  `"state"`,
		{Part: PartQuestions}:                                              `"questions"`,
		{Part: PartID, Question: team}:                                     `"team"`,
		{Part: PartKind, Question: team}:                                   `"type": "choice"`,
		{Part: PartOptions, Question: team}:                                `"criteria": {`,
		{PartName, team, key(t, c, "team", "ops")}:                         `"ops"`,
		{PartDescription, key(t, c, "urgency"), key(t, c, "urgency", "1")}: `"Today"`,
		{PartDescription, key(t, c, "down"), KeyFalse}:                     `"false"`,
		{PartDescription, key(t, c, "down"), KeyTrue}:                      `"criteria": {"false"`,
	} {
		if at := c.At(f); at < 0 || !strings.HasPrefix(kitchen[at:], want) {
			t.Errorf("%s: got offset %d, want the one of %s", c.Path(f), at, want)
		}
	}
}
