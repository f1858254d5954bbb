package document

import (
	"strconv"

	"clefbar/engine"
)

// Key names a question, an option, an image or an attachment of one case for as
// long as the case is open, through moves, renames and undo. 0 is no key.
type Key uint64

// The keys of the two sides of a yes-or-no question, the same in every question.
const (
	KeyTrue  Key = 1
	KeyFalse Key = 2
	// firstKey is the first key that is handed out.
	firstKey Key = 16
)

// Part is one editable place of a case.
type Part uint8

// The places, in the order of the form.
const (
	PartCase         Part = iota // the case as a whole
	PartState                    // the state
	PartImages                   // the image Field.Option, or all of them
	PartQuestions                // the list of questions
	PartQuestion                 // one question as a whole
	PartID                       // its id
	PartKind                     // its kind
	PartInstructions             // its instructions
	PartOptions                  // its list of options, levels or sides
	PartOption                   // one option as a whole
	PartName                     // the option's name
	PartDescription              // the option's description, or the level's text
)

// Field points at one place of a case. Question and Option are 0 where the part
// has none.
type Field struct {
	Part     Part
	Question Key
	Option   Key
}

// Path returns the field as people and logs write it: "state",
// "questions.team.criteria.billing".
func (c *Case) Path(f Field) string {
	switch f.Part {
	case PartCase:
		return "request"
	case PartState:
		return "state"
	case PartImages:
		for i, im := range c.Images() {
			if im.Key == f.Option {
				return "images." + strconv.Itoa(i)
			}
		}
		return "images"
	case PartQuestions:
		return "questions"
	}
	q, ok := c.Question(f.Question)
	if !ok {
		return "questions"
	}
	path := "questions." + q.ID
	switch f.Part {
	case PartKind:
		return path + ".type"
	case PartInstructions:
		return path + ".instructions"
	case PartOptions:
		return path + ".criteria"
	case PartOption, PartName, PartDescription:
		return path + ".criteria." + q.optionPath(f.Option)
	}
	return path
}

func (q *Question) optionPath(k Key) string {
	for i, o := range q.Options {
		if o.Key != k {
			continue
		}
		if q.Kind == engine.Score {
			return strconv.Itoa(i)
		}
		return o.Name
	}
	return "?"
}
