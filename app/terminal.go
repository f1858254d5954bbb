package main

import (
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
	"golang.org/x/text/width"
)

// clean makes text from outside safe to print: control characters, which a terminal
// would obey, become visible marks. Line breaks and tabs become spaces.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '\ufffd'
		}
		return r
	}, s)
}

// columns returns how many columns s takes on a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1F300 && r <= 0x1FAFF: // pictures that width tables call neutral
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// fit pads or shortens s to exactly n columns.
func fit(s string, n int) string {
	if w := columns(s); w <= n {
		return s + strings.Repeat(" ", n-w)
	}
	var b strings.Builder
	used := 0
	for _, r := range s {
		if used+runeColumns(r) > n-1 {
			break
		}
		b.WriteRune(r)
		used += runeColumns(r)
	}
	return b.String() + "…" + strings.Repeat(" ", n-1-used)
}

// terminalColumns returns the width of the terminal behind f, 80 if it has none.
func terminalColumns(f *os.File) int {
	if ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && ws.Col > 0 {
		return int(ws.Col)
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return 80
}

// bold marks s on terminals that can and people who want it (no-color.org).
func bold(s string) string {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isatty.IsTerminal(os.Stdout.Fd()) {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}
