package document

import (
	"slices"
	"strings"

	"clefbar/engine"
)

// Past either limit a text is kept as an attachment: word wrap in the editor
// costs time with the square of a paragraph.
const (
	EditorBytes     = 16 << 10
	EditorParagraph = 2 << 10
)

// FitsEditor reports whether the state editor stays quick with this text.
func FitsEditor(text string) bool {
	if len(text) > EditorBytes {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > EditorParagraph {
			return false
		}
	}
	return true
}

// attachmentGap stands before every attachment that follows something.
const attachmentGap = "\n\n"

// SetText sets what is typed in the state editor. A structured state stays as it
// is; see [Case.Unlock].
func (c *Case) SetText(text string) {
	st := c.State()
	if st.Locked() || st.Type == engine.String && st.Text == text {
		return
	}
	c.change(tag{"state", Field{Part: PartState}}, func(s *snapshot) { c.compose(s, text, s.attached) })
}

// Attach puts a long text beside the editor, to be read after everything else in
// the state. name is what the card is called; "" means "Pasted text". A
// structured state takes no attachment: the result is 0.
func (c *Case) Attach(name, text string) Key {
	st := c.State()
	if st.Locked() {
		return 0
	}
	if name == "" {
		name = "Pasted text"
	}
	a := Attachment{Key: c.nextKey(), Name: name, Text: text}
	c.change(tag{what: "attach"}, func(s *snapshot) {
		c.compose(s, st.Text, append(slices.Clip(slices.Clone(s.attached)), a))
	})
	return a.Key
}

// SetAttachment replaces the text of an attachment.
func (c *Case) SetAttachment(k Key, text string) {
	c.editAttachment(tag{"attachment", Field{Part: PartState, Option: k}}, k, func(list []Attachment, i int) []Attachment {
		if list[i].Text == text {
			return nil
		}
		list[i].Text = text
		return list
	})
}

// RemoveAttachment takes an attachment out of the state.
func (c *Case) RemoveAttachment(k Key) {
	c.editAttachment(tag{what: "detach"}, k, func(list []Attachment, i int) []Attachment { return slices.Delete(list, i, i+1) })
}

// Inline moves an attachment into the editor, after what is typed there. It does
// nothing when the editor could not hold it.
func (c *Case) Inline(k Key) {
	st := c.State()
	i := slices.IndexFunc(st.Attachments, func(a Attachment) bool { return a.Key == k })
	if i < 0 {
		return
	}
	text := strings.Join(composed(st.Text, st.Attachments[i:i+1]), "")
	if !FitsEditor(text) {
		return
	}
	c.change(tag{what: "inline"}, func(s *snapshot) {
		c.compose(s, text, slices.Delete(slices.Clone(s.attached), i, i+1))
	})
}

func (c *Case) editAttachment(t tag, k Key, f func(list []Attachment, i int) []Attachment) {
	st := c.State()
	i := slices.IndexFunc(st.Attachments, func(a Attachment) bool { return a.Key == k })
	if i < 0 {
		return
	}
	list := f(slices.Clone(st.Attachments), i)
	if list == nil {
		return
	}
	c.change(t, func(s *snapshot) { c.compose(s, st.Text, list) })
}

// compose writes the state from its pieces.
func (c *Case) compose(s *snapshot, typed string, attached []Attachment) {
	s.attached, s.typed = nil, ""
	state := stringNode(typed)
	if len(attached) > 0 {
		s.attached, s.typed = attached, typed
		state = &node{typ: engine.String, parts: composed(typed, attached), at: -1}
	}
	c.setTop(s, "state", state)
}

// composed returns the pieces of the state text.
func composed(typed string, attached []Attachment) []string {
	parts := []string{typed}
	empty := typed == ""
	for _, a := range attached {
		if !empty {
			parts = append(parts, attachmentGap)
		}
		parts = append(parts, a.Text)
		empty = empty && a.Text == ""
	}
	return parts
}

// Literal reports whether control tokens in the person's text are read as plain
// text (x_control).
func (c *Case) Literal() bool { return c.now.root.get("x_control").is("literal") }

// SetLiteral chooses whether control tokens in the person's text are read as
// plain text.
func (c *Case) SetLiteral(on bool) { c.setFlag("x_control", on, c.Literal(), stringNode("literal")) }

// Truncate reports whether the end of a state that is too long may be cut
// (x_truncate).
func (c *Case) Truncate() bool {
	n := c.now.root.get("x_truncate")
	return n != nil && n.raw == "true"
}

// SetTruncate chooses whether the end of a state that is too long may be cut.
func (c *Case) SetTruncate(on bool) { c.setFlag("x_truncate", on, c.Truncate(), boolNode(true)) }

func (c *Case) setFlag(id string, on, was bool, v *node) {
	if on == was {
		return
	}
	if !on {
		v = nil
	}
	c.change(tag{what: id}, func(s *snapshot) { c.setTop(s, id, v) })
}

// Model returns the model named in the request, "" when it leaves the choice open.
func (c *Case) Model() string {
	if n := c.now.root.get("model"); n != nil && n.typ == engine.String {
		return n.text
	}
	return ""
}

func (n *node) is(s string) bool { return n != nil && n.typ == engine.String && n.text == s }
