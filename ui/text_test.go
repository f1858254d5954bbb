package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"clefbar/engine"
	"clefbar/ui/document"
)

func optionsOf(texts []string) []document.Option {
	var out []document.Option
	for i, s := range texts {
		out = append(out, document.Option{Key: document.Key(100 + i), Name: strconv.Itoa(i), Description: document.Text{Type: engine.String, Text: s}})
	}
	return out
}

func TestNumbers(t *testing.T) {
	tests := []struct{ got, want string }{
		{thousands(0), "0"},
		{thousands(999), "999"},
		{thousands(1000), "1,000"},
		{thousands(16384), "16,384"},
		{thousands(1234567), "1,234,567"},
		{thousands(-5006), "-5,006"},
		{thousands(-100), "-100"},
		{probability(0.005), "0.01"},
		{probability(1), "1.00"},
		{exact(0.9412345), "0.941234"},
		{seconds(800 * time.Millisecond), "0.80 s"},
		{span(2 * time.Millisecond), "2 ms"},
		{span(780 * time.Millisecond), "0.78 s"},
		{span(99 * time.Millisecond), "99 ms"},
		{span(100 * time.Millisecond), "0.10 s"},
		{bytesText(38_000_000), "38 MB"},
		{bytesText(6_200_000_000), "6.2 GB"},
		{bytesText(45_000), "45 kB"},
		{bytesText(12), "12 bytes"},
		{plural(1, "line", "lines"), "1 line"},
		{plural(1204, "line", "lines"), "1,204 lines"},
		{gigabytesOf(6_900_000_000, 10_400_000_000), "6.9 of 10.4 GB"},
		{gigabytesOf(900_000_000, 10_400_000_000), "900 MB of 10.4 GB"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestFitEndsInEllipsis(t *testing.T) {
	lightApp(t)
	long := strings.Repeat("payments ", 4000)
	for _, room := range []float32{1, 20, 100, 400} {
		got := fit(long, room, 13, regular)
		if w := textWidth(got, 13, regular); w > room && got != ellipsis {
			t.Errorf("room %v: got %q, %v wide", room, got, w)
		}
		if !strings.HasSuffix(got, ellipsis) {
			t.Errorf("room %v: got %q, want an ellipsis at its end", room, got)
		}
	}
	if got := fit("billing", 400, 13, regular); got != "billing" {
		t.Errorf("got %q, want the text as it is", got)
	}
	if got := fit("billing", 0, 13, regular); got != "" {
		t.Errorf("no room: got %q, want nothing", got)
	}
}

func TestLabelIsOneLine(t *testing.T) {
	lightApp(t)
	l := newLabel("one\ntwo\tthree\r\nfour", colorInk, 13, regular)
	if want := "one two three four"; l.full != want {
		t.Errorf("got %q, want %q", l.full, want)
	}
}

func TestWrapWords(t *testing.T) {
	lightApp(t)
	text := "It ships with Clefbar and is fine for learning the window, not for real decisions."
	lines := wrapWords(text, 200, 13)
	if len(lines) < 2 {
		t.Fatalf("got %d lines, want several", len(lines))
	}
	for _, l := range lines {
		if w := textWidth(l, 13, regular); w > 200 {
			t.Errorf("%q: got %v wide, want at most 200", l, w)
		}
	}
	if got := strings.Join(lines, " "); got != text {
		t.Errorf("got %q, want every word once", got)
	}
}

func TestKeyText(t *testing.T) {
	defer func(before bool) { macKeys = before }(macKeys)
	tests := []struct {
		key        fyne.KeyName
		mod        fyne.KeyModifier
		mac, other string
	}{
		{fyne.KeyReturn, fyne.KeyModifierSuper, "⌘↩", "Ctrl+↩"},
		{fyne.KeyE, fyne.KeyModifierControl | fyne.KeyModifierShift, "⇧⌘E", "Shift+Ctrl+E"},
		{fyne.KeyUp, fyne.KeyModifierAlt, "⌥↑", "Alt+↑"},
		{fyne.KeyEscape, 0, "Esc", "Esc"},
	}
	for _, tt := range tests {
		macKeys = true
		if got := keyText(tt.key, tt.mod); got != tt.mac {
			t.Errorf("on a Mac: got %q, want %q", got, tt.mac)
		}
		macKeys = false
		if got := keyText(tt.key, tt.mod); got != tt.other {
			t.Errorf("elsewhere: got %q, want %q", got, tt.other)
		}
	}
}

// TestEveryReasonIsTold walks the closed set of reasons: each has a title and, but
// for the one that ends the program and the one with a notice of its own, a way out.
func TestEveryReasonIsTold(t *testing.T) {
	d, _, _, _ := testDeps()
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	for r := engine.Failed; r <= engine.Unreachable; r++ {
		n := w.page.failureNotice(&engine.Error{Reason: r, Message: "the cause"})
		if n.title == "" {
			t.Errorf("reason %d: got no title", r)
		}
		if !strings.HasPrefix(n.body, "The cause.") {
			t.Errorf("reason %d: got %q, want a sentence", r, n.body)
		}
		if len(n.actions) == 0 && r != engine.ShuttingDown && r != engine.TooLong {
			t.Errorf("reason %d: got no way out", r)
		}
	}
	if got := w.page.failureNotice(errors.New("plain")).title; got != sentences[engine.Failed].title {
		t.Errorf("plain error: got %q, want the title of a defect", got)
	}
}

func TestSentenceOf(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{errors.New("the file is gone"), "The file is gone."},
		{errors.New("Really?"), "Really?"},
		{errors.New(""), ""},
		{&engine.Error{Message: "état inconnu"}, "état inconnu."},
		{fmt.Errorf("decide: %w", &engine.Error{Message: "the device is lost."}), "The device is lost."},
	}
	for _, tt := range tests {
		if got := sentenceOf(tt.err); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestRecentTime(t *testing.T) {
	now := time.Date(2026, 11, 30, 14, 52, 0, 0, time.UTC)
	tests := []struct {
		at   time.Time
		want string
	}{
		{now.Add(-2 * time.Minute), "14:50"},
		{now.Add(-24 * time.Hour), "Sunday"},
		{now.Add(-30 * 24 * time.Hour), "31 Oct 2026"},
		{now.Add(-365 * 24 * time.Hour), "30 Nov 2025"},
	}
	for _, tt := range tests {
		if got := recentTime(tt.at, now); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.at, got, tt.want)
		}
	}
}

func TestFileName(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Support ticket", "Support ticket"}, {"rm -rf build/", "rm -rf build"}, {"a/b\\c:d*e?\"f<g>h|i\n", "a b c d e f g h i"}, {"...", "Case"}, {"", "Case"},
	}
	for _, tt := range tests {
		if got := fileName(tt.title); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.title, got, tt.want)
		}
	}
}

