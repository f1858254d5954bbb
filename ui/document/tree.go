package document

import (
	"slices"

	"clefbar/engine"
)

// node is one JSON value as it was written. Nodes never change once made: an edit
// builds new nodes along one path and shares the rest, so that undo is a pointer
// and a copy for another goroutine costs nothing.
type node struct {
	typ engine.ValueType
	// raw is a scalar as spelled in the source. "" means that the value was made
	// here and is spelled on writing.
	raw string
	// text is the decoded string; parts, when set, are its pieces instead, so
	// that a long attachment is not copied on every key.
	text  string
	parts []string
	// lone is set when the string holds half a surrogate pair, which text cannot
	// show.
	lone bool
	// slots are the members of an object or the items of an array.
	slots []slot
	// inner is the white space inside an empty container.
	inner string
	// at is the byte offset in the source, -1 for a value made here.
	at int
}

// slot is one place in a container. The white space belongs to the place, the
// rest to what stands in it: a row that moves takes the look of its new place.
type slot struct {
	lead  string // white space before the member
	trail string // white space before the comma or the closing bracket
	entry
}

// entry is what stands in a slot.
type entry struct {
	key   Key    // identity through edits
	name  string // member name as spelled, with quotes; "" in arrays and for made names
	id    string // member name decoded
	lone  bool   // the name holds half a surrogate pair
	colon string // from the end of the name to the start of the value
	value *node
	at    int // byte offset of the name or item in the source, -1 for a made one
	// blank marks a row that was added and not typed in yet. It is not written.
	blank bool
}

func (n *node) str() string {
	if n.parts == nil {
		return n.text
	}
	size := 0
	for _, p := range n.parts {
		size += len(p)
	}
	b := make([]byte, 0, size)
	for _, p := range n.parts {
		b = append(b, p...)
	}
	return string(b)
}

// find returns the index of the first member called id, or -1.
func (n *node) find(id string) int {
	if n == nil || n.typ != engine.Object {
		return -1
	}
	for i := range n.slots {
		if n.slots[i].id == id {
			return i
		}
	}
	return -1
}

// get returns the value of the first member called id, or nil.
func (n *node) get(id string) *node {
	if i := n.find(id); i >= 0 {
		return n.slots[i].value
	}
	return nil
}

// byKey returns the index of the entry with this key, or -1.
func (n *node) byKey(k Key) int {
	if n == nil {
		return -1
	}
	for i := range n.slots {
		if n.slots[i].key == k {
			return i
		}
	}
	return -1
}

func stringNode(s string) *node { return &node{typ: engine.String, text: s, at: -1} }

func nullNode() *node { return &node{typ: engine.Null, raw: "null", at: -1} }

func boolNode(v bool) *node {
	raw := "false"
	if v {
		raw = "true"
	}
	return &node{typ: engine.Bool, raw: raw, at: -1}
}

func emptyNode(t engine.ValueType) *node { return &node{typ: t, at: -1} }

// set returns a copy of n whose entry i holds v.
func (n *node) set(i int, v *node) *node {
	e := n.slots[i].entry
	e.value = v
	return n.setEntry(i, e)
}

func (n *node) setEntry(i int, e entry) *node {
	c := *n
	c.slots = append([]slot(nil), n.slots...)
	c.slots[i].entry = e
	return &c
}

// insert returns a copy of n with e at index i, spaced like its neighbours, or,
// in an empty container, as st says.
func (n *node) insert(i int, e entry, st style) *node {
	c := *n
	count := len(n.slots)
	if count == 0 {
		lead, trail := st.open()
		if n.typ == engine.Object && e.colon == "" {
			e.colon = st.colon
		}
		c.inner = ""
		c.slots = []slot{{lead: lead, trail: trail, entry: e}}
		return &c
	}
	if n.typ == engine.Object && e.colon == "" {
		e.colon = n.slots[0].colon
	}
	next, trail := n.slots[0].lead, ""
	if count > 1 {
		next, trail = n.slots[1].lead, n.slots[0].trail
	} else if next == "" && !st.compact {
		next = " "
	}
	c.slots = slices.Insert(slices.Clone(n.slots), i, slot{entry: e})
	// The first lead and the last trail keep their places.
	leads, trails := make([]string, count, count+1), make([]string, count, count+1)
	for j, s := range n.slots {
		leads[j], trails[j] = s.lead, s.trail
	}
	leads = slices.Insert(leads, max(i, 1), next)
	trails = slices.Insert(trails, min(i, count-1), trail)
	for j := range c.slots {
		c.slots[j].lead, c.slots[j].trail = leads[j], trails[j]
	}
	return &c
}

// remove returns a copy of n without entry i. The white space of the first and
// the last place stays where it is.
func (n *node) remove(i int) *node {
	c := *n
	count := len(n.slots)
	if count == 1 {
		c.slots = nil
		c.inner = ""
		return &c
	}
	c.slots = append([]slot(nil), n.slots[:i]...)
	c.slots = append(c.slots, n.slots[i+1:]...)
	if i == 0 {
		c.slots[0].lead = n.slots[0].lead
	}
	if i == count-1 {
		c.slots[i-1].trail = n.slots[i].trail
	}
	return &c
}

// move returns a copy of n with entry from at index to; the places stay.
func (n *node) move(from, to int) *node {
	c := *n
	c.slots = append([]slot(nil), n.slots...)
	e := n.slots[from].entry
	for i := from; i < to; i++ {
		c.slots[i].entry = n.slots[i+1].entry
	}
	for i := from; i > to; i-- {
		c.slots[i].entry = n.slots[i-1].entry
	}
	c.slots[to].entry = e
	return &c
}

// setMember returns a copy of object n in which member id holds v; a new member
// is appended. A nil v removes it.
func (n *node) setMember(id string, v *node, key Key, st style) *node {
	i := n.find(id)
	switch {
	case i >= 0 && v == nil:
		return n.remove(i)
	case i >= 0:
		return n.set(i, v)
	case v == nil:
		return n
	}
	return n.insert(len(n.slots), entry{key: key, id: id, value: v, at: -1}, st)
}

// written returns n without its blank rows.
func (n *node) written() *node {
	for i := len(n.slots) - 1; i >= 0; i-- {
		if n.slots[i].blank {
			n = n.remove(i)
		}
	}
	return n
}
