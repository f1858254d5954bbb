package document

import (
	"clefbar/engine"
)

// Fix takes the way out that a problem or an advice offers, as one step of undo.
// It does nothing when the case has moved on.
func (c *Case) Fix(p Problem) {
	f := p.Field
	q, ok := c.Question(f.Question)
	if !ok && f.Part != PartState {
		return
	}
	switch p.Rule {
	case RuleEmptyID, RuleDuplicateID, RuleDuplicateName:
		c.fixName(p)
	case AdviceHostedID:
		c.renameQuestion(q, hostedName(q.ID))
	case RuleOtherForm:
		c.Convert(f.Question)
	case RuleUnknownSide:
		c.fixSide(q, f.Option)
	case RuleHalfCharacter:
		c.fixHalf(f)
	case RuleRequest:
		c.Unlock(f)
	case AdviceNoneOfThese:
		c.addNone(f.Question)
	}
}

func (c *Case) fixName(p Problem) {
	f := p.Field
	if p.Rule != RuleDuplicateName {
		q, _ := c.Question(f.Question)
		id := q.ID
		if id == "" {
			id = "question_1"
		}
		c.renameQuestion(q, id)
		return
	}
	c.editCriteria(tag{what: "rename"}, f.Question, func(_ engine.Kind, n *node, _ style) *node {
		i := n.byKey(f.Option)
		if i < 0 {
			return n
		}
		e := n.slots[i].entry
		e.rename(freeCopy(n, e.id))
		return n.setEntry(i, e)
	})
}

// renameQuestion gives a question the id, or the next free one like it.
func (c *Case) renameQuestion(q *Question, id string) {
	list := c.now.root.get("questions")
	if i := list.find(id); i >= 0 && (list.slots[i].key != q.Key || id == q.ID) {
		id = freeCopy(list, id)
	}
	c.editQuestion(tag{what: "rename"}, q.Key, func(_ *snapshot, e *entry) bool { return e.rename(id) })
}

func (c *Case) fixSide(q *Question, k Key) {
	o, ok := q.Option(k)
	if !ok {
		return
	}
	side := sideFor(q, o.Name)
	c.editCriteria(tag{what: "fix side"}, q.Key, func(_ engine.Kind, n *node, _ style) *node {
		i := n.byKey(k)
		switch {
		case i < 0:
			return n
		case side == 0:
			return n.remove(i)
		}
		e := n.slots[i].entry
		e.rename(sideName(side))
		return n.setEntry(i, e)
	})
}

// fixHalf spells the text of a field again, with U+FFFD for the broken half.
func (c *Case) fixHalf(f Field) {
	t := tag{what: "fix half"}
	switch f.Part {
	case PartState:
		c.change(t, func(s *snapshot) { c.setTop(s, "state", mended(s.root.get("state"))) })
	case PartID, PartInstructions:
		c.editQuestion(t, f.Question, func(s *snapshot, e *entry) bool {
			if f.Part == PartID {
				return e.rename(e.id)
			}
			e.value = e.value.setMember("instructions", mended(e.value.get("instructions")), 0, questionStyle(s.root))
			return true
		})
	case PartName, PartDescription:
		c.editCriteria(t, f.Question, func(_ engine.Kind, n *node, _ style) *node {
			i := n.byKey(f.Option)
			if f.Option == KeyTrue || f.Option == KeyFalse {
				i = n.find(sideName(f.Option))
			}
			if i < 0 {
				return n
			}
			e := n.slots[i].entry
			if f.Part == PartName {
				e.rename(e.id)
			}
			e.value = mended(e.value)
			return n.setEntry(i, e)
		})
	}
}

// mended returns n with every lone surrogate spelled as U+FFFD and the rest as it
// was.
func mended(n *node) *node {
	if !hasLone(n) {
		return n
	}
	if n.typ == engine.String {
		return stringNode(n.str())
	}
	d := *n
	d.slots = append([]slot(nil), n.slots...)
	for i := range d.slots {
		d.slots[i].rename(d.slots[i].id)
		d.slots[i].value = mended(d.slots[i].value)
	}
	return &d
}

func (c *Case) addNone(q Key) {
	c.editCriteria(tag{what: "add none"}, q, func(kind engine.Kind, n *node, st style) *node {
		n, ok := rows(kind, n)
		if !ok {
			return n
		}
		id := "none"
		if n.find(id) >= 0 {
			id = freeCopy(n, id)
		}
		return n.insert(len(n.slots), entry{key: c.nextKey(), id: id, value: stringNode("None of these"), at: -1}, st)
	})
}
