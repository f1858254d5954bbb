package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"clefbar/engine"
)

// An editor draws a line as one picture: past about 560 characters, at twice the
// size on a dense screen, a GPU draws nothing. Strings are cut well before.
const (
	foldRunes = 400
	lineBytes = 560
	foldShown = 60 // characters of a cut string that are shown
)

// Folded is a request as an editor can show it: strings that are too long for a
// line are cut and come back when the text is read again, see [Case.Apply].
type Folded struct {
	Text string
	// Reflowed is set when lines were too long and the text is indented anew. The
	// case keeps its own white space until the text is edited.
	Reflowed bool
	kept     map[string]*node // by what is shown instead
	marks    []string         // how each cut string ends
}

// Fold returns the request as an editor can show it.
func (s Snapshot) Fold() Folded {
	f := Folded{kept: map[string]*node{}}
	text := append([]byte(s.s.lead), appendNode(nil, f.fold(s.s.root))...)
	text = append(text, s.s.tail...)
	if slices.ContainsFunc(bytes.Split(text, []byte{'\n'}), func(line []byte) bool { return len(line) > lineBytes }) {
		var b bytes.Buffer
		if json.Indent(&b, text, "", "  ") == nil {
			text, f.Reflowed = append(bytes.TrimSpace(b.Bytes()), '\n'), true
		}
	}
	f.Text = string(text)
	return f
}

func (f *Folded) fold(n *node) *node {
	if n.typ == engine.String {
		if shown := f.cut(n); shown != nil {
			return shown
		}
		return n
	}
	if len(n.slots) == 0 {
		return n
	}
	d := *n
	d.slots = slices.Clone(n.slots)
	for i := range d.slots {
		d.slots[i].value = f.fold(d.slots[i].value)
	}
	return &d
}

// cut returns what stands for a string that is too long, or nil.
func (f *Folded) cut(n *node) *node {
	text := n.str()
	if len(text) <= foldRunes && len(n.raw) <= lineBytes {
		return nil
	}
	count := utf8.RuneCountInString(text)
	if count <= foldRunes && len(appendNode(nil, n)) <= lineBytes {
		return nil
	}
	start := []rune(strings.Join(strings.Fields(text[:min(len(text), 4*foldShown)]), " "))
	start = start[:min(len(start), foldShown)]
	mark := fmt.Sprintf("… (%d characters)", count)
	shown := string(start) + mark
	for i := 2; f.kept[shown] != nil; i++ {
		mark = fmt.Sprintf("… (%d characters, %d)", count, i)
		shown = string(start) + mark
	}
	f.kept[shown] = n
	f.marks = append(f.marks, mark)
	return stringNode(shown)
}

// unfold puts the cut strings back. One that was edited in its cut form is an
// error: the rest of it would be lost.
func (f *Folded) unfold(src []byte, n *node) (*node, error) {
	if n.typ == engine.String {
		if kept, ok := f.kept[n.text]; ok {
			return kept, nil // the same node, so that a picture is not decoded again
		}
		for _, mark := range f.marks {
			if strings.HasSuffix(n.text, mark) {
				return nil, syntaxError(src, n.at, "this text is shown cut. Edit it in the form, or replace all of it here")
			}
		}
		return n, nil
	}
	if len(n.slots) == 0 || len(f.kept) == 0 {
		return n, nil
	}
	d := *n
	d.slots = slices.Clone(n.slots)
	for i := range d.slots {
		v, err := f.unfold(src, d.slots[i].value)
		if err != nil {
			return nil, err
		}
		d.slots[i].value = v
	}
	return &d, nil
}

// FromText opens the text of an editor that was filled from f. Offsets in errors,
// in [Case.At] and in [Case.Structured] are those of the text.
func (f Folded) FromText(text []byte) (*Case, error) {
	c := newCase()
	s, err := c.parse(text, f)
	if err != nil {
		return nil, err
	}
	c.now, c.saved = s, s
	return c, nil
}
