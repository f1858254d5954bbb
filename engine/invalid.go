package engine

import (
	"fmt"
	"slices"
	"strings"
)

// maxDetails bounds an error's size: a body of a thousand wrong options need not be
// answered with a thousand sentences.
const maxDetails = 64

// faults collects the broken rules of one request, in the order they are met.
type faults struct {
	details []Detail
}

// add notes a broken rule at the path loc, which starts after "body". Names in it that
// are longer than any id may be are cut.
func (f *faults) add(kind string, loc []any, format string, args ...any) {
	if len(f.details) >= maxDetails {
		return
	}
	full := []any{"body"}
	for _, step := range loc {
		if name, ok := step.(string); ok {
			step = cutTo(name, 1024)
		}
		full = append(full, step)
	}
	f.details = append(f.details, Detail{Loc: full, Msg: fmt.Sprintf(format, args...), Type: kind})
}

// clip shortens text for a message.
func clip(s string) string { return cutTo(s, 60) }

// cutTo shortens text to at most n bytes and a mark that says so.
func cutTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// err returns the collected faults as one error, or nil.
func (f *faults) err() error {
	if len(f.details) == 0 {
		return nil
	}
	return &Error{Reason: Invalid, Message: sentence(f.details), Details: f.details}
}

// InvalidAt returns an Invalid error with one detail. loc is the path after "body".
func InvalidAt(kind string, loc []any, format string, args ...any) *Error {
	var f faults
	f.add(kind, loc, format, args...)
	return &Error{Reason: Invalid, Message: sentence(f.details), Details: f.details}
}

// Path writes a detail's location for people: "questions.team.criteria.2", or "body"
// where the location is no more than an offset.
func (d Detail) Path() string {
	if len(d.Loc) == 2 {
		if _, offset := d.Loc[1].(int); offset {
			return "body"
		}
	}
	parts := make([]string, 0, len(d.Loc))
	for _, p := range d.Loc {
		parts = append(parts, fmt.Sprint(p))
	}
	if len(parts) > 1 && parts[0] == "body" {
		parts = parts[1:]
	}
	return strings.Join(parts, ".")
}

func sentence(details []Detail) string {
	s := details[0].Msg
	if path := details[0].Path(); path != "body" {
		s = path + ": " + s
	}
	if n := len(details) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// at returns loc with more path elements, without touching loc's own storage.
func at(loc []any, more ...any) []any {
	return append(slices.Clip(loc), more...)
}
