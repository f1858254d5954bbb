package document

import "clefbar/engine"

// At returns the byte offset of a field in the text that the case was opened from,
// or -1 for what is not in it. Edits do not move offsets: ask a case that was just
// opened.
func (c *Case) At(f Field) int {
	root := c.now.root
	member := func(n *node, id string) int {
		if i := n.find(id); i >= 0 {
			return n.slots[i].at
		}
		return n.at
	}
	switch f.Part {
	case PartCase:
		return root.at
	case PartState:
		return member(root, "state")
	case PartImages:
		if list := root.get("images"); list.byKey(f.Option) >= 0 {
			return list.slots[list.byKey(f.Option)].at
		}
		return member(root, "images")
	case PartQuestions:
		return member(root, "questions")
	}
	e := c.entryOf(f.Question)
	if e == nil {
		return -1
	}
	switch f.Part {
	case PartKind:
		return member(e.value, "type")
	case PartInstructions:
		return member(e.value, "instructions")
	case PartOptions:
		return member(e.value, "criteria")
	case PartOption, PartName, PartDescription:
		return rowAt(e, f.Option, member(e.value, "criteria"))
	}
	return e.at
}

// rowAt returns the offset of a row, or otherwise.
func rowAt(question *entry, k Key, otherwise int) int {
	criteria := question.value.get("criteria")
	i := criteria.byKey(k)
	if k == KeyTrue || k == KeyFalse {
		i = criteria.find(sideName(k))
	}
	if i < 0 {
		return otherwise
	}
	return criteria.slots[i].at
}

// Structured is a value that the form shows and does not edit.
type Structured struct {
	Field    Field
	Name     string // "sales", "state", "instructions", "level 2"
	From, To int    // bytes of the value in the text the case was opened from
}

// Structured returns the structured texts of the case, in form order.
func (c *Case) Structured() []Structured {
	var list []Structured
	add := func(f Field, name string, n *node) {
		if readText(n).Locked() {
			list = append(list, Structured{f, name, n.at, n.at + len(appendNode(nil, n))})
		}
	}
	add(Field{Part: PartState}, "state", c.now.root.get("state"))
	for _, q := range c.Questions() {
		e := c.entryOf(q.Key)
		add(Field{Part: PartInstructions, Question: q.Key}, "instructions", e.value.get("instructions"))
		criteria := e.value.get("criteria")
		if q.OtherForm || criteria == nil {
			continue
		}
		for i := range criteria.slots {
			s := &criteria.slots[i]
			name := s.id
			if q.Kind == engine.Score && i < len(q.Options) {
				name = "level " + q.Options[i].Name
			}
			add(Field{PartDescription, q.Key, s.key}, name, s.value)
		}
	}
	return list
}

// Carried returns the names of the fields that the form does not show: those of
// the request, then those of its questions.
func (c *Case) Carried() []string {
	var names []string
	for _, s := range c.now.root.slots {
		switch s.id {
		case "model", "state", "questions", "images", "x_control", "x_truncate":
		default:
			names = append(names, s.id)
		}
	}
	for _, q := range c.Questions() {
		names = append(names, q.Extra...)
	}
	return names
}