func TestLineRange(t *testing.T) {
	tests := []struct {
		in       string
		n        int
		from, to int
		ok       bool
	}{
		{"1-200", 1204, 1, 200, true},
		{" 20 - 5000 ", 1204, 20, 1204, true},
		{"7", 10, 7, 7, true},
		{"0-5", 10, 0, 0, false},
		{"5-2", 10, 0, 0, false},
		{"11", 10, 0, 0, false},
		{"x", 10, 0, 0, false},
		{"", 10, 0, 0, false},
	}
	for _, tt := range tests {
		from, to, ok := lineRange(tt.in, tt.n)
		if from != tt.from || to != tt.to || ok != tt.ok {
			t.Errorf("%q of %d: got %d-%d %v, want %d-%d %v", tt.in, tt.n, from, to, ok, tt.from, tt.to, tt.ok)
		}
	}
}

func TestSettingsOutOfBounds(t *testing.T) {
	got := Settings{Appearance: "pink", TextScale: 50, Threshold: -1, StateWidth: 3, Width: 1, Height: 1e9}.checked()
	want := DefaultSettings()
	if got.Appearance != want.Appearance || got.TextScale != want.TextScale || got.Threshold != want.Threshold ||
		got.StateWidth != want.StateWidth || got.Width != want.Width || got.Height != want.Height {
		t.Errorf("got %+v, want the defaults", got)
	}
	if d := DefaultSettings(); d.checked().Threshold != d.Threshold || d.checked().Width != d.Width {
		t.Error("defaults: got other values, want them as they are")
	}
}
