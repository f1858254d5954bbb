package document

import (
	"slices"
	"strconv"

	"clefbar/engine"
)

// Text is a value of the form that is text as a rule.
type Text struct {
	Type engine.ValueType // Missing, Null, String, or what cannot be typed
	Text string           // the decoded string; the JSON as written when Locked
}

// Locked reports that the form shows the value and does not edit it: it is
// structured, or of a type the wire has no room for. [Case.Unlock] turns it into
// text.
func (t Text) Locked() bool { return t.Type > engine.Null && t.Type != engine.String }

// State is the state as the form shows it.
type State struct {
	Type engine.ValueType // String, or what the editor cannot show
	Text string           // what is typed; the JSON as written when Locked
	// Attachments are read after Text, in this order, each after an empty line.
	Attachments []Attachment
}

// Locked reports that the state is structured, or of a type the wire has no room
// for: the editor shows it and does not edit it.
func (s State) Locked() bool { return Text{Type: s.Type}.Locked() }

// Attachment is a long text kept beside the editor. It is part of the state.
type Attachment struct {
	Key  Key
	Name string
	Text string
}

// Question is one question as the form shows it.
type Question struct {
	Key          Key
	ID           string
	Kind         engine.Kind
	Instructions Text
	// Options are the options of a choice, the levels of a score (named "0",
	// "1", …, the text in Description) or the two sides of a noul (KeyTrue and
	// KeyFalse, always both).
	Options []Option
	// OtherForm is set when the criteria are written in a form that Clef does not
	// take: a list for a choice, a map for a score. Options show what
	// [Case.Convert] would make of them and cannot be edited before.
	OtherForm bool
	// Extra names the fields that the form does not show and carries through.
	Extra []string
}

// Option is one row of a question.
type Option struct {
	Key         Key
	Name        string
	Description Text
	// Blank marks a row that was added and not typed in yet. It is left out of
	// the request, so answers do not count it; see [Question.Asked].
	Blank bool
}

// Image is one picture of the request, in prompt order.
type Image struct {
	Key  Key
	Name string // file name, or "Image 1"
	Data []byte // the file's bytes; nil when Err is set
	Err  error  // why the item cannot be read
}

// view is what the form shows of a snapshot.
type view struct {
	state     State
	questions []Question
	images    []Image

	checked  bool // request and problems are filled
	request  *engine.Request
	problems []Problem
	advised  bool // advice is filled
	advice   []Problem
}

func (c *Case) read() *view {
	if c.now.view == nil {
		c.now.view = &view{state: readState(c.now), questions: readQuestions(c.now.root.get("questions")), images: c.readImages()}
	}
	return c.now.view
}

// State returns the state. The slices in it must not be changed.
func (c *Case) State() State { return c.read().state }

// Questions returns the questions in request order. The slice must not be changed.
func (c *Case) Questions() []Question { return c.read().questions }

// Question returns the question with this key.
func (c *Case) Question(k Key) (*Question, bool) {
	qs := c.read().questions
	i := slices.IndexFunc(qs, func(q Question) bool { return q.Key == k })
	if i < 0 {
		return nil, false
	}
	return &qs[i], true
}

// Option returns the option with this key.
func (q *Question) Option(k Key) (*Option, bool) {
	i := slices.IndexFunc(q.Options, func(o Option) bool { return o.Key == k })
	if i < 0 {
		return nil, false
	}
	return &q.Options[i], true
}

// Asked returns the options that are part of the request, in the order of the
// answer's probabilities.
func (q *Question) Asked() []Option {
	return slices.DeleteFunc(slices.Clone(q.Options), func(o Option) bool { return o.Blank })
}

// Images returns the pictures in prompt order. The slice must not be changed.
func (c *Case) Images() []Image { return c.read().images }

func readState(s *snapshot) State {
	t := readText(s.root.get("state"))
	if len(s.attached) > 0 {
		t.Text = s.typed
	}
	return State{Type: t.Type, Text: t.Text, Attachments: s.attached}
}

func readText(n *node) Text {
	switch {
	case n == nil:
		return Text{}
	case n.typ == engine.Null:
		return Text{Type: engine.Null}
	case n.typ == engine.String && n.parts != nil:
		return Text{Type: engine.String}
	case n.typ == engine.String:
		return Text{Type: engine.String, Text: n.text}
	}
	return Text{Type: n.typ, Text: string(appendNode(nil, n))}
}

func readQuestions(n *node) []Question {
	if n == nil {
		return nil
	}
	qs := make([]Question, len(n.slots))
	for i := range n.slots {
		qs[i] = readQuestion(&n.slots[i].entry)
	}
	return qs
}

func readQuestion(e *entry) Question {
	q := Question{Key: e.key, ID: e.id, Kind: kindOf(e.value), Instructions: readText(e.value.get("instructions"))}
	for _, s := range e.value.slots {
		if s.id != "type" && s.id != "instructions" && s.id != "criteria" {
			q.Extra = append(q.Extra, s.id)
		}
	}
	q.Options, q.OtherForm = readOptions(q.Kind, e.value.get("criteria"))
	return q
}

func readOptions(kind engine.Kind, n *node) (options []Option, other bool) {
	switch {
	case kind == engine.Noul:
		return readSides(n), false
	case n == nil || n.typ != engine.Object && n.typ != engine.Array:
		return nil, false
	case kind == engine.Choice && n.typ == engine.Array:
		n, other = listToMap(n), true
	case kind == engine.Score && n.typ == engine.Object:
		n, other = mapToList(n), true
	}
	options = make([]Option, len(n.slots))
	level := 0
	for i := range n.slots {
		s := &n.slots[i]
		options[i] = Option{Key: s.key, Name: s.id, Description: readText(s.value), Blank: s.blank}
		if kind == engine.Score {
			options[i].Name = strconv.Itoa(level)
		}
		if !s.blank {
			level++
		}
	}
	return options, other
}

// readSides returns both sides of a noul and whatever else stands there, so that
// nothing is hidden.
func readSides(n *node) []Option {
	options := []Option{
		{Key: KeyTrue, Name: "true", Description: readText(n.get("true"))},
		{Key: KeyFalse, Name: "false", Description: readText(n.get("false"))},
	}
	if n == nil {
		return options
	}
	for _, s := range n.slots {
		if s.id != "true" && s.id != "false" {
			options = append(options, Option{Key: s.key, Name: s.id, Description: readText(s.value)})
		}
	}
	return options
}

// kindOf returns the kind of a question whose shape has been checked.
func kindOf(q *node) engine.Kind {
	switch q.get("type").str() {
	case "choice":
		return engine.Choice
	case "score":
		return engine.Score
	}
	return engine.Noul
}
