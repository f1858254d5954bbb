package document

import (
	"fmt"
	"slices"
	"strings"

	"clefbar/engine"
)

// FromJSON opens a request, or a case file, from its text. It takes whatever the
// form can show, also what could not be decided as it stands (two options of one
// name, criteria of the other form, no question at all): [Case.Problems] then says
// what to mend. The error is a *SyntaxError that names the place.
func FromJSON(data []byte) (*Case, error) {
	return Folded{}.FromText(data)
}

// Apply replaces the request by the text, as one step of undo. Questions, options
// and pictures that are still there keep their keys; what f has cut is whole again.
// On an error nothing changes.
func (c *Case) Apply(data []byte, f Folded) error {
	if f.Text != "" && string(data) == f.Text {
		return nil
	}
	s, err := c.parse(data, f)
	if err != nil {
		return err
	}
	if s.lead == c.now.lead && s.tail == c.now.tail && string(appendNode(nil, s.root)) == string(appendNode(nil, c.now.root)) {
		return nil
	}
	keepKeys(c.now.root, s.root)
	s.root = share(c.now.root, s.root)
	if s.title == "" {
		s.title = c.now.title
	}
	s.kept, s.imageName, s.dismissed = c.now.kept, c.now.imageName, c.now.dismissed
	if old := c.now.attached; len(old) > 0 && s.root.get("state").is(strings.Join(composed(c.now.typed, old), "")) {
		c.compose(s, c.now.typed, old)
	}
	c.commit(tag{"json", Field{Part: PartQuestions}}, s)
	return nil
}

// parse reads a text into a snapshot under a new revision.
func (c *Case) parse(data []byte, f Folded) (*snapshot, error) {
	lead, root, tail, err := parseTree(data, c.nextKey)
	if err != nil {
		return nil, err
	}
	if root, err = f.unfold(trimMark(data), root); err != nil {
		return nil, err
	}
	if err := checkShape(data, root); err != nil {
		return nil, err
	}
	s := &snapshot{lead: lead, root: root, tail: tail, rev: c.nextRev()}
	if i := root.find(metaField); i >= 0 {
		meta := root.slots[i].value
		s.root = root.remove(i)
		c.readMeta(s, meta)
	}
	if st := s.root.get("state"); len(s.attached) == 0 && st != nil && st.typ == engine.String && !st.lone && !FitsEditor(st.text) {
		s.attached = []Attachment{{Key: c.nextKey(), Name: "Long text", Text: st.text}}
	}
	return s, nil
}

// checkShape refuses what has no place in the form and names the first such place.
func checkShape(src []byte, root *node) error {
	bad := func(at int, path, format string, args ...any) error {
		e := syntaxError(trimMark(src), at, fmt.Sprintf(format, args...))
		e.Path = path
		return e
	}
	if root.typ != engine.Object {
		return bad(root.at, "", "a request is an object that starts with {, not %s", article(root.typ))
	}
	if e := twice(root, "state", "questions", "images", "model", metaField); e != nil {
		return bad(e.at, e.id, "%q stands here a second time", e.id)
	}
	i := root.find("questions")
	if i < 0 {
		return nil
	}
	list := root.slots[i].value
	if list.typ != engine.Object {
		return bad(list.at, "questions", "questions is an object that maps ids to questions, not %s", article(list.typ))
	}
	for i := range list.slots {
		e := &list.slots[i].entry
		path := "questions." + e.id
		switch kind := e.value.get("type"); {
		case e.value.typ != engine.Object:
			return bad(e.value.at, path, "a question is an object with a type, not %s", article(e.value.typ))
		case kind == nil:
			return bad(e.value.at, path, `a question needs a "type": "noul", "choice" or "score"`)
		case !kind.is("noul") && !kind.is("choice") && !kind.is("score"):
			return bad(kind.at, path+".type", `the type is "noul", "choice" or "score", not %s`, clipped(string(appendNode(nil, kind))))
		}
		if d := twice(e.value, "type", "instructions", "criteria"); d != nil {
			return bad(d.at, path+"."+d.id, "%q stands here a second time", d.id)
		}
		if err := checkCriteria(e.value, path+".criteria", bad); err != nil {
			return err
		}
	}
	return nil
}

