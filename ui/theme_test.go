package ui

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// luminance is the relative luminance of WCAG 2.1.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.03928 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrast(t *testing.T) {
	tests := []struct {
		ink, ground fyne.ThemeColorName
		least       float64
	}{
		{colorInk, colorBg, 4.5},
		{colorInk, colorSurface, 4.5},
		{colorInk, colorRaised, 4.5},
		{colorInk2, colorSurface, 4.5},
		{colorInk2, colorRaised, 4.5},
		{colorInk2, colorAccentSoft, 4.5},
		{colorInk2, colorAmberSoft, 4.5},
		{colorInk2, colorBg, 4.5},
		{colorInk3, colorBg, 4.5},
		{colorInk3, colorSurface, 4.5},
		{colorInk3, colorRaised, 4.5},
		{colorAccent, colorSurface, 4.5},
		{colorAccent, colorBg, 4.5},
		{colorOnAccent, colorAccent, 4.5},
		{colorAmber, colorSurface, 4.5},
		{colorAmber, colorAmberSoft, 4.5},
		{colorRed, colorSurface, 4.5},
		{colorRed, colorRedSoft, 4.5},
		{colorGood, colorSurface, 4.5},
		{colorGood, colorGoodSoft, 4.5},
		{colorInk, colorGoodSoft, 4.5},
		{colorInk2, colorGoodSoft, 4.5},
		{colorInk, colorRedSoft, 4.5},
		{colorInk2, colorRedSoft, 4.5},
		{colorFill2, colorTrack, 3},
		{colorAccent, colorTrack, 3},
	}
	th := &Theme{}
	for _, v := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark} {
		for _, tt := range tests {
			if got := contrast(th.Color(tt.ink, v), th.Color(tt.ground, v)); got < tt.least {
				t.Errorf("%s on %s, variant %d: got %.2f : 1, want at least %.1f", tt.ink, tt.ground, v, got, tt.least)
			}
		}
	}
}

func TestSecondTextOfMainButtonCanBeRead(t *testing.T) {
	th := &Theme{}
	for _, v := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark} {
		accent := th.Color(colorAccent, v)
		ink := mixed(th.Color(colorOnAccent, v), accent, 0.8)
		if got := contrast(ink, accent); got < 4.4 {
			t.Errorf("variant %d: got %.2f : 1, want at least 4.4", v, got)
		}
	}
}

func TestThemeMapsEveryStandardColor(t *testing.T) {
	th := &Theme{}
	for name, token := range standard {
		for _, v := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark} {
			if got, want := th.Color(name, v), th.Color(token, v); got != want {
				t.Errorf("%s: got %v, want %v as %s", name, got, want, token)
			}
		}
	}
}

func TestAppearanceOverridesTheSystem(t *testing.T) {
	tests := []struct {
		appearance Appearance
		system     fyne.ThemeVariant
		want       color.Color
	}{
		{AppearanceSystem, theme.VariantLight, color.NRGBA{0xF5, 0xF4, 0xF1, 0xFF}},
		{AppearanceSystem, theme.VariantDark, color.NRGBA{0x19, 0x19, 0x1B, 0xFF}},
		{AppearanceLight, theme.VariantDark, color.NRGBA{0xF5, 0xF4, 0xF1, 0xFF}},
		{AppearanceDark, theme.VariantLight, color.NRGBA{0x19, 0x19, 0x1B, 0xFF}},
	}
	for _, tt := range tests {
		th := &Theme{Appearance: tt.appearance}
		if got := th.Color(theme.ColorNameBackground, tt.system); got != tt.want {
			t.Errorf("%s over variant %d: got %v, want %v", tt.appearance, tt.system, got, tt.want)
		}
	}
}

func TestTextScaleKeepsProportions(t *testing.T) {
	plain, large := &Theme{}, &Theme{TextScale: 1.3}
	for _, name := range []fyne.ThemeSizeName{
		theme.SizeNameText, theme.SizeNameSubHeadingText, theme.SizeNameCaptionText, theme.SizeNamePadding, theme.SizeNameInnerPadding,
	} {
		if got, want := large.Size(name)/plain.Size(name), float32(1.3); got < want-0.001 || got > want+0.001 {
			t.Errorf("%s: got %v times as large, want %v", name, got, want)
		}
	}
}
