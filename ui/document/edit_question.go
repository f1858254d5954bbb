package document

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"clefbar/engine"
)

// AddQuestion adds an empty question at index at (past the end: at the end) under
// a free id and returns its key.
func (c *Case) AddQuestion(at int, kind engine.Kind) Key {
	k := c.nextKey()
	c.changeQuestions(tag{what: "add question"}, func(s *snapshot, list *node) *node {
		st := questionStyle(s.root)
		q := emptyNode(engine.Object)
		q = q.setMember("type", stringNode(kind.String()), c.nextKey(), st)
		q = q.setMember("instructions", stringNode(""), c.nextKey(), st)
		q = q.setMember("criteria", emptyCriteria(kind), c.nextKey(), st)
		e := entry{key: k, id: freeID(list, "question_%d"), value: q, at: -1}
		return list.insert(max(0, min(at, len(list.slots))), e, styleOf(s.root).deeper())
	})
	return k
}

func emptyCriteria(kind engine.Kind) *node {
	switch kind {
	case engine.Choice:
		return emptyNode(engine.Object)
	case engine.Score:
		return emptyNode(engine.Array)
	}
	return nil
}

// freeID returns the first id of the pattern that the container does not use.
func freeID(n *node, pattern string) string {
	used := map[string]bool{}
	for i := range n.slots {
		used[n.slots[i].id] = true
	}
	for i := 1; ; i++ {
		if id := fmt.Sprintf(pattern, i); !used[id] {
			return id
		}
	}
}

// RemoveQuestion takes a question out.
func (c *Case) RemoveQuestion(k Key) {
	c.changeQuestions(tag{what: "remove question"}, func(_ *snapshot, list *node) *node {
		if i := list.byKey(k); i >= 0 {
			return list.remove(i)
		}
		return list
	})
}

// MoveQuestion moves a question to index to.
func (c *Case) MoveQuestion(k Key, to int) {
	c.changeQuestions(tag{what: "move question"}, func(_ *snapshot, list *node) *node { return moved(list, k, to) })
}

func moved(n *node, k Key, to int) *node {
	i := n.byKey(k)
	if i < 0 {
		return n
	}
	to = max(0, min(to, len(n.slots)-1))
	if i == to {
		return n
	}
	return n.move(i, to)
}

// DuplicateQuestion puts a copy below the question, under a free id, and returns
// its key, 0 when there is no such question.
func (c *Case) DuplicateQuestion(k Key) Key {
	added := Key(0)
	c.changeQuestions(tag{what: "duplicate question"}, func(s *snapshot, list *node) *node {
		i := list.byKey(k)
		if i < 0 {
			return list
		}
		added = c.nextKey()
		e := list.slots[i].entry
		e.key, e.name, e.at, e.lone = added, "", -1, false
		e.id = freeCopy(list, e.id)
		e.value = c.rekeyed(e.value)
		if kept, ok := s.kept[k]; ok {
			s.kept = maps.Clone(s.kept)
			for j := range kept {
				kept[j] = c.rekeyed(kept[j])
			}
			s.kept[added] = kept
		}
		return list.insert(i+1, e, styleOf(s.root).deeper())
	})
	return added
}

// freeCopy returns id_2, id_3, … whichever is free.
func freeCopy(n *node, id string) string {
	for i := 2; ; i++ {
		if free := id + "_" + strconv.Itoa(i); n.find(free) < 0 {
			return free
		}
	}
}

// rekeyed returns a deep copy of n with new keys, spelled as the original.
func (c *Case) rekeyed(n *node) *node {
	if n == nil || len(n.slots) == 0 {
		return n
	}
	d := *n
	d.slots = slices.Clone(n.slots)
	for i := range d.slots {
		d.slots[i].key = c.nextKey()
		d.slots[i].value = c.rekeyed(d.slots[i].value)
	}
	return &d
}

