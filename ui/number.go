package ui

import (
	"fmt"
	"strconv"
	"time"
)

// thousands writes a count with commas: 16,384.
func thousands(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// probability writes a probability as the rows show it: two decimals.
func probability(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) }

// exact writes a probability as hover and exports show it.
func exact(p float64) string { return strconv.FormatFloat(p, 'f', 6, 64) }

// seconds writes a whole decision's time: 0.80 s.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// span writes a part of the time in the unit that fits: 2 ms, 0.78 s.
func span(d time.Duration) string {
	if d < 100*time.Millisecond {
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	return seconds(d)
}

// bytesText writes a size as people say it, in powers of ten: 38 MB, 6.2 GB.
func bytesText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%d MB", n/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%d kB", n/1e3)
	}
	return fmt.Sprintf("%d bytes", n)
}

// plural writes a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

func itoa(n int) string { return strconv.Itoa(n) }
