package main

import (
	"time"

	"clefbar/assets"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// frameTime is how long one frame of the thinking glyph stands.
const frameTime = 500 * time.Millisecond

// thinking are the frames of the glyph while the model works.
var thinking = []assets.Glyph{assets.GlyphThinking, assets.GlyphThinking2, assets.GlyphThinking3}

// setTray puts the item into the menu bar where there is one. With it, closing the window hides it; without, it quits.
// Called before the app runs, because Fyne makes the tray's hidden window at once.
func (d *desktopApp) setTray() {
	tray, ok := d.app.(desktop.App)
	if !ok || !hasTray() {
		d.app.Lifecycle().SetOnStarted(func() { d.onStarted(false) })
		return
	}
	tray.SetSystemTrayMenu(d.window.TrayMenu())
	g := &trayGlyph{app: d.app, tray: tray}
	d.window.OnGlyph(g.set)
	d.window.HideOnClose()
	d.window.OnHide(func() { showInDock(false) })
	d.app.Lifecycle().SetOnStarted(func() { d.onStarted(true) })
}

func (d *desktopApp) onStarted(tray bool) {
	showInDock(true)
	onReopen(func() { fyne.Do(d.window.Show) })
}

// trayGlyph draws the item's glyph and moves it while the model works. Its methods are for the UI goroutine.
type trayGlyph struct {
	app  fyne.App
	tray desktop.App
	stop chan struct{} // of the animation, nil when it stands still
}

func (g *trayGlyph) set(glyph assets.Glyph) {
	if g.stop != nil {
		close(g.stop)
		g.stop = nil
	}
	g.tray.SetSystemTrayIcon(trayIcon(g.app, glyph))
	if glyph == assets.GlyphThinking && g.app.Settings().ShowAnimations() {
		g.stop = make(chan struct{})
		go g.animate(g.stop)
	}
}

func (g *trayGlyph) animate(stop <-chan struct{}) {
	ticker := time.NewTicker(frameTime)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-ticker.C:
			fyne.Do(func() {
				select {
				case <-stop:
				default:
					g.tray.SetSystemTrayIcon(trayIcon(g.app, thinking[n%len(thinking)]))
				}
			})
		}
	}
}
