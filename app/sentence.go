package main

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"clefbar/engine"
)

// sentence writes an error for a window: a capital letter, a full stop.
func sentence(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*engine.Error](err); ok {
		text = e.Message
	}
	text = strings.TrimSpace(clean(text))
	if text == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(text)
	if word, _, _ := strings.Cut(text, " "); !strings.ContainsAny(word, "./_:") { // not the name of a file
		text = string(unicode.ToUpper(first)) + text[n:]
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "!") {
		text += "."
	}
	return text
}
