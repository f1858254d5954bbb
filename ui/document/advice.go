package document

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"clefbar/engine"
)

// Advice returns what a careful colleague would say, in form order. None of it is
// in the way, and what was waved away does not come back. The slice must not be
// changed.
func (c *Case) Advice() []Problem {
	v := c.read()
	if v.advised {
		return v.advice
	}
	v.advised = true
	qs := c.Questions()
	for i := range qs {
		v.advice = append(v.advice, adviceOn(&qs[i])...)
	}
	v.advice = slices.DeleteFunc(v.advice, func(p Problem) bool { return c.now.dismissed[Advised{p.Rule, p.Field}] })
	c.sortByForm(v.advice)
	return v.advice
}

// hostedID is what hosted services take as an id (endpoint.md 3.6).
var hostedID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)

func adviceOn(q *Question) []Problem {
	var found []Problem
	add := func(r Rule, f Field, fix, format string, args ...any) {
		f.Question = q.Key
		found = append(found, Problem{Rule: r, Field: f, Fix: fix, Sentence: fmt.Sprintf(format, args...)})
	}
	if q.ID != "" && !hostedID.MatchString(q.ID) {
		add(AdviceHostedID, Field{Part: PartID}, "Make it “"+hostedName(q.ID)+"”",
			"Hosted services refuse this id: they take letters, digits, _ . - and at most 100 of them. Here it works.")
	}
	text := q.Instructions.Text
	if q.Instructions.Empty() {
		text = q.ID
	}
	switch {
	case q.Instructions.Locked():
	case counting.MatchString(text) && q.Kind == engine.Noul:
		add(AdviceCounting, Field{Part: PartInstructions}, "", "This asks for a number, and the answer can only be yes or no.")
	case openQuestion.MatchString(text) && !strings.Contains(text, ",") && q.Kind == engine.Noul:
		add(AdviceOpenQuestion, Field{Part: PartInstructions}, "", "This cannot be answered with yes or no. Pick one may be the better kind.")
	}
	if q.Kind == engine.Noul || q.OtherForm {
		return found
	}
	asked := q.Asked()
	if len(asked) == 1 {
		add(AdviceOneOption, Field{Part: PartOptions}, "", "One answer decides nothing: its probability is always 1.")
	}
	if q.Kind == engine.Choice && len(asked) > 1 && !canSayNone(asked) {
		add(AdviceNoneOfThese, Field{Part: PartOptions}, "Add it", "The model must pick one of these, even if none fits. Add “none of these”?")
	}
	return append(found, adviceOnRows(q, asked)...)
}

func adviceOnRows(q *Question, asked []Option) []Problem {
	var found []Problem
	said := map[Text]Option{}
	for _, o := range asked {
		if q.Kind == engine.Choice && o.Name == "" {
			found = append(found, Problem{Rule: AdviceNoName, Field: Field{PartName, q.Key, o.Key}, Sentence: "This option has no name; its answer comes back under an empty one."})
		}
		if o.Description.Empty() {
			continue
		}
		words := Text{o.Description.Type, lower(o.Description.Text)}
		twin, again := said[words]
		if !again {
			said[words] = o
			continue
		}
		found = append(found, Problem{
			Rule: AdviceSameDescription, Field: Field{PartDescription, q.Key, o.Key}, Also: []Field{{PartDescription, q.Key, twin.Key}},
			Sentence: fmt.Sprintf("“%s” and “%s” say the same. The probability may split between them.", label(q, twin), label(q, o)),
		})
	}
	return found
}

func label(q *Question, o Option) string {
	if q.Kind == engine.Score {
		return "Level " + o.Name
	}
	return o.Name
}

// lower is a text without what two people would write differently.
func lower(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

var (
	counting     = regexp.MustCompile(`(?i)^\W*(how (many|much|often|long|old|far|tall|big|late)\b|count (the|all|how)\b|what('s| is| was) the (number|amount|count|total|sum)\b|what number\b|number of\b)`)
	openQuestion = regexp.MustCompile(`(?i)^\W*(who|whom|whose|what|which|where|why|when|how)\b[^?]*\?\W*$`)
	// saysNone finds a way out among names and descriptions.
	saysNone = regexp.MustCompile(`(?i)\b(none|neither|nothing|no[ _-]?(match|one|label|category|intent|action|tool|answer)|others?|else|elsewhere|misc|miscellaneous|unknown|unclear|unsure|undecided|not sure|uncertain|general|default|fallback|n/?a|not applicable|irrelevant|off[ _-]?topic|out[ _-]?of[ _-]?scope|undetermined|cannot (say|tell)|ask|clarify|escalate|human)\b`)
	// complete are names that leave no room for a third thing.
	complete = regexp.MustCompile(`(?i)^(yes|no|true|false|on|off|maybe|approve|approved|deny|denied|allow|allowed|block|blocked|accept|reject|refuse|pass|fail|keep|drop|review|hold|warn|confirm|positive|negative|neutral|mixed|low|medium|high|critical|normal|none|minor|major|spam|ham|not_spam|safe|unsafe|valid|invalid|ok|bad|good|run|stop|hot|warm|cold|small|large|easy|hard|simple|complex|left|right|up|down)$`)
)

// canSayNone reports that an option can be picked when no other fits, or that the
// options leave no gap.
func canSayNone(asked []Option) bool {
	gap := false
	for _, o := range asked {
		words := strings.NewReplacer("_", " ", "-", " ").Replace(o.Name)
		if saysNone.MatchString(words) || !o.Description.Locked() && saysNone.MatchString(firstWords(o.Description.Text)) {
			return true
		}
		gap = gap || !complete.MatchString(o.Name)
	}
	return !gap
}

// firstWords is the part of a description in which it says what it is.
func firstWords(s string) string {
	words := strings.Fields(s)
	return strings.Join(words[:min(3, len(words))], " ")
}

// hostedName makes an id that hosted services take out of any id.
func hostedName(id string) string {
	b := make([]byte, 0, len(id))
	for _, r := range id {
		if r < 128 && hostedID.MatchString(string(r)) {
			b = append(b, byte(r))
		} else if len(b) > 0 && b[len(b)-1] != '_' {
			b = append(b, '_')
		}
	}
	s := strings.Trim(string(b[:min(len(b), 100)]), "_")
	if s == "" {
		return "question"
	}
	return s
}
