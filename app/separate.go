package main

import "strings"

// The forms of --choice and --score have separators in them. A backslash makes a
// separator, or a backslash, part of the text; before anything else it is itself.

// cutAt is strings.Cut that passes over separators behind a backslash.
func cutAt(s, separator string) (before, after string, found bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++ // whatever follows separates nothing
			continue
		}
		if strings.HasPrefix(s[i:], separator) {
			return s[:i], s[i+len(separator):], true
		}
	}
	return s, "", false
}

// splitAt is strings.Split that passes over separators behind a backslash.
func splitAt(s, separator string) []string {
	var parts []string
	for {
		part, rest, found := cutAt(s, separator)
		parts = append(parts, part)
		if !found {
			return parts
		}
		s = rest
	}
}

// plain takes the backslashes away that kept text from being a separator.
func plain(s, separators string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || strings.IndexByte(separators, s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
	return strings.TrimSpace(b.String())
}
