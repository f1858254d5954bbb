package models

import (
	"fmt"
)

// Kind says what is wrong with a model folder, so that callers can decide what to
// offer: another folder, a download of the missing bytes, another conversion.
type Kind uint8

// The kinds.
const (
	NotFound    Kind = iota // no such folder, or nothing that looks like a model in it
	Unreadable              // the system refuses to read it: permissions, an unplugged disk
	Incomplete              // files are cut or missing; downloading them again helps
	Malformed               // a file is not what its name says
	Mismatch                // the files contradict each other
	Unsupported             // a valid model that this program cannot run
	NoHead                  // a chat backbone without Clef's decision head
	Vanished                // a file changed or went away after it was opened
)

// Error is the error of this package. Message is one sentence that names the file
// or tensor and says what to do about it.
type Error struct {
	Kind    Kind
	File    string   // base name of the file, may be empty
	Tensor  string   // tensor name as stored, may be empty
	Missing []string // Incomplete: names of files that are not there
	Bytes   int64    // Incomplete: bytes to fetch, 0 when unknown
	Message string
	Err     error
}

func (e *Error) Error() string {
	switch {
	case e.File != "" && e.Tensor != "":
		return fmt.Sprintf("%s: tensor %s: %s", e.File, e.Tensor, e.Message)
	case e.File != "":
		return e.File + ": " + e.Message
	case e.Tensor != "":
		return "tensor " + e.Tensor + ": " + e.Message
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func fileError(k Kind, file, format string, args ...any) *Error {
	return &Error{Kind: k, File: file, Message: fmt.Sprintf(format, args...)}
}

func tensorError(k Kind, file, tensor, format string, args ...any) *Error {
	return &Error{Kind: k, File: file, Tensor: tensor, Message: fmt.Sprintf(format, args...)}
}
