package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"clefbar/assets"
)

// The colour tokens. The standard names of Fyne map onto them (see standard), so
// that stock widgets and our own agree.
const (
	colorBg         fyne.ThemeColorName = "bg"         // page under cards
	colorSurface    fyne.ThemeColorName = "surface"    // cards, bars, sheets, state pane
	colorRaised     fyne.ThemeColorName = "raised"     // hover, quiet fills, disabled button
	colorLine       fyne.ThemeColorName = "line"       // hairlines, card stroke
	colorTrack      fyne.ThemeColorName = "track"      // bar track
	colorFill2      fyne.ThemeColorName = "fill2"      // bars of other options, off marks
	colorStale      fyne.ThemeColorName = "stale"      // bars from before an edit
	colorInk        fyne.ThemeColorName = "ink"        // text
	colorInk2       fyne.ThemeColorName = "ink2"       // descriptions, other numbers
	colorInk3       fyne.ThemeColorName = "ink3"       // meta, ticks; not on accentsoft
	colorAccent     fyne.ThemeColorName = "accent"     // winner, main action, focus
	colorOnAccent   fyne.ThemeColorName = "onaccent"   // text on accent
	colorAccentSoft fyne.ThemeColorName = "accentsoft" // hints, state text
	colorAmber      fyne.ThemeColorName = "amber"      // practice model, tight, near limit
	colorAmberSoft  fyne.ThemeColorName = "ambersoft"
	colorRed        fyne.ThemeColorName = "red" // errors, over the limit
	colorRedSoft    fyne.ThemeColorName = "redsoft"
	colorGood       fyne.ThemeColorName = "good" // what was checked and holds
	colorGoodSoft   fyne.ThemeColorName = "goodsoft"
	colorDim        fyne.ThemeColorName = "dim" // over the page, under a sheet: #141311 at 38 %
)

type pair struct{ light, dark uint32 }

var tokens = map[fyne.ThemeColorName]pair{
	colorBg:         {0xF5F4F1, 0x19191B},
	colorSurface:    {0xFFFFFF, 0x232326},
	colorRaised:     {0xEFEDE8, 0x2D2D31},
	colorLine:       {0xE2DFD9, 0x37373C},
	colorTrack:      {0xE8E5DF, 0x3A3A3F},
	colorFill2:      {0x858179, 0x8A8780},
	colorStale:      {0xC4C0B8, 0x5A5852},
	colorInk:        {0x1D1C1A, 0xF1F0ED},
	colorInk2:       {0x5C5953, 0xB8B5AF},
	colorInk3:       {0x6E6B65, 0x9C9993},
	colorAccent:     {0x2B54D6, 0x8DA9FF},
	colorOnAccent:   {0xFFFFFF, 0x0F1322},
	colorAccentSoft: {0xE9EEFC, 0x2A3353},
	colorAmber:      {0x8F5400, 0xF0B35B},
	colorAmberSoft:  {0xFBF1DF, 0x392D1B},
	colorRed:        {0xB3261E, 0xFF8F86},
	colorRedSoft:    {0xFBEAE8, 0x402624},
	colorGood:       {0x1F6B3D, 0x7FCB98},
	colorGoodSoft:   {0xE5F2E8, 0x20372A},
}

// standard maps Fyne's colour names onto the tokens.
var standard = map[fyne.ThemeColorName]fyne.ThemeColorName{
	theme.ColorNameBackground:          colorBg,
	theme.ColorNameButton:              colorSurface,
	theme.ColorNameDisabledButton:      colorRaised,
	theme.ColorNameDisabled:            colorInk3,
	theme.ColorNameError:               colorRed,
	theme.ColorNameFocus:               colorAccent,
	theme.ColorNameForeground:          colorInk,
	theme.ColorNameForegroundOnPrimary: colorOnAccent,
	theme.ColorNameForegroundOnError:   colorSurface,
	theme.ColorNameForegroundOnWarning: colorSurface,
	theme.ColorNameHeaderBackground:    colorSurface,
	theme.ColorNameHover:               colorRaised,
	theme.ColorNameHyperlink:           colorAccent,
	theme.ColorNameInputBackground:     colorSurface,
	theme.ColorNameInputBorder:         colorLine,
	theme.ColorNameMenuBackground:      colorSurface,
	theme.ColorNameOverlayBackground:   colorSurface,
	theme.ColorNamePlaceHolder:         colorInk3,
	theme.ColorNamePressed:             colorTrack,
	theme.ColorNamePrimary:             colorAccent,
	theme.ColorNameScrollBar:           colorStale,
	theme.ColorNameScrollBarBackground: colorSurface,
	theme.ColorNameSelection:           colorAccentSoft,
	theme.ColorNameSeparator:           colorLine,
	theme.ColorNameSuccess:             colorGood,
	theme.ColorNameWarning:             colorAmber,
}

