// Package document holds the case that is open in the window: a state, typed
// questions and images, as a person edits them and as they go over the wire.
//
// The JSON text is the document. A [Case] is a view of it in which every untouched
// byte keeps its spelling, its order and its white space: an edit rewrites the one
// value that was edited, a new row is spaced like its neighbours, a new case is
// indented by two spaces. What the form cannot show (structured text, fields it
// does not know) is carried through unchanged.
//
// A Case belongs to one goroutine. [Case.Snapshot] is free to be handed to another.
package document

import (
	"strings"
	"time"

	"clefbar/engine"
)

// Case is one open case. Make one with [New], [FromJSON] or [FromFile].
type Case struct {
	now     *snapshot
	past    []*snapshot
	future  []*snapshot
	tag     tag // what the newest past entry was made by
	tagged  time.Time
	clock   func() time.Time
	lastKey Key
	lastRev uint64
	saved   *snapshot // what the file on disk holds
	path    string
	sample  bool // comes with the program: not worth keeping untouched
	watch   []func()
	pixels  map[*node]decoded
}

// snapshot is the whole case at one moment. It never changes once it is the
// Case's now.
type snapshot struct {
	rev       uint64
	lead      string // white space before the JSON text
	tail      string // and after it
	root      *node
	typed     string       // the state as typed, when there are attachments
	attached  []Attachment // text kept beside the editor
	title     string
	imageName map[Key]string
	kept      map[Key][3]*node // criteria typed for the other kinds, by question
	dismissed map[Advised]bool
	view      *view // filled on first use by the Case's goroutine
}

// tag names an edit so that typing into one field is one step of undo.
type tag struct {
	what  string
	field Field
}

// typingRun is how long after a key the next one still belongs to the same step.
const typingRun = 1500 * time.Millisecond

// undoSteps is how many steps are kept.
const undoSteps = 200

// New returns an empty case: an empty text as state, no question.
func New() *Case {
	c := newCase()
	st := styleOf(nil)
	root := emptyNode(engine.Object)
	root = root.insert(0, entry{key: c.nextKey(), id: "state", value: stringNode(""), at: -1}, st)
	root = root.insert(1, entry{key: c.nextKey(), id: "questions", value: emptyNode(engine.Object), at: -1}, st)
	c.now = &snapshot{root: root, tail: "\n", rev: c.nextRev()}
	c.saved = c.now
	return c
}

func newCase() *Case { return &Case{clock: time.Now, lastKey: firstKey} }

func (c *Case) nextKey() Key {
	c.lastKey++
	return c.lastKey
}

func (c *Case) nextRev() uint64 {
	c.lastRev++
	return c.lastRev
}

// Revision numbers the request: two equal numbers mean the same request, so an
// answer is stale when the revision it was asked for is not the current one.
// Undoing an edit brings its old number back. The title and dismissed advice do
// not count.
func (c *Case) Revision() uint64 { return c.now.rev }

// Watch calls f after every change, on the goroutine that made it.
func (c *Case) Watch(f func()) { c.watch = append(c.watch, f) }

// Title returns the name given to the case, or one made from its first words.
func (c *Case) Title() string {
	if c.now.title != "" {
		return c.now.title
	}
	return derivedTitle(c.State())
}

// SetTitle names the case. An empty title goes back to the derived one.
func (c *Case) SetTitle(title string) {
	title = strings.TrimSpace(title)
	if title == c.now.title {
		return
	}
	next := *c.now
	next.title = title
	c.commit(tag{what: "title"}, &next)
}

// maxTitle is the longest derived title, in characters.
const maxTitle = 40

func derivedTitle(s State) string {
	text := s.Text
	if text == "" && len(s.Attachments) > 0 {
		text = s.Attachments[0].Name
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(strings.TrimSpace(line))
	if len(runes) > maxTitle {
		runes = append(runes[:maxTitle-1], '…')
	}
	if len(runes) == 0 {
		return "New case"
	}
	return string(runes)
}

// FilePath returns the file the case was opened from or saved to, "" for none.
func (c *Case) FilePath() string { return c.path }

// Edited reports whether the case differs from its file, or, without a file, from
// what it was made from.
func (c *Case) Edited() bool { return c.now != c.saved }

// Empty reports that there is nothing to lose: no state, no question, no image.
func (c *Case) Empty() bool {
	s := c.State()
	return s.Type == engine.String && s.Text == "" && len(s.Attachments) == 0 && len(c.Questions()) == 0 && len(c.Images()) == 0 && c.now.title == ""
}

// JSON returns the request exactly as it would be sent. Nothing of ours is added.
func (c *Case) JSON() []byte { return c.Snapshot().JSON() }

// Snapshot is one moment of a case, safe to read from any goroutine.
type Snapshot struct{ s *snapshot }

// Snapshot returns the case as it is now. It costs nothing.
func (c *Case) Snapshot() Snapshot { return Snapshot{c.now} }

// Revision returns the revision the snapshot was taken at.
func (s Snapshot) Revision() uint64 { return s.s.rev }

// JSON returns the request exactly as it would be sent.
func (s Snapshot) JSON() []byte {
	b := append([]byte(nil), s.s.lead...)
	b = appendNode(b, s.s.root)
	return append(b, s.s.tail...)
}
