package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// shortcut is one thing a person can do by menu or key.
type shortcut struct {
	label string
	key   fyne.KeyName
	mod   fyne.KeyModifier // beside the command key
	run   func()
}

// The actions of the window, each with its key. The menus list them; see menus.go.
func (p *page) actNew() shortcut  { return shortcut{"New Case", fyne.KeyN, 0, p.newCase} }
func (p *page) actOpen() shortcut { return shortcut{"Open…", fyne.KeyO, 0, p.pickCase} }
func (p *page) actSave() shortcut { return shortcut{"Save", fyne.KeyS, 0, p.saveCase} }
func (p *page) actSaveAs() shortcut {
	return shortcut{"Save As…", fyne.KeyS, fyne.KeyModifierShift, p.pickSave}
}

func (p *page) actHide() shortcut   { return shortcut{"Close Window", fyne.KeyW, 0, p.window.leave} }
func (p *page) actDecide() shortcut { return shortcut{"Decide", fyne.KeyReturn, 0, p.decide} }
func (p *page) actJSON() shortcut   { return shortcut{"Request as JSON", fyne.KeyE, 0, p.openJSON} }
func (p *page) actReads() shortcut {
	return shortcut{"What the Model Reads", fyne.KeyE, fyne.KeyModifierShift, p.openReads}
}

func (p *page) actLive() shortcut {
	return shortcut{"Live", fyne.KeyL, 0, func() { p.setLive(!p.liveOn(), true) }}
}

func (p *page) actSettings() shortcut {
	return shortcut{"Settings…", fyne.KeyComma, 0, p.openSettings}
}
func (p *page) actQuit() shortcut { return shortcut{"Quit Clefbar", fyne.KeyQ, 0, p.deps.Quit} }

func (a shortcut) pressed() *desktop.CustomShortcut {
	return &desktop.CustomShortcut{KeyName: a.key, Modifier: command() | a.mod}
}

func (a shortcut) item() *fyne.MenuItem {
	item := fyne.NewMenuItem(a.label, a.run)
	item.Shortcut = a.pressed()
	return item
}

// addShortcuts makes every key work without the menu bar, which an app without a
// Dock icon does not have.
func (w *Window) addShortcuts() {
	p, c := w.page, w.win.Canvas()
	for _, a := range []shortcut{
		p.actNew(), p.actOpen(), p.actSave(), p.actSaveAs(), p.actHide(), p.actDecide(), p.actJSON(),
		p.actReads(), p.actLive(), p.actSettings(), p.actQuit(),
	} {
		c.AddShortcut(a.pressed(), func(fyne.Shortcut) { a.run() })
	}
	for i, k := range questionKeys {
		c.AddShortcut(&desktop.CustomShortcut{KeyName: k, Modifier: command()}, func(fyne.Shortcut) { p.focusQuestion(i + 1) })
	}
	c.AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { p.menuUndo() })
	c.AddShortcut(&fyne.ShortcutRedo{}, func(fyne.Shortcut) { p.menuRedo() })
	c.AddShortcut(&fyne.ShortcutPaste{}, func(s fyne.Shortcut) {
		if paste, ok := s.(*fyne.ShortcutPaste); ok && paste.Clipboard != nil {
			p.pasteAnywhere(paste.Clipboard.Content())
		}
	})
}

// pasteAnywhere takes a paste while nothing has the focus: into the state.
func (p *page) pasteAnywhere(text string) {
	if text == "" || p.pasteState(text) {
		return
	}
	p.focusState()
	p.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: fixedClipboard(text)})
}

var questionKeys = []fyne.KeyName{
	fyne.Key1, fyne.Key2, fyne.Key3, fyne.Key4, fyne.Key5, fyne.Key6, fyne.Key7, fyne.Key8, fyne.Key9,
}
