package document

import (
	"slices"

	"clefbar/engine"
)

// AddOption adds an empty row at index at (past the end: at the end) of a choice
// or a score and returns its key; a noul has its two sides and takes none. The row
// is not part of the request until something is typed in it.
func (c *Case) AddOption(q Key, at int) Key {
	k := Key(0)
	c.editCriteria(tag{what: "add option"}, q, func(kind engine.Kind, n *node, st style) *node {
		n, ok := rows(kind, n)
		if !ok {
			return n
		}
		k = c.nextKey()
		return n.insert(max(0, min(at, len(n.slots))), blankRow(kind, k), st)
	})
	return k
}

// rows returns the container that takes new rows of this kind. Criteria that are
// missing or of no use start a new one; ok is false where rows cannot be added.
func rows(kind engine.Kind, n *node) (list *node, ok bool) {
	want := engine.Object
	if kind == engine.Score {
		want = engine.Array
	}
	switch {
	case kind == engine.Noul:
		return n, false
	case n == nil || n.typ == engine.Null:
		return emptyNode(want), true
	}
	return n, n.typ == want
}

func blankRow(kind engine.Kind, k Key) entry {
	if kind == engine.Score {
		return entry{key: k, value: stringNode(""), at: -1, blank: true}
	}
	return entry{key: k, value: nullNode(), at: -1, blank: true}
}

// RemoveOption takes a row out. The sides of a noul lose their text instead.
func (c *Case) RemoveOption(q, k Key) {
	if k == KeyTrue || k == KeyFalse {
		c.removeSide(q, sideName(k))
		return
	}
	c.editCriteria(tag{what: "remove option"}, q, func(_ engine.Kind, n *node, _ style) *node {
		if i := n.byKey(k); i >= 0 {
			return n.remove(i)
		}
		return n
	})
}

// MoveOption moves a row to index to.
func (c *Case) MoveOption(q, k Key, to int) {
	c.editCriteria(tag{what: "move option"}, q, func(_ engine.Kind, n *node, _ style) *node {
		if n == nil {
			return n
		}
		return moved(n, k, to)
	})
}

// DuplicateOption puts a copy below the row and returns its key, 0 when there is
// no such row. The copy of an option gets a free name.
func (c *Case) DuplicateOption(q, k Key) Key {
	added := Key(0)
	c.editCriteria(tag{what: "duplicate option"}, q, func(kind engine.Kind, n *node, st style) *node {
		i := n.byKey(k)
		if i < 0 || kind == engine.Noul {
			return n
		}
		added = c.nextKey()
		e := n.slots[i].entry
		e.key, e.name, e.at, e.lone = added, "", -1, false
		if n.typ == engine.Object && !e.blank {
			e.id = freeCopy(n, e.id)
		}
		return n.insert(i+1, e, st)
	})
	return added
}

// SetName renames an option of a choice, or a side of a noul that is neither true
// nor false.
func (c *Case) SetName(q, k Key, name string) {
	c.editOption(tag{"name", Field{PartName, q, k}}, q, k, func(e *entry) bool {
		if !e.rename(name) {
			return false
		}
		e.blank = e.blank && name == ""
		return true
	})
}

// SetDescription sets the text beside an option, the text of a level, or what a
// side of a noul means. An emptied description of an option becomes null: no
// description. A structured one stays as it is.
func (c *Case) SetDescription(q, k Key, text string) {
	quest, ok := c.Question(q)
	if !ok || quest.OtherForm {
		return
	}
	o, ok := quest.Option(k)
	if !ok || o.Description.Locked() || o.Description.Type == engine.String && o.Description.Text == text || o.Description.Type != engine.String && text == "" {
		return
	}
	if text == "" && (k == KeyTrue || k == KeyFalse) {
		c.removeSide(q, sideName(k))
		return
	}
	c.setDescription(tag{"description", Field{PartDescription, q, k}}, q, k, text)
}

func (c *Case) setDescription(t tag, q, k Key, text string) {
	if k == KeyTrue || k == KeyFalse {
		c.setSide(t, q, k, text)
		return
	}
	quest, _ := c.Question(q)
	c.editOption(t, q, k, func(e *entry) bool {
		e.value = stringNode(text)
		if text == "" && quest.Kind != engine.Score {
			e.value = nullNode()
		}
		e.blank = e.blank && text == ""
		return true
	})
}

func (c *Case) editOption(t tag, q, k Key, f func(e *entry) bool) {
	c.editCriteria(t, q, func(_ engine.Kind, n *node, _ style) *node {
		i := n.byKey(k)
		if i < 0 {
			return n
		}
		e := n.slots[i].entry
		if !f(&e) {
			return n
		}
		return n.setEntry(i, e)
	})
}

func sideName(k Key) string {
	if k == KeyTrue {
		return "true"
	}
	return "false"
}

// setSide writes one side of a noul, true before false.
func (c *Case) setSide(t tag, q, k Key, text string) {
	c.editCriteria(t, q, func(kind engine.Kind, n *node, st style) *node {
		if kind != engine.Noul {
			return n
		}
		if n == nil || n.typ != engine.Object {
			n = emptyNode(engine.Object)
		}
		if i := n.find(sideName(k)); i >= 0 {
			return n.set(i, stringNode(text))
		}
		at := len(n.slots)
		if k == KeyTrue {
			at = 0
		}
		return n.insert(at, entry{key: c.nextKey(), id: sideName(k), value: stringNode(text), at: -1}, st)
	})
}

func (c *Case) removeSide(q Key, name string) {
	t := tag{what: "side"}
	c.editCriteria(t, q, func(kind engine.Kind, n *node, _ style) *node {
		i := n.find(name)
		if i < 0 || kind != engine.Noul {
			return n
		}
		n = n.remove(i)
		if len(n.slots) == 0 {
			return nil
		}
		return n
	})
}

// optionAt returns the index of a row, -1 when it is not there.
func optionAt(q *Question, k Key) int {
	return slices.IndexFunc(q.Options, func(o Option) bool { return o.Key == k })
}