func checkCriteria(q *node, path string, bad func(int, string, string, ...any) error) error {
	n := q.get("criteria")
	if n == nil || n.typ == engine.Null || n.typ == engine.Object {
		if d := twice(n, "true", "false"); d != nil && kindOf(q) == engine.Noul {
			return bad(d.at, path+"."+d.id, "%q stands here a second time", d.id)
		}
		return nil
	}
	if kindOf(q) == engine.Noul {
		return bad(n.at, path, `the criteria of a yes-or-no question are an object with "true" and "false", not %s`, article(n.typ))
	}
	if n.typ != engine.Array {
		return bad(n.at, path, "criteria are an object of options or a list of levels, not %s", article(n.typ))
	}
	return nil
}

// twice returns the second entry of the first listed name that stands in n twice.
func twice(n *node, names ...string) *entry {
	if n == nil {
		return nil
	}
	seen := map[string]bool{}
	for i := range n.slots {
		e := &n.slots[i].entry
		if seen[e.id] && slices.Contains(names, e.id) {
			return e
		}
		seen[e.id] = true
	}
	return nil
}

func article(t engine.ValueType) string {
	return [...]string{"nothing", "null", "true or false", "a number", "a text", "a list", "an object"}[t]
}

func clipped(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

func trimMark(src []byte) []byte { return []byte(strings.TrimPrefix(string(src), "\ufeff")) }

// keepKeys gives the questions, options and pictures of fresh the keys they have
// in old, matched by name, then by place.
func keepKeys(old, fresh *node) {
	if a, b := old.get("images"), fresh.get("images"); a != nil && b != nil {
		matchKeys(a, b, func(e *entry) string { return string(appendNode(nil, e.value)) })
	}
	a, b := old.get("questions"), fresh.get("questions")
	if a == nil || b == nil {
		return
	}
	byName := func(e *entry) string { return e.id }
	matchKeys(a, b, byName)
	for i := range b.slots {
		j := a.byKey(b.slots[i].key)
		if j < 0 {
			continue
		}
		from, to := a.slots[j].value.get("criteria"), b.slots[i].value.get("criteria")
		if from == nil || to == nil || from.typ != to.typ {
			continue
		}
		if to.typ == engine.Array {
			byName := func(e *entry) string { return string(appendNode(nil, e.value)) }
			matchKeys(from, to, byName)
			continue
		}
		matchKeys(from, to, byName)
	}
}

// matchKeys runs before fresh is shared, so it may write into it.
func matchKeys(old, fresh *node, name func(*entry) string) {
	keys := map[string][]Key{}
	for i := range old.slots {
		e := &old.slots[i].entry
		keys[name(e)] = append(keys[name(e)], e.key)
	}
	for i := range fresh.slots {
		e := &fresh.slots[i].entry
		if left := keys[name(e)]; len(left) > 0 {
			e.key, keys[name(e)] = left[0], left[1:]
		}
	}
}

// share returns fresh with every part that reads like its old self replaced by it:
// undo then holds it once, and a picture is not decoded again. It runs before fresh
// is shared, so it may write into it.
func share(old, fresh *node) *node {
	if old == nil || old.typ != fresh.typ {
		return fresh
	}
	if string(appendNode(nil, old)) == string(appendNode(nil, fresh)) {
		return old
	}
	for i := range fresh.slots {
		e := &fresh.slots[i].entry
		j := old.byKey(e.key)
		if j < 0 && fresh.find(e.id) == i { // a second one of the name is something new
			j = old.find(e.id)
		}
		if j >= 0 {
			e.value = share(old.slots[j].value, e.value)
		}
	}
	return fresh
}
