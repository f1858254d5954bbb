package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// rank is how strongly a button asks to be pressed.
type rank uint8

const (
	rankPrimary rank = iota // the main action of what is on screen
	rankOutline             // an action
	rankQuiet               // an action that need not be seen: fill on hover only
	rankLink                // a text in accent
	rankMuted               // a text in ink2
)

const (
	buttonTall  = 32 // in the toolbar
	buttonUsual = 28
	buttonText  = 24 // text buttons
)

// button is every button of the window: an icon, a text, a second text in a
// quieter colour (a key, a size) and a chevron, each optional.
type button struct {
	control
	rank    rank
	height  float32
	chevron bool
	compact bool // no padding beside the text: for links in a line

	back        *canvas.Rectangle
	text, extra *label
	icon, arrow *icon
	iconName    string
}

var _ drawn = (*button)(nil)

func newButton(r rank, iconName, text string, tap func()) *button {
	b := &button{rank: r, height: buttonUsual, iconName: iconName, back: newRect(8)}
	size := float32(13)
	if r == rankLink || r == rankMuted {
		b.height, size = buttonText, 12
	}
	b.onTap = tap
	b.text = newLabel(text, colorInk, size, regular)
	b.extra = newLabel("", colorInk3, 13, regular)
	b.parts = []fyne.CanvasObject{b.back, b.text.Text, b.extra.Text}
	if iconName != "" {
		b.icon = newIcon(iconName, colorInk)
		b.parts = append(b.parts, b.icon.Image)
	}
	b.arrow = newIcon("chevron", colorInk2)
	b.parts = append(b.parts, b.arrow.Image)
	b.ExtendBaseWidget(b)
	b.paint()
	return b
}

// CreateRenderer builds the drawing.
func (b *button) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *button) tall() *button {
	b.height = buttonTall
	b.paint() // its text may be bold now, and wider
	return b
}

func (b *button) withChevron() *button { b.chevron = true; return b }

func (b *button) withExtra(s string) *button { b.extra.set(s); return b }

func (b *button) snug() *button { b.compact = true; return b }

// set changes text, second text and rank at once.
func (b *button) set(r rank, text, extra string) {
	if b.rank == r && b.text.full == text && b.extra.full == extra {
		return
	}
	b.rank = r
	b.text.set(text)
	b.extra.set(extra)
	b.paint()
	b.Refresh()
}

func (b *button) paint() {
	style, ink, quiet := regular, colorInk, colorInk3
	fill, stroke := color.Color(color.Transparent), color.Color(nil)
	switch {
	case b.disabled && b.rank <= rankOutline:
		style, ink, fill = bold, colorInk3, themeColor(colorRaised)
	case b.disabled:
		ink = colorInk3
	case b.rank == rankPrimary:
		style, ink, quiet, fill = bold, colorOnAccent, colorOnAccent, themeColor(colorAccent)
	case b.rank == rankOutline:
		fill, stroke = themeColor(colorSurface), themeColor(colorLine)
	case b.rank == rankLink:
		ink = colorAccent
	default:
		ink = colorInk2
	}
	if b.rank == rankOutline && b.height == buttonTall {
		style = bold
	}
	if b.hovered && !b.disabled {
		fill = b.hoverFill(fill)
	}
	b.text.recolor(ink, style)
	b.extra.recolor(quiet, regular)
	if quiet == colorOnAccent {
		b.extra.Color = mixed(themeColor(colorOnAccent), themeColor(colorAccent), 0.8)
	}
	b.arrow.become("chevron", ink)
	if b.icon != nil {
		b.icon.become(b.iconName, ink)
	}
	b.back.CornerRadius = dp(8)
	b.back.FillColor, b.back.StrokeColor, b.back.StrokeWidth = fill, stroke, 0
	if stroke != nil {
		b.back.StrokeWidth = 1
	}
	if b.focused {
		b.back.StrokeColor, b.back.StrokeWidth = themeColor(colorAccent), 1.5
		if b.rank == rankPrimary {
			b.back.StrokeColor = themeColor(colorInk)
		}
	}
}

func (b *button) hoverFill(fill color.Color) color.Color {
	switch b.rank {
	case rankPrimary:
		return mixed(fill, themeColor(colorInk), 0.9)
	case rankLink, rankMuted:
		return fill
	}
	return themeColor(colorRaised)
}

func (b *button) pad() float32 {
	switch {
	case b.compact:
		return 0
	case b.rank == rankLink || b.rank == rankMuted:
		return dp(4)
	case b.height == buttonTall && b.rank <= rankOutline:
		return dp(14)
	case b.rank == rankQuiet:
		return dp(8)
	}
	return dp(10)
}

func (b *button) least() fyne.Size {
	w := 2*b.pad() + b.text.width()
	if b.icon != nil {
		w += dp(16)
		if b.text.full != "" {
			w += dp(b.iconGap())
		}
	}
	if b.extra.full != "" {
		w += dp(8) + b.extra.width()
	}
	if b.chevron {
		w += dp(6 + 16 - 2)
	}
	return fyne.NewSize(w, dp(b.height))
}

func (b *button) iconGap() float32 {
	if b.rank == rankLink || b.rank == rankMuted {
		return 6
	}
	return 8
}

func (b *button) arrange(size fyne.Size) {
	put(b.back, 0, 0, size.Width, size.Height)
	least := b.least()
	x := b.pad()
	if spare := size.Width - least.Width; spare > 0 && !b.chevron {
		x += spare / 2
	}
	if b.icon != nil {
		putIcon(b.icon, x+dp(8), size.Height/2)
		x += dp(16)
		if b.text.full != "" {
			x += dp(b.iconGap())
		}
	}
	room := size.Width - x - b.pad()
	if b.chevron {
		room -= dp(20)
	}
	if b.extra.full != "" {
		room -= dp(8) + b.extra.width()
	}
	x += b.text.place(x, 0, max(0, room)+1, size.Height)
	if b.extra.full != "" {
		x += dp(8)
		x += b.extra.place(x, 0, b.extra.width()+1, size.Height)
	}
	show(b.arrow.Image, b.chevron)
	putIcon(b.arrow, x+dp(6)+dp(8), size.Height/2)
}

// mixed returns a share of one colour over another.
func mixed(over, under color.Color, share float64) color.Color {
	r, g, b, _ := over.RGBA()
	R, G, B, _ := under.RGBA()
	mix := func(a, b uint32) uint8 { return uint8((float64(a)*share + float64(b)*(1-share)) / 257) }
	return color.NRGBA{mix(r, R), mix(g, G), mix(b, B), 0xFF}
}
