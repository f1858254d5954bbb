package document

import (
	"maps"

	"clefbar/engine"
)

// commit makes next the current snapshot and the old one a step of undo. Keys
// typed into one field within a moment are one step.
func (c *Case) commit(t tag, next *snapshot) {
	next.view = nil
	c.now.view = nil // 200 steps must not hold 200 copies of a long state
	moment := c.clock()
	run := t.field != Field{} && t == c.tag && moment.Sub(c.tagged) < typingRun && len(c.past) > 0 && len(c.future) == 0
	if !run {
		c.past = append(c.past, c.now)
		if len(c.past) > undoSteps {
			c.past = append([]*snapshot(nil), c.past[len(c.past)-undoSteps:]...)
		}
	}
	c.tag, c.tagged = t, moment
	c.future = nil
	c.now = next
	c.forgetPixels()
	c.notify()
}

func (c *Case) notify() {
	for _, f := range c.watch {
		f()
	}
}

// change commits a copy of the current snapshot that f has edited, under a new
// revision.
func (c *Case) change(t tag, f func(s *snapshot)) {
	next := *c.now
	f(&next)
	next.rev = c.nextRev()
	c.commit(t, &next)
}

// CanUndo reports whether Undo would do something.
func (c *Case) CanUndo() bool { return len(c.past) > 0 }

// CanRedo reports whether Redo would do something.
func (c *Case) CanRedo() bool { return len(c.future) > 0 }

// Undo takes back the last step and reports whether there was one.
func (c *Case) Undo() bool { return c.step(&c.past, &c.future) }

// Redo does again what Undo took back and reports whether there was something.
func (c *Case) Redo() bool { return c.step(&c.future, &c.past) }

func (c *Case) step(from, to *[]*snapshot) bool {
	last := len(*from) - 1
	if last < 0 {
		return false
	}
	c.now.view = nil
	*to = append(*to, c.now)
	c.now = (*from)[last]
	*from = (*from)[:last]
	c.tag = tag{}
	c.forgetPixels()
	c.notify()
	return true
}

// setTop sets, or with a nil value removes, a top-level member.
func (c *Case) setTop(s *snapshot, id string, v *node) {
	s.root = s.root.setMember(id, v, c.nextKey(), styleOf(s.root))
}

// questionStyle is the style of one question object of the document.
func questionStyle(root *node) style { return styleOf(root).deeper().deeper() }

// editQuestion commits a change of one question. f gets the snapshot, for its
// side tables, and the question's entry; it returns false to change nothing.
func (c *Case) editQuestion(t tag, k Key, f func(s *snapshot, e *entry) bool) {
	next := *c.now
	at := next.root.find("questions")
	if at < 0 {
		return
	}
	list := next.root.slots[at].value
	i := list.byKey(k)
	if i < 0 {
		return
	}
	e := list.slots[i].entry
	if !f(&next, &e) {
		return
	}
	next.root = next.root.set(at, list.setEntry(i, e))
	next.rev = c.nextRev()
	c.commit(t, &next)
}

// editCriteria commits a change of one question's criteria; f returns the new
// node, nil to remove it, or the node it was given to change nothing.
func (c *Case) editCriteria(t tag, k Key, f func(kind engine.Kind, n *node, st style) *node) {
	c.editQuestion(t, k, func(s *snapshot, e *entry) bool {
		st := questionStyle(s.root)
		old := e.value.get("criteria")
		n := f(kindOf(e.value), old, criteriaStyle(kindOf(e.value), st))
		if n == old {
			return false
		}
		e.value = e.value.setMember("criteria", n, c.nextKey(), st)
		return true
	})
}

// criteriaStyle puts the options of a choice on a line each and the short lists
// of the other kinds on one.
func criteriaStyle(kind engine.Kind, question style) style {
	st := question.deeper()
	st.inline = kind != engine.Choice
	return st
}

// Unlock turns a value that the form cannot edit into text: the JSON as it is
// written. Undo brings the structure back.
func (c *Case) Unlock(f Field) {
	t := tag{what: "unlock"}
	switch f.Part {
	case PartState:
		if st := c.State(); st.Locked() {
			c.change(t, func(s *snapshot) { c.setTop(s, "state", stringNode(st.Text)) })
		}
	case PartInstructions:
		if q, ok := c.Question(f.Question); ok && q.Instructions.Locked() {
			c.setInstructions(t, f.Question, q.Instructions.Text)
		}
	case PartDescription:
		q, ok := c.Question(f.Question)
		if !ok {
			return
		}
		if o, ok := q.Option(f.Option); ok && o.Description.Locked() {
			c.setDescription(t, f.Question, f.Option, o.Description.Text)
		}
	}
}

// Dismiss waves an advice away; it does not come back for this row.
func (c *Case) Dismiss(p Problem) {
	if p.Blocks || c.now.dismissed[Advised{p.Rule, p.Field}] {
		return
	}
	next := *c.now
	next.dismissed = maps.Clone(next.dismissed)
	if next.dismissed == nil {
		next.dismissed = map[Advised]bool{}
	}
	next.dismissed[Advised{p.Rule, p.Field}] = true
	c.commit(tag{what: "dismiss"}, &next)
}

// Restore makes the case what it was at a snapshot, as one step of undo. The
// snapshot's revision comes back too.
func (c *Case) Restore(s Snapshot) {
	if s.s != c.now {
		next := *s.s
		c.commit(tag{what: "restore"}, &next)
	}
}
