package document

import (
	"testing"

	"clefbar/assets/samples"
	"clefbar/engine"
)

func TestSamplesOpenAndAskSomething(t *testing.T) {
	all := samples.All()
	if len(all) != 12 {
		t.Errorf("got %d samples, want 12", len(all))
	}
	titles := map[string]bool{}
	for _, s := range all {
		c, err := FromSample(s.Title, s.Request)
		if err != nil {
			t.Errorf("%s: %v", s.Title, err)
			continue
		}
		r, problems := c.Request()
		if len(problems) > 0 || s.Subtitle == "" || titles[s.Title] || string(c.JSON()) != string(s.Request) {
			t.Errorf("%s: problems %+v, subtitle %q", s.Title, problems, s.Subtitle)
			continue
		}
		titles[s.Title] = true
		for _, a := range c.Advice() {
			if a.Rule != AdviceNoneOfThese {
				t.Errorf("%s: the builder would advise: %s", s.Title, a.Sentence)
			}
		}
		if len(s.Expect) != len(r.Questions) {
			t.Errorf("%s: %d answers to %d questions", s.Title, len(s.Expect), len(r.Questions))
		}
		for _, q := range r.Questions {
			if !expected(q, s.Expect[q.ID]) {
				t.Errorf("%s: %v is no answer to %s", s.Title, s.Expect[q.ID], q.ID)
			}
		}
	}
}

// expected reports that v is a possible answer.
func expected(q engine.Question, v any) bool {
	switch v := v.(type) {
	case bool:
		return q.Kind == engine.Noul
	case float64:
		return q.Kind == engine.Score && v == float64(int(v)) && v >= 0 && int(v) < len(q.Options)
	case string:
		for _, o := range q.Options {
			if o.Name == v {
				return q.Kind == engine.Choice
			}
		}
	}
	return false
}

func TestSampleIsNotEdited(t *testing.T) {
	c, err := FromSample("Ticket", []byte(kitchen))
	if err != nil || c.Title() != "Ticket" || c.Edited() || c.CanUndo() {
		t.Fatalf("got %v, title %q, edited %v", err, c.Title(), c.Edited())
	}
}
