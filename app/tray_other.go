//go:build !darwin

package main

import (
	"clefbar/assets"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"github.com/godbus/dbus/v5"
)

// hasTray tells whether somebody would show a tray item. Without a session bus Fyne's tray crashes at quit, and without a
// watcher a hidden window could not be brought back.
func hasTray() bool {
	bus, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return false
	}
	defer bus.Close()
	if bus.Auth(nil) != nil || bus.Hello() != nil {
		return false
	}
	var owned bool
	err = bus.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.kde.StatusNotifierWatcher").Store(&owned)
	return err == nil && owned
}

// trayIcon is a picture in the colour that the theme's text has: panels here read no SVG.
func trayIcon(a fyne.App, g assets.Glyph) fyne.Resource {
	return g.PNG(a.Settings().ThemeVariant() == theme.VariantDark)
}
