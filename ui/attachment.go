package ui

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"clefbar/ui/document"
)

// previewLines is how many lines of an attachment its card shows.
const previewLines = 6

// attachmentCard is a long text kept beside the editor: name, size, the first lines,
// and ways to open it or take it out.
type attachmentCard struct {
	figure
	key     document.Key
	compact bool // without the preview
	bytes   int
	size    string // lines and bytes

	back, shade *canvas.Rectangle
	rule        *canvas.Rectangle
	icon        *icon
	name, meta  *label
	open        *button
	remove      *iconButton
	numbers     []*label
	lines       []*label
}

var _ drawn = (*attachmentCard)(nil)

func newAttachmentCard(p *page, a document.Attachment) *attachmentCard {
	c := &attachmentCard{key: a.Key, bytes: len(a.Text), size: attachmentMeta(a.Text), back: newRect(10), shade: newRect(0), rule: newRect(0)}
	c.icon = newIcon("file", colorInk2)
	c.name = newLabel(a.Name, colorInk, 13, bold)
	c.meta = newLabel(c.size, colorInk3, 12, regular)
	c.open = newButton(rankLink, "", "Open", func() { p.openAttachment(a.Key) })
	c.remove = newIconButton("close", "Take it out", func() { p.doc.RemoveAttachment(a.Key) })
	c.parts = []fyne.CanvasObject{c.back, c.shade, c.rule, c.icon.Image, c.name.Text, c.meta.Text, c.open, c.remove}
	for i, line := range firstLines(a.Text, previewLines) {
		n := newLabel(fmt.Sprint(i+1), colorInk3, 11, mono)
		l := newLabel(line, colorInk2, 11, mono)
		c.numbers, c.lines = append(c.numbers, n), append(c.lines, l)
		c.parts = append(c.parts, n.Text, l.Text)
	}
	c.ExtendBaseWidget(c)
	return c
}

func attachmentMeta(text string) string {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	return plural(lines, "line", "lines") + "   " + bytesText(int64(len(text)))
}

// setTokens tells roughly what the text costs, as far as it is known.
func (c *attachmentCard) setTokens(n int) {
	text := c.size
	if n > 0 {
		lines, _, _ := strings.Cut(c.size, "   ")
		text = lines + "   about " + thousands(n) + " tokens"
	}
	if c.meta.full != text {
		c.meta.set(text)
		c.Refresh()
	}
}

// firstLines returns the beginnings of the first n lines.
func firstLines(text string, n int) []string {
	var lines []string
	for len(lines) < n && text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		if len(line) > 400 {
			line = strings.ToValidUTF8(line[:400], "")
		}
		lines = append(lines, strings.TrimSuffix(line, "\r"))
		text = rest
	}
	return lines
}

// CreateRenderer builds the drawing.
func (c *attachmentCard) CreateRenderer() fyne.WidgetRenderer { return newDrawing(c) }

func (c *attachmentCard) paint() {
	c.back.FillColor = themeColor(colorSurface)
	c.back.StrokeColor, c.back.StrokeWidth = themeColor(colorLine), 1
	c.back.CornerRadius = dp(10)
	c.shade.FillColor = themeColor(colorBg)
	c.shade.BottomLeftCornerRadius, c.shade.BottomRightCornerRadius = dp(9), dp(9)
	c.rule.FillColor = themeColor(colorLine)
	c.icon.paint()
	c.name.paint()
	c.meta.paint()
	for i := range c.lines {
		c.lines[i].paint()
		c.numbers[i].paint()
	}
}

const attachmentHead = 57

func (c *attachmentCard) least() fyne.Size {
	h := dp(attachmentHead)
	if !c.compact && len(c.lines) > 0 {
		h += dp(16) + float32(len(c.lines))*dp(18)
	}
	return fyne.NewSize(dp(200), h)
}

func (c *attachmentCard) arrange(size fyne.Size) {
	head := dp(attachmentHead)
	put(c.back, 0, 0, size.Width, size.Height)
	body := size.Height > head+dp(4)
	show(c.shade, body)
	show(c.rule, body)
	put(c.rule, 1, head, size.Width-2, 1)
	put(c.shade, 1, head+1, size.Width-2, max(0, size.Height-head-2))
	putIcon(c.icon, dp(22), head/2)
	put(c.remove, size.Width-dp(34), head/2-dp(14), dp(28), dp(28))
	x := placeLeftOf(c.open, size.Width-dp(36), head)
	c.name.place(dp(43), dp(9), max(0, x-dp(51)), dp(20))
	c.meta.place(dp(43), dp(28), max(0, x-dp(51)), dp(18))
	for i := range c.lines {
		show(c.lines[i].Text, body)
		show(c.numbers[i].Text, body)
		y := head + dp(8) + float32(i)*dp(18)
		c.numbers[i].placeRight(dp(24), y, dp(24), dp(18))
		c.lines[i].place(dp(36), y, size.Width-dp(44), dp(18))
	}
}
