package main

import (
	"clefbar/assets"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

func hasTray() bool { return true }

// trayIcon is a template image: AppKit colours it for light, dark and highlighted menu bars.
func trayIcon(_ fyne.App, g assets.Glyph) fyne.Resource { return theme.NewThemedResource(g.SVG()) }
