// Package assets holds what the window is drawn with: the two families of type,
// the icons and the glyphs of the menu bar. Everything is embedded; nothing is
// read from disk at run time. Licences stand beside the fonts.
package assets

import (
	"embed"
	"fmt"

	"fyne.io/fyne/v2"
)

//go:embed fonts/*.ttf
var fonts embed.FS

//go:embed icons/*.svg icons/*.png
var icons embed.FS

// sansLine is the height of a line in type sizes. Inter's own, 1.21, leaves so little
// below the baseline that a fractional scale cuts the tails of g and y.
const sansLine = 1.3

// The fonts of the window. Sans is Inter with tabular figures frozen in, so that
// numbers in a column line up; Mono has no ligatures, so that what the model
// reads is shown character by character.
var (
	Sans     = Loose(must(fonts, "fonts/ClefbarSans-Regular.ttf"), sansLine)
	SansBold = Loose(must(fonts, "fonts/ClefbarSans-SemiBold.ttf"), sansLine)
	Mono     = must(fonts, "fonts/JetBrainsMono-Regular.ttf")
)

// Icon returns the SVG of a 16 × 16 icon by its file name without suffix: strokes and
// fills are #000, for the caller to colour. An unknown name is a slip of the
// programmer and panics.
func Icon(name string) fyne.Resource {
	return must(icons, "icons/"+name+".svg")
}

// AppIcon returns the icon of the app, 512 × 512.
func AppIcon() fyne.Resource {
	return must(icons, "icons/app-icon.png")
}

// Glyph is a state of the menu-bar item, told by the shape of its glyph.
type Glyph string

// The states of the menu-bar item. Thinking has three frames, two a second.
const (
	GlyphIdle      Glyph = "glyph-idle"
	GlyphOff       Glyph = "glyph-off"
	GlyphError     Glyph = "glyph-error"
	GlyphThinking  Glyph = "glyph-thinking"
	GlyphThinking2 Glyph = "glyph-thinking-2"
	GlyphThinking3 Glyph = "glyph-thinking-3"
)

// SVG returns the glyph as black strokes with alpha on a 20 × 18 grid: a template
// image for AppKit.
func (g Glyph) SVG() fyne.Resource {
	return must(icons, "icons/"+string(g)+".svg")
}

// PNG returns the glyph drawn at 60 × 54 for panels that cannot read SVG, in
// white for dark panels or in black.
func (g Glyph) PNG(dark bool) fyne.Resource {
	if dark {
		return must(icons, "icons/"+string(g)+"-white.png")
	}
	return must(icons, "icons/"+string(g)+"-black.png")
}

func must(from embed.FS, path string) fyne.Resource {
	data, err := from.ReadFile(path)
	if err != nil {
		panic(fmt.Sprintf("assets: %v", err))
	}
	return fyne.NewStaticResource(path[len("fonts/"):], data)
}