// Appearance chooses between the system's light or dark and a fixed one.
type Appearance string

// The appearances of the settings sheet.
const (
	AppearanceSystem Appearance = "system"
	AppearanceLight  Appearance = "light"
	AppearanceDark   Appearance = "dark"
)

// Theme is Fyne's default theme with the tokens, the type and the measures of
// Clefbar. The zero value follows the system at normal size.
type Theme struct {
	Appearance Appearance
	TextScale  float32 // 1 is 13 dp; 0 means 1
}

var _ fyne.Theme = (*Theme)(nil)

// Color returns a token, or the token that a standard name stands for.
func (t *Theme) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	switch t.Appearance {
	case AppearanceLight:
		variant = theme.VariantLight
	case AppearanceDark:
		variant = theme.VariantDark
	}
	switch name {
	case theme.ColorNameShadow:
		return color.Transparent
	case colorDim:
		return color.NRGBA{0x14, 0x13, 0x11, 97}
	}
	if token, ok := standard[name]; ok {
		name = token
	}
	p, ok := tokens[name]
	if !ok {
		return theme.DefaultTheme().Color(name, variant)
	}
	v := p.light
	if variant == theme.VariantDark {
		v = p.dark
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xFF}
}

// Text in editors of several lines is set wider: 22 dp at 15 dp type, 20 at 12 in
// JetBrains Mono. It goes by a tab width, which changes nothing else: Fyne measures
// text by its style and knows nothing of overrides.
const editorTab = 4

var (
	editorStyle = fyne.TextStyle{TabWidth: editorTab}
	codeStyle   = fyne.TextStyle{TabWidth: editorTab, Monospace: true}
	editorFont  = assets.Loose(assets.Sans, 22.0/15)
	codeFont    = assets.Loose(assets.Mono, 20.0/12)
)

// Font returns Clefbar Sans in its two weights, or JetBrains Mono.
func (t *Theme) Font(style fyne.TextStyle) fyne.Resource {
	switch {
	case style.Symbol:
		return theme.DefaultTheme().Font(style)
	case style.Monospace && style.TabWidth == editorTab:
		return codeFont
	case style.Monospace:
		return assets.Mono
	case style.Bold:
		return assets.SansBold
	case style.TabWidth == editorTab:
		return editorFont
	}
	return assets.Sans
}

// Icon returns the default theme's icon.
func (t *Theme) Icon(name fyne.ThemeIconName) fyne.Resource {
	return theme.DefaultTheme().Icon(name)
}

// Size returns the measures of the design at the chosen text size.
func (t *Theme) Size(name fyne.ThemeSizeName) float32 {
	scale := t.TextScale
	if scale == 0 {
		scale = 1
	}
	switch name {
	case theme.SizeNameText:
		return 13 * scale
	case theme.SizeNameSubHeadingText:
		return 15 * scale
	case theme.SizeNameHeadingText:
		return 20 * scale
	case theme.SizeNameCaptionText:
		return 12 * scale
	case theme.SizeNamePadding, theme.SizeNameLineSpacing:
		return 4 * scale
	case theme.SizeNameInnerPadding:
		return 8 * scale
	case theme.SizeNameInputRadius, theme.SizeNameSelectionRadius:
		return 6 * scale
	case theme.SizeNameInputBorder:
		return 1
	case theme.SizeNameInlineIcon:
		return 16 * scale
	case theme.SizeNameScrollBar:
		return 8
	case theme.SizeNameScrollBarSmall:
		return 4
	}
	return theme.DefaultTheme().Size(name)
}

// inUse is the theme of the app, whatever override is being drawn.
func inUse() fyne.Theme { return fyne.CurrentApp().Settings().Theme() }

// themeColor returns the colour of a token in the theme in use.
func themeColor(name fyne.ThemeColorName) color.Color {
	return inUse().Color(name, fyne.CurrentApp().Settings().ThemeVariant())
}

// dp scales a measure of the design, given at 13 dp text, to the text size in
// use, so that larger text keeps the proportions.
func dp(v float32) float32 {
	return v * inUse().Size(theme.SizeNameText) / 13
}
