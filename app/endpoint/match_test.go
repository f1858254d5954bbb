package endpoint

import (
	"regexp"
	"strings"
)

// regexpLike turns a text in which * stands for anything into an anchored pattern.
func regexpLike(text string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*?") + "$")
}

func mustMatch(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }
