package ui

import (
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
)

// macKeys says whether keys are written and pressed the Mac's way.
var macKeys = runtime.GOOS == "darwin"

// command is the modifier of menu shortcuts: ⌘, or Ctrl elsewhere.
func command() fyne.KeyModifier {
	if runtime.GOOS == "darwin" {
		return fyne.KeyModifierSuper
	}
	return fyne.KeyModifierControl
}

var keySigns = map[fyne.KeyName]string{
	fyne.KeyReturn: "↩", fyne.KeyUp: "↑", fyne.KeyDown: "↓", fyne.KeyEscape: "Esc", fyne.KeyComma: ",",
}

// keyText writes a shortcut as it stands in menus: ⌘↩, or Ctrl+↩.
func keyText(k fyne.KeyName, mod fyne.KeyModifier) string {
	sign, ok := keySigns[k]
	if !ok {
		sign = string(k)
	}
	parts := []struct {
		mod        fyne.KeyModifier
		mac, other string
	}{
		{fyne.KeyModifierAlt, "⌥", "Alt+"},
		{fyne.KeyModifierShift, "⇧", "Shift+"},
		{fyne.KeyModifierControl | fyne.KeyModifierSuper, "⌘", "Ctrl+"},
	}
	var b strings.Builder
	for _, p := range parts {
		switch {
		case mod&p.mod == 0:
		case macKeys:
			b.WriteString(p.mac)
		default:
			b.WriteString(p.other)
		}
	}
	return b.String() + sign
}
