package ui

import (
	"slices"
	"sort"
	"strings"

	"fyne.io/fyne/v2"
)

// paragraph is a short text of the program itself, wrapped at words, 20 dp a line
// at 13 dp type.
type paragraph struct {
	figure
	text  string
	token fyne.ThemeColorName
	size  float32
	lines []*label
}

var _ drawn = (*paragraph)(nil)

func newParagraph(text string, token fyne.ThemeColorName, size float32) *paragraph {
	p := &paragraph{text: text, token: token, size: size}
	p.ExtendBaseWidget(p)
	return p
}

// CreateRenderer builds the drawing.
func (p *paragraph) CreateRenderer() fyne.WidgetRenderer { return newDrawing(p) }

func (p *paragraph) set(text string) {
	if p.text != text {
		p.text = text
		p.Refresh()
	}
}

// recolor changes the colour of the whole text.
func (p *paragraph) recolor(token fyne.ThemeColorName) {
	p.token = token
	for _, l := range p.lines {
		l.token = token
	}
	p.paint()
}

func (p *paragraph) lineHeight() float32 { return dp(p.size * 20 / 13) }

// heightAt is the height the text takes at a width.
func (p *paragraph) heightAt(width float32) float32 {
	return float32(len(wrapWords(p.text, width, dp(p.size)))) * p.lineHeight()
}

func (p *paragraph) paint() {
	for _, l := range p.lines {
		l.paint()
	}
}

func (p *paragraph) least() fyne.Size { return fyne.NewSize(dp(40), p.lineHeight()) }

func (p *paragraph) arrange(size fyne.Size) {
	lines := wrapWords(p.text, size.Width, dp(p.size))
	if !slices.EqualFunc(lines, p.lines, func(s string, l *label) bool { return s == l.full }) {
		p.lines, p.parts = nil, nil
		for _, line := range lines {
			l := newLabel(line, p.token, p.size, regular)
			p.lines = append(p.lines, l)
			p.parts = append(p.parts, l.Text)
		}
	}
	for i, l := range p.lines {
		l.place(0, float32(i)*p.lineHeight(), size.Width+1, p.lineHeight())
	}
}

// wrapWords breaks a text into lines no wider than width, at spaces where it can. A word that is wider than a line, such
// as a path, is broken where the line ends.
func wrapWords(text string, width, size float32) []string {
	var lines []string
	for para := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range strings.Fields(para) {
			longer := word
			if line != "" {
				longer = line + " " + word
			}
			if line != "" && textWidth(longer, size, regular) > width {
				lines = append(lines, line)
				longer = word
			}
			for line = longer; width > 0 && textWidth(line, size, regular) > width; {
				n := roomFor(line, width, size)
				lines, line = append(lines, line[:n]), line[n:]
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// roomFor is how many bytes of a word fit into a line, whole characters and at least one.
func roomFor(word string, width, size float32) int {
	runes := []rune(word)
	n := sort.Search(len(runes)-1, func(n int) bool { return textWidth(string(runes[:n+2]), size, regular) > width })
	return len(string(runes[:n+1]))
}
