package document

import (
	"fmt"
	"regexp"
	"slices"

	"clefbar/engine"
)

// Problems returns what keeps the case from being decided, in form order. The
// slice must not be changed.
func (c *Case) Problems() []Problem {
	v := c.read()
	if !v.checked {
		v.checked = true
		v.request, v.problems = c.check()
		for i := range v.problems {
			v.problems[i].Blocks = true
		}
		c.sortByForm(v.problems)
	}
	return v.problems
}

// Request returns the request as the engine takes it, or the problems that keep it
// from being one. The caller must not change it. It is what [Case.JSON] parses to.
func (c *Case) Request() (*engine.Request, []Problem) {
	if p := c.Problems(); len(p) > 0 {
		return nil, p
	}
	return c.read().request, nil
}

// check runs the rules that have words of their own, then the parser of the
// contract for all the others.
func (c *Case) check() (*engine.Request, []Problem) {
	found := c.stateProblems()
	found = append(found, c.imageProblems()...)
	qs := c.Questions()
	if len(qs) == 0 {
		found = append(found, Problem{Rule: RuleNoQuestion, Field: Field{Part: PartQuestions}, Sentence: "There is nothing to decide yet: add a question."})
	}
	found = append(found, duplicateIDs(qs)...)
	for i := range qs {
		found = append(found, c.questionProblems(&qs[i])...)
	}
	r, rest := c.parsed()
	for _, p := range rest {
		if !slices.ContainsFunc(found, func(q Problem) bool { return q.covers(p.Field) }) {
			found = append(found, p)
		}
	}
	if len(found) > 0 {
		return nil, found
	}
	return r, nil
}

// covers reports that p already speaks of what f is about.
func (p Problem) covers(f Field) bool {
	same := func(g Field) bool {
		return g == f || f.Question != 0 && g.Question == f.Question && g.Option == f.Option
	}
	return same(p.Field) || slices.ContainsFunc(p.Also, same) || p.Rule == RuleNoQuestion && f.Part == PartQuestions
}

func (c *Case) stateProblems() []Problem {
	n := c.now.root.get("state")
	f := Field{Part: PartState}
	switch {
	case n == nil || n.typ < engine.String:
		return []Problem{{Rule: RuleState, Field: f, Sentence: "The state has to be text, an object or a list."}}
	case hasLone(n):
		return []Problem{{Rule: RuleHalfCharacter, Field: f, Sentence: halfCharacter, Fix: fixHalf}}
	}
	return nil
}

const (
	halfCharacter = "This text holds half of a character and cannot be sent as it is."
	fixHalf       = "Replace it with �"
)

// hasLone reports a lone surrogate anywhere in n.
func hasLone(n *node) bool {
	if n == nil {
		return false
	}
	return n.lone || slices.ContainsFunc(n.slots, func(s slot) bool { return s.lone || hasLone(s.value) })
}

func (c *Case) imageProblems() []Problem {
	limits := engine.DefaultLimits()
	images := c.Images()
	var found []Problem
	total := 0
	for _, im := range images {
		if total += len(im.Data); im.Err != nil {
			found = append(found, Problem{Rule: RuleImage, Field: Field{Part: PartImages, Option: im.Key}, Sentence: im.Name + ": " + im.Err.Error() + "."})
		}
	}
	all := Field{Part: PartImages}
	if len(images) > limits.Images {
		found = append(found, Problem{Rule: RuleTooMany, Field: all, Sentence: fmt.Sprintf("At most %d images are read; these are %d.", limits.Images, len(images))})
	} else if total > limits.ImagesBytes {
		found = append(found, Problem{Rule: RuleTooMany, Field: all, Sentence: fmt.Sprintf("All images together may have %d MB; these have %.1f.", limits.ImagesBytes>>20, float64(total)/(1<<20))})
	}
	return found
}

func duplicateIDs(qs []Question) []Problem {
	var found []Problem
	for id, twins := range sameText(qs, func(q Question) string { return q.ID }) {
		p := Problem{Rule: RuleDuplicateID, Sentence: fmt.Sprintf("“%s” names %s questions. Answers come back by id, so each needs its own.", id, number(len(twins))), Fix: "Rename it"}
		for _, i := range twins {
			p.Also = append(p.Also, Field{Part: PartID, Question: qs[i].Key})
		}
		p.Field, p.Also = p.Also[len(p.Also)-1], p.Also[:len(p.Also)-1]
		found = append(found, p)
	}
	return found
}

