package document

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"clefbar/engine"
)

// SyntaxError says why a text cannot be shown as a case: it is not JSON, or its
// shape has no place in the form. It unwraps to an *engine.Error with reason
// Invalid.
type SyntaxError struct {
	Offset  int    // byte offset in the text
	Line    int    // from 1; 0 when the error belongs to no place
	Column  int    // in characters, from 1
	Path    string // the field, "" for broken JSON
	Message string // one sentence without a full stop
}

func (e *SyntaxError) Error() string {
	switch {
	case e.Line == 0:
		return e.Message
	case e.Path == "":
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("line %d, column %d, %s: %s", e.Line, e.Column, e.Path, e.Message)
}

// Unwrap returns the error as the other rooms know it.
func (e *SyntaxError) Unwrap() error {
	loc := []any{"body"}
	if e.Path != "" {
		loc = append(loc, e.Path)
	}
	return &engine.Error{Reason: engine.Invalid, Message: e.Error(), Details: []engine.Detail{{Loc: loc, Msg: e.Message, Type: "json_invalid"}}}
}

func syntaxError(src []byte, at int, msg string) *SyntaxError {
	line, col := LineColumn(src, at)
	return &SyntaxError{Offset: at, Line: line, Column: col, Message: msg}
}

// LineColumn returns the place of a byte offset: both from 1, columns in
// characters.
func LineColumn(src []byte, at int) (line, column int) {
	at = max(0, min(at, len(src)))
	line = 1 + bytes.Count(src[:at], []byte{'\n'})
	from := bytes.LastIndexByte(src[:at], '\n') + 1
	return line, 1 + utf8.RuneCount(src[from:at])
}
