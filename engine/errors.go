package engine

import "errors"

// Reason is the closed set of ways a decision can fail. The UI turns reasons into
// sentences, the endpoint into status codes, the command line into exit codes,
// each in one table.
type Reason uint8

// The reasons.
const (
	Failed       Reason = iota // a defect of ours
	Invalid                    // the request breaks the contract: Details says where
	BadUsage                   // well-formed, but not to be had: unknown model, asset nobody names
	TooLong                    // more tokens than the limit: Needed and Limit say how many
	NoModel                    // no such model here, or not downloaded
	BadModel                   // the files are incomplete, headless or contradictory
	NoMemory                   // the model does not fit
	Loading                    // the model is still opening
	Busy                       // the queue is full
	ShuttingDown               // the process is ending
	Device                     // the device failed; starting the engine again may help
	Unreachable                // the other server does not answer
)

// Error is the one error type that crosses rooms. Use errors.As, or ReasonOf.
type Error struct {
	Reason  Reason
	Message string   // one sentence that names the field, file or tensor and what to do
	Details []Detail // Invalid: one or more
	Needed  int      // TooLong: tokens needed
	Limit   int      // TooLong: tokens allowed
	Err     error    // the cause, may be nil
}

// Detail is one broken rule of a request (endpoint.md 6).
type Detail struct {
	Loc  []any  // path from "body": strings and ints
	Msg  string // sentence for a person
	Type string // "missing", "too_long", "union_type", …
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of the first *Error in err's chain, or Failed.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return Failed
}