// number writes small numbers as words.
func number(n int) string {
	if words := []string{"no", "one", "two", "three", "four", "five", "six"}; n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// newID is the id of a question that nobody has named.
var newID = regexp.MustCompile(`^question_\d+$`)

func (c *Case) questionProblems(q *Question) []Problem {
	var found []Problem
	add := func(r Rule, part Part, sentence, fix string) {
		found = append(found, Problem{Rule: r, Field: Field{Part: part, Question: q.Key}, Sentence: sentence, Fix: fix})
	}
	asked := q.Asked()
	switch {
	case q.ID == "":
		add(RuleEmptyID, PartID, "This question needs an id: its answer comes back under it.", "Name it")
	case newID.MatchString(q.ID) && q.Instructions.Empty():
		add(RuleEmptyQuestion, PartInstructions, "Nothing is asked here yet: the model would read only “"+q.ID+"”.", "")
	}
	rows, most := "option", engine.DefaultLimits().Options
	if q.Kind == engine.Score {
		rows, most = "level", engine.DefaultLimits().Levels
	}
	switch {
	case q.OtherForm && q.Kind == engine.Choice:
		add(RuleOtherForm, PartOptions, "These options are a list. Clef takes names, each with a description or none.", "Make them options")
	case q.OtherForm:
		add(RuleOtherForm, PartOptions, "These levels are an object. Clef takes a list, lowest first.", "Make them levels")
	case q.Kind != engine.Noul && len(asked) == 0:
		add(RuleNoOptions, PartOptions, "Add at least one "+rows+".", "")
	case q.Kind != engine.Noul && len(asked) > most:
		add(RuleTooMany, PartOptions, fmt.Sprintf("At most %d %ss are allowed; these are %d.", most, rows, len(asked)), "")
	}
	if q.Kind == engine.Choice && !q.OtherForm {
		found = append(found, duplicateNames(q, asked)...)
	}
	if q.Kind == engine.Noul {
		found = append(found, unknownSides(q)...)
	}
	return append(found, c.halves(q)...)
}

// Empty reports that there is no text: the value is missing, null or "".
func (t Text) Empty() bool { return t.Type <= engine.Null || t.Type == engine.String && t.Text == "" }

func duplicateNames(q *Question, asked []Option) []Problem {
	var found []Problem
	for name, twins := range sameText(asked, func(o Option) string { return o.Name }) {
		p := Problem{Rule: RuleDuplicateName, Sentence: fmt.Sprintf("“%s” names %s options. Only one of them could be answered.", name, number(len(twins))), Fix: "Rename it"}
		for _, i := range twins {
			p.Also = append(p.Also, Field{PartName, q.Key, asked[i].Key})
		}
		p.Field, p.Also = p.Also[len(p.Also)-1], p.Also[:len(p.Also)-1]
		found = append(found, p)
	}
	return found
}

// sameText groups the indexes of items that share a text; only groups of two or
// more are left.
func sameText[T any](items []T, text func(T) string) map[string][]int {
	groups := map[string][]int{}
	for i, item := range items {
		groups[text(item)] = append(groups[text(item)], i)
	}
	for name, twins := range groups {
		if len(twins) < 2 {
			delete(groups, name)
		}
	}
	return groups
}

func unknownSides(q *Question) []Problem {
	var found []Problem
	for _, o := range q.Options {
		if o.Key == KeyTrue || o.Key == KeyFalse {
			continue
		}
		fix := "Take it out"
		if side := sideFor(q, o.Name); side != 0 {
			fix = "Call it “" + sideName(side) + "”"
		}
		found = append(found, Problem{
			Rule: RuleUnknownSide, Field: Field{PartName, q.Key, o.Key}, Fix: fix,
			Sentence: "A yes-or-no question has the sides “true” and “false”; “" + o.Name + "” is neither.",
		})
	}
	return found
}

// sideFor returns the free side that a name like "yes" means, 0 for none.
func sideFor(q *Question, name string) Key {
	words := map[string]Key{"yes": KeyTrue, "y": KeyTrue, "1": KeyTrue, "no": KeyFalse, "n": KeyFalse, "0": KeyFalse}
	side := words[lower(name)]
	if side == 0 && (lower(name) == "true" || lower(name) == "false") {
		side = map[string]Key{"true": KeyTrue, "false": KeyFalse}[lower(name)]
	}
	if o, ok := q.Option(side); ok && o.Description.Type == engine.Missing {
		return side
	}
	return 0
}

// halves finds lone surrogates in what the form shows of a question.
func (c *Case) halves(q *Question) []Problem {
	e := c.entryOf(q.Key)
	if e == nil {
		return nil
	}
	var found []Problem
	add := func(part Part, option Key) {
		found = append(found, Problem{Rule: RuleHalfCharacter, Field: Field{part, q.Key, option}, Sentence: halfCharacter, Fix: fixHalf})
	}
	if e.lone {
		add(PartID, 0)
	}
	if hasLone(e.value.get("instructions")) {
		add(PartInstructions, 0)
	}
	criteria := e.value.get("criteria")
	if criteria == nil {
		return found
	}
	for i := range criteria.slots {
		s := &criteria.slots[i]
		key := s.key
		if q.Kind == engine.Noul && (s.id == "true" || s.id == "false") {
			key = KeyTrue
			if s.id == "false" {
				key = KeyFalse
			}
		}
		switch {
		case s.lone:
			add(PartName, key)
		case hasLone(s.value):
			add(PartDescription, key)
		}
	}
	return found
}

// entryOf returns the entry of a question, nil when there is none.
func (c *Case) entryOf(k Key) *entry {
	list := c.now.root.get("questions")
	if i := list.byKey(k); i >= 0 {
		return &list.slots[i].entry
	}
	return nil
}

// sortByForm puts problems in the order in which a person meets their rows.
func (c *Case) sortByForm(found []Problem) {
	rank := map[Key]int{}
	for i, q := range c.Questions() {
		rank[q.Key] = (i + 1) << 12
		for j, o := range q.Options {
			if o.Key >= firstKey {
				rank[o.Key] = j + 1
			}
		}
	}
	place := func(f Field) int {
		if f.Question == 0 {
			return int(f.Part)
		}
		return rank[f.Question] + rank[f.Option]
	}
	slices.SortStableFunc(found, func(a, b Problem) int {
		if d := place(a.Field) - place(b.Field); d != 0 {
			return d
		}
		return int(a.Field.Part) - int(b.Field.Part)
	})
}
