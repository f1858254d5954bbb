// Package locale gives the window toolkit a language that it can parse. The locale
// C.UTF-8, usual in containers, names none, and the toolkit complains on stderr while
// it is initialised, even when no window opens.
//
// It has to come first: Go initialises packages in the order of their import paths
// as soon as what they import is ready, and this one needs only package os.
package locale

import (
	"os"
	"strings"
)

func init() {
	if namesNoLanguage(firstSet("LC_ALL", "LC_MESSAGES", "LANG")) && os.Getenv("LANGUAGE") == "" {
		_ = os.Setenv("LANGUAGE", "en") // it cannot fail with these words
	}
}

// namesNoLanguage reports whether a locale is C or POSIX with an encoding.
func namesNoLanguage(locale string) bool {
	return strings.HasPrefix(locale, "C.") || strings.HasPrefix(locale, "POSIX.")
}

func firstSet(names ...string) string {
	for _, name := range names {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}