// SetID renames a question.
func (c *Case) SetID(k Key, id string) {
	c.editQuestion(tag{"id", Field{Part: PartID, Question: k}}, k, func(_ *snapshot, e *entry) bool { return e.rename(id) })
}

func (e *entry) rename(id string) bool {
	if e.id == id && !e.lone {
		return false
	}
	e.id, e.name, e.lone = id, "", false
	return true
}

// SetInstructions sets the question's text. A structured one stays as it is.
func (c *Case) SetInstructions(k Key, text string) {
	q, ok := c.Question(k)
	if !ok || q.Instructions.Locked() || q.Instructions.Type == engine.String && q.Instructions.Text == text || q.Instructions.Type != engine.String && text == "" {
		return
	}
	c.setInstructions(tag{"instructions", Field{Part: PartInstructions, Question: k}}, k, text)
}

func (c *Case) setInstructions(t tag, k Key, text string) {
	c.editQuestion(t, k, func(s *snapshot, e *entry) bool {
		e.value = e.value.setMember("instructions", stringNode(text), c.nextKey(), questionStyle(s.root))
		return true
	})
}

// SetKind changes the kind of a question. What was typed for the old kind is kept
// and comes back with it; a kind that was never typed starts from the rows of the
// old one.
func (c *Case) SetKind(k Key, kind engine.Kind) {
	c.editQuestion(tag{what: "kind"}, k, func(s *snapshot, e *entry) bool {
		old := kindOf(e.value)
		if old == kind {
			return false
		}
		st := questionStyle(s.root)
		criteria := e.value.get("criteria")
		kept := s.kept[k]
		fresh := kept[kind]
		if fresh == nil {
			fresh = c.seed(kind, old, criteria, st)
		}
		kept[old] = criteria
		s.kept = maps.Clone(s.kept)
		if s.kept == nil {
			s.kept = map[Key][3]*node{}
		}
		s.kept[k] = kept
		e.value = e.value.setMember("type", stringNode(kind.String()), c.nextKey(), st)
		e.value = e.value.setMember("criteria", fresh, c.nextKey(), st)
		return true
	})
}

// seed makes the first rows of a kind from the rows of another.
func (c *Case) seed(kind, from engine.Kind, criteria *node, question style) *node {
	st := criteriaStyle(kind, question)
	switch {
	case kind == engine.Noul || from == engine.Noul || criteria == nil || len(criteria.slots) == 0:
		return emptyCriteria(kind)
	case kind == engine.Score:
		return c.spaced(mapToList(criteria), st)
	}
	return c.spaced(listToMap(criteria), st)
}

// spaced writes the rows of n anew, in the style given, under new keys.
func (c *Case) spaced(n *node, st style) *node {
	fresh := emptyNode(n.typ)
	for i := range n.slots {
		e := n.slots[i].entry
		e.key, e.colon = c.nextKey(), ""
		fresh = fresh.insert(i, e, st)
	}
	return fresh
}

// Convert rewrites criteria of the other form (see [Question.OtherForm]): a list
// becomes options, a map becomes levels.
func (c *Case) Convert(k Key) {
	c.editCriteria(tag{what: "convert"}, k, func(kind engine.Kind, n *node, st style) *node {
		switch {
		case n == nil:
			return n
		case kind == engine.Choice && n.typ == engine.Array:
			return c.spaced(listToMap(n), st)
		case kind == engine.Score && n.typ == engine.Object:
			return c.spaced(mapToList(n), st)
		}
		return n
	})
}

// changeQuestions commits a change of the list of questions; f returns the list
// it was given to change nothing.
func (c *Case) changeQuestions(t tag, f func(s *snapshot, list *node) *node) {
	next := *c.now
	list := next.root.get("questions")
	if list == nil || list.typ != engine.Object {
		list = emptyNode(engine.Object)
	}
	fresh := f(&next, list)
	if fresh == list {
		return
	}
	c.setTop(&next, "questions", fresh)
	next.rev = c.nextRev()
	c.commit(t, &next)
}
