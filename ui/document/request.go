package document

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"clefbar/engine"
)

// parsed runs the parser of the contract over the case. Pictures and a typed state
// are put in afterwards: they are large, checked on their own, and must not cost
// time on every key.
func (c *Case) parsed() (*engine.Request, []Problem) {
	root := c.now.root
	st := styleOf(root)
	if n := root.get("images"); n != nil && n.typ == engine.Array {
		root = root.setMember("images", nil, 0, st)
	}
	state := root.get("state")
	typed := state != nil && state.typ == engine.String && !state.lone
	if typed {
		root = root.setMember("state", stringNode(""), 0, st)
	}
	r, err := engine.ParseRequest(appendNode(nil, root), engine.Limits{})
	if err != nil {
		return nil, c.fromError(err)
	}
	if typed {
		r.State = engine.Text(strings.ToValidUTF8(state.str(), "\ufffd"))
	}
	images := c.Images()
	for i := len(images) - 1; i >= 0; i-- {
		r.Images = slices.Insert(r.Images, 0, engine.Image{Data: images[i].Data})
	}
	return r, nil
}

// fromError turns the parser's details into problems with fields.
func (c *Case) fromError(err error) []Problem {
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || len(e.Details) == 0 {
		return []Problem{{Rule: RuleRequest, Field: Field{Part: PartCase}, Sentence: sentence(err.Error())}}
	}
	found := make([]Problem, len(e.Details))
	for i, d := range e.Details {
		f := c.FieldAt(d.Loc)
		found[i] = Problem{Rule: RuleRequest, Field: f, Sentence: sentence(d.Msg)}
		switch f.Part {
		case PartCase, PartQuestions:
			found[i].Sentence = sentence(d.Path() + ": " + d.Msg)
			if d.Type == "too_long" {
				found[i].Rule = RuleTooMany
			}
		case PartInstructions, PartDescription:
			if c.locked(f) {
				found[i].Fix = "Make it text"
			}
		}
	}
	return found
}

func (c *Case) locked(f Field) bool {
	q, ok := c.Question(f.Question)
	if !ok {
		return false
	}
	if f.Part == PartInstructions {
		return q.Instructions.Locked()
	}
	o, ok := q.Option(f.Option)
	return ok && o.Description.Locked()
}

func sentence(s string) string { return strings.TrimRight(s, ".") + "." }

// FieldAt returns the field that an error's location names: the path of an
// [engine.Detail], with or without the kind in it.
func (c *Case) FieldAt(loc []any) Field {
	if len(loc) > 0 && loc[0] == "body" {
		loc = loc[1:]
	}
	if len(loc) == 0 {
		return Field{}
	}
	switch loc[0] {
	case "state":
		return Field{Part: PartState}
	case "images":
		f := Field{Part: PartImages}
		if images := c.Images(); len(loc) > 1 {
			if i := itemNumber(loc[1]); i >= 0 && i < len(images) {
				f.Option = images[i].Key
			}
		}
		return f
	case "questions":
		return c.questionField(loc[1:])
	}
	return Field{}
}

func (c *Case) questionField(loc []any) Field {
	if len(loc) == 0 {
		return Field{Part: PartQuestions}
	}
	qs := c.Questions()
	i := slices.IndexFunc(qs, func(q Question) bool { return q.ID == loc[0] })
	if id, ok := loc[0].(string); ok && i < 0 {
		// The parser clips an id that is too long.
		start := strings.TrimSuffix(id, "…")
		i = slices.IndexFunc(qs, func(q Question) bool { return strings.HasPrefix(q.ID, start) && start != id })
	}
	if i < 0 {
		return Field{Part: PartQuestions}
	}
	q := &qs[i]
	f := Field{Part: PartQuestion, Question: q.Key}
	loc = loc[1:]
	if len(loc) > 0 && loc[0] == q.Kind.String() {
		loc = loc[1:]
	}
	if len(loc) == 0 {
		return f
	}
	switch loc[0] {
	case "type":
		f.Part = PartKind
	case "instructions":
		f.Part = PartInstructions
	case "criteria":
		f.Part = PartOptions
		if len(loc) > 1 {
			f.Part, f.Option = PartDescription, q.optionNamed(loc[1])
		}
	}
	return f
}

// optionNamed returns the key of the row that a path element names.
func (q *Question) optionNamed(v any) Key {
	for i, o := range q.Asked() {
		if q.Kind == engine.Score && i == itemNumber(v) || q.Kind != engine.Score && o.Name == v {
			return o.Key
		}
	}
	return 0
}

// itemNumber returns the index that a path element names, or -1.
func itemNumber(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case string:
		if i, err := strconv.Atoi(v); err == nil {
			return i
		}
	}
	return -1
}
