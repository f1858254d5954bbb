package mtl

import "fmt"

// Error is an NSError.
type Error struct {
	Code        int
	Description string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Description, e.Code) }

// nsError copies an NSError; nil for nil.
//
// Reference: https://developer.apple.com/documentation/foundation/nserror
func nsError(id uintptr) *Error {
	if id == 0 {
		return nil
	}
	return &Error{int(send(errorCode, id)), goString(send(errorDescription, id))}
}

// failure returns the error of a call that gave nil.
func failure(what string, id uintptr) error {
	if e := nsError(id); e != nil {
		return fmt.Errorf("%s: %w", what, e)
	}
	return fmt.Errorf("%s: Metal gives no reason", what)
}
