package ui

import (
	"sort"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// label is one line of text in a theme colour. It ends in an ellipsis where the
// room ends, and stands optically in the middle of its height.
type label struct {
	*canvas.Text
	full  string
	token fyne.ThemeColorName
	size  float32 // dp at normal text size
}

var (
	regular = fyne.TextStyle{}
	bold    = fyne.TextStyle{Bold: true}
	mono    = fyne.TextStyle{Monospace: true}
)

func newLabel(text string, token fyne.ThemeColorName, size float32, style fyne.TextStyle) *label {
	l := &label{Text: &canvas.Text{TextStyle: style}, token: token, size: size}
	l.set(text)
	l.paint()
	return l
}

// set changes the text; line breaks and tabs show as spaces.
func (l *label) set(text string) {
	l.full = oneLine(text)
	l.Text.Text = l.full
}

// paint takes colour and size from the theme.
func (l *label) paint() {
	l.Color = themeColor(l.token)
	l.TextSize = dp(l.size)
}

// recolor changes the token and paints.
func (l *label) recolor(token fyne.ThemeColorName, style fyne.TextStyle) {
	l.token, l.TextStyle = token, style
	l.paint()
}

// width is the width of the whole text.
func (l *label) width() float32 {
	return textWidth(l.full, dp(l.size), l.TextStyle)
}

// place puts the text into a box, cut to its width, and returns the width it took.
// Inter sits 1 dp low in its line, hence the step up.
func (l *label) place(x, y, w, h float32) float32 {
	l.Text.Text = fit(l.full, w, dp(l.size), l.TextStyle)
	min := l.Text.MinSize()
	width := min.Width
	put(l.Text, x, y+(h-min.Height)/2-dp(1)*l.size/13, width, min.Height)
	l.Text.Refresh()
	return width
}

// placeRight is place with the text ending at x.
func (l *label) placeRight(x, y, w, h float32) float32 {
	width := min(l.width(), w)
	return l.place(x-width, y, w, h)
}

func textWidth(s string, size float32, style fyne.TextStyle) float32 {
	if s == "" {
		return 0
	}
	return fyne.MeasureText(s, size, style).Width
}

func lineHeight(size float32, style fyne.TextStyle) float32 {
	return fyne.MeasureText("x", dp(size), style).Height
}

const ellipsis = "…"

// fitMax bounds what is measured: no row of a window shows more characters.
const fitMax = 600

// fit returns s, or its longest beginning that fits with an ellipsis.
func fit(s string, room, size float32, style fyne.TextStyle) string {
	runes := []rune(s)
	long := len(runes) > fitMax
	if long {
		runes = runes[:fitMax]
	}
	if !long && textWidth(s, size, style) <= room+0.5 {
		return s
	}
	n := sort.Search(len(runes), func(n int) bool {
		return textWidth(string(runes[:n+1])+ellipsis, size, style) > room
	})
	if n == 0 {
		if room <= 0 {
			return ""
		}
		return ellipsis
	}
	return strings.TrimRight(string(runes[:n]), " ") + ellipsis
}

var breaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ", "\u2028", " ", "\u2029", " ")

func oneLine(s string) string { return breaks.Replace(s) }
