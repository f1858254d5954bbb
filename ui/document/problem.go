package document

// Rule names what a Problem is about.
type Rule uint8

// Rules that block a decision.
const (
	RuleRequest       Rule = iota // any other rule of the contract; Sentence tells
	RuleNoQuestion                // there is no question
	RuleState                     // the state is missing or not text, object or list
	RuleEmptyID                   // a question without an id
	RuleDuplicateID               // two questions with one id
	RuleEmptyQuestion             // a new question in which nothing is asked yet
	RuleNoOptions                 // a choice or score without rows
	RuleDuplicateName             // two options with one name
	RuleTooMany                   // more questions, options, levels or images than allowed
	RuleOtherForm                 // a list of options or a map of levels
	RuleUnknownSide               // a side of a yes-or-no question other than true and false
	RuleHalfCharacter             // a lone surrogate
	RuleImage                     // a picture that cannot be read
)

// Rules that only advise.
const (
	AdviceOneOption       Rule = 64 + iota // one option decides nothing
	AdviceSameDescription                  // two options described in the same words
	AdviceNoName                           // an option without a name
	AdviceCounting                         // a question that asks for a number
	AdviceOpenQuestion                     // a yes-or-no question that asks who, what or why
	AdviceHostedID                         // an id that hosted services refuse
	AdviceNoneOfThese                      // a choice without a way to say "none"
)

// Problem is one remark on the case: what is wrong, where, and in one sentence
// what to do.
type Problem struct {
	Rule     Rule
	Field    Field
	Also     []Field // other rows to mark, such as the twin of a duplicate
	Sentence string  // for a person, with its full stop
	Fix      string  // label of the way out that [Case.Fix] takes, "" for none
	Blocks   bool    // false: advice, never in the way
}

// Advised names one advice that a person has waved away.
type Advised struct {
	Rule  Rule
	Field Field
}
