package ui

import (
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"

	"clefbar/assets"
	"clefbar/ui/document"
)

// Window is the one window of the app and the model of its menus. Make it with
// [New] before the app runs; Show brings it forward.
type Window struct {
	app   fyne.App
	win   fyne.Window
	page  *page
	theme *Theme
	menus *menus

	glyph   assets.Glyph
	onGlyph func(assets.Glyph)
	onHide  func()
	shown   bool
	hides   bool // closing hides
	closed  atomic.Bool
}

// New builds the window and opens the case that was open last, or the first sample
// on a first run. It takes the app's theme over.
func New(a fyne.App, d Deps) *Window {
	s := d.Settings.checked()
	w := &Window{app: a, theme: &Theme{Appearance: s.Appearance, TextScale: s.TextScale}}
	a.Settings().SetTheme(w.theme)
	animationsOff = !s.Animations
	w.win = a.NewWindow("Clefbar")
	w.win.SetIcon(assets.AppIcon())
	w.win.SetPadded(false)
	w.page = newPage(w, d, s)
	tipLayer = w.page.tip
	w.win.SetContent(w.page)
	w.win.Resize(fyne.NewSize(s.Width, s.Height))
	w.menus = newMenus(w.page)
	w.win.SetMainMenu(w.menus.main)
	w.win.SetOnDropped(func(_ fyne.Position, files []fyne.URI) { w.page.dropped(files) })
	w.addShortcuts()
	w.win.Canvas().SetOnTypedKey(w.typedKey)
	w.page.start()
	d.Models.Watch(w.later(modelWait, w.page.modelChanged))
	d.Endpoint.Watch(w.later(endpointWait, w.page.endpointChanged))
	return w
}

// How long news wait for more of the same: a download tells its progress often, and
// a busy endpoint would rebuild the menus with every request.
const (
	modelWait    = 20 * time.Millisecond
	endpointWait = 200 * time.Millisecond
)

// later makes f run on the UI goroutine after a while, once for however many calls,
// as long as the window is open. Afterwards Fyne would run it at once, on the
// caller's goroutine and under the caller's locks.
func (w *Window) later(wait time.Duration, f func()) func() {
	var pending atomic.Bool
	return func() {
		if w.closed.Load() || !pending.CompareAndSwap(false, true) {
			return
		}
		time.AfterFunc(wait, func() {
			w.page.later(func() {
				pending.Store(false)
				f()
			})
		})
	}
}

// start opens the case of the last time, or on a first run a sample.
func (p *page) start() {
	d := p.deps
	if d.Cases != nil {
		c, aside := d.Cases.Restore()
		if c != nil {
			p.open(c)
		}
		for _, path := range aside {
			defer p.say("A saved case could not be read; it was put aside as " + path)
		}
	}
	switch {
	case p.doc != nil:
	case len(d.Samples) > 0 && (d.FirstRun || d.Cases != nil && len(d.Cases.Recent(1)) == 0):
		p.openSample(d.Samples[0])
	default:
		p.keep(document.New())
	}
	p.wantAnswer = !p.doc.Empty()
	p.modelChanged()
}

// Show brings the window to the front.
func (w *Window) Show() {
	w.shown = true
	w.win.Show()
	w.win.RequestFocus()
}

// Hide takes the window off the screen; the endpoint goes on answering.
func (w *Window) Hide() {
	w.rememberSize()
	w.shown = false
	w.win.Hide()
	if w.onHide != nil {
		w.onHide()
	}
	if p := w.page; !p.settings.ToldHiding {
		p.settings.ToldHiding = true
		p.save()
		w.app.SendNotification(fyne.NewNotification("Clefbar is still here", "Closing the window hides it. The menu-bar item opens it again and quits."))
	}
}

// Shown reports whether the window is on the screen.
func (w *Window) Shown() bool { return w.shown }

// OnHide is called when the window has been hidden.
func (w *Window) OnHide(f func()) { w.onHide = f }

// HideOnClose makes closing the window hide it. Only for apps with a menu-bar item:
// without one nothing would bring the window back.
func (w *Window) HideOnClose() {
	w.hides = true
	w.win.SetCloseIntercept(w.Hide)
}

// leave is Close Window: it hides, or without a menu-bar item closes.
func (w *Window) leave() {
	if w.hides {
		w.Hide()
		return
	}
	w.win.Close()
}

// Native returns Fyne's window, for what only the app may do with it.
func (w *Window) Native() fyne.Window { return w.win }

// Close stops what runs, waits for it and keeps what was chosen. The window is of
// no use afterwards.
func (w *Window) Close() {
	w.closed.Store(true)
	w.rememberSize()
	w.page.run.close()
	w.page.counter.close()
}

func (w *Window) rememberSize() {
	size := w.win.Canvas().Size()
	p := w.page
	if size.Width > 0 && (size.Width != p.settings.Width || size.Height != p.settings.Height) {
		p.settings.Width, p.settings.Height = size.Width, size.Height
		p.save()
	}
}

// showTitle names the case in the title bar, with a mark while it is not saved.
func (w *Window) showTitle() {
	title := w.page.doc.Title()
	if w.page.doc.FilePath() != "" && w.page.doc.Edited() {
		title += " — edited"
	}
	if w.onShelf() != nil {
		title = "Models"
	}
	if w.win.Title() != title {
		w.win.SetTitle(title)
	}
}

// typedKey takes keys that nothing has the focus for.
func (w *Window) typedKey(k *fyne.KeyEvent) {
	if k.Name != fyne.KeyEscape {
		return
	}
	if w.page.sheet != nil {
		w.page.sheet.close()
		return
	}
	if s := w.onShelf(); s != nil {
		s.leave()
		return
	}
	w.page.escape()
}

// modelChanged is called when a model is chosen, opening, ready or has failed.
func (p *page) modelChanged() {
	state := p.deps.Models.State()
	switch {
	case state.Phase != PhaseReady:
		p.modelID = ""
		if p.run.running() && p.run.model != state.ID {
			p.wantAnswer = true
			p.run.cancel()
		}
	case p.modelID != state.ID:
		p.modelID = state.ID
		p.failure = nil
		p.counter.soon()
		if !p.run.running() && (p.wantAnswer || p.liveOn() || p.outcome != nil) {
			p.wantAnswer = false
			p.run.start()
		}
	}
	p.window.menus.update()
	p.refresh()
	p.window.glyphChanged()
}

// endpointChanged is called when the endpoint goes on, off, or has answered.
func (p *page) endpointChanged() {
	p.window.menus.update()
	p.showStatus()
	p.window.glyphChanged()
}
