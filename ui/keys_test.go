package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

func TestEveryActionHasAKey(t *testing.T) {
	w, e := ticketWindow(t)
	press := func(k fyne.KeyName, mod fyne.KeyModifier) {
		w.win.Canvas().(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: k, Modifier: command() | mod})
	}
	before, _ := e.count()
	w.page.focusState()
	w.page.state.entry.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: command()})
	settle(w.page)
	if asked, _ := e.count(); asked != before+1 {
		t.Errorf("decide from the editor: got %d decisions, want 1", asked-before)
	}
	live := w.page.liveOn()
	press(fyne.KeyL, 0)
	if w.page.liveOn() == live {
		t.Error("live: got no change")
	}
	settle(w.page)
	press(fyne.Key2, 0)
	if c := cardOf(t, w, 1); c.cell != c.head.title {
		t.Error("second question: got no edit in its title")
	}
	press(fyne.KeyComma, 0)
	if w.page.sheet == nil || w.page.sheet.title.full != "Settings" {
		t.Error("settings: got no sheet")
	}
	w.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.page.sheet != nil {
		t.Error("Escape: got the sheet still")
	}
	press(fyne.KeyN, 0)
	if !w.page.doc.Empty() {
		t.Error("new case: got the old one")
	}
	settle(w.page)
}

func TestTabReachesEverything(t *testing.T) {
	w, _ := ticketWindow(t)
	c := w.win.Canvas()
	c.Unfocus()
	seen := map[fyne.Focusable]bool{}
	for range 200 {
		if e, ok := c.Focused().(*inline); ok {
			e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
		} else {
			c.FocusNext()
		}
		if c.Focused() == fyne.Focusable(w.page.toolbar.model) && len(seen) > 5 {
			break
		}
		seen[c.Focused()] = true
	}
	p := w.page
	for what, o := range map[string]fyne.Focusable{
		"model": p.toolbar.model, "samples": p.toolbar.samples, "paste": p.toolbar.paste, "inspect": p.toolbar.inspect,
		"copy as": p.toolbar.copyAs, "live": p.toolbar.live, "decide": p.toolbar.decide, "state": p.state.entry,
		"file": p.state.file, "image": p.state.image, "question": p.questions.add, "threshold": p.questions.threshold,
		"endpoint": p.status.endpoint, "kind": cardOf(t, w, 0).head.kind, "card menu": cardOf(t, w, 0).head.more,
		"option": cardOf(t, w, 0).foot.add, "last card": cardOf(t, w, 2).foot.add,
	} {
		if !seen[o] {
			t.Errorf("%s: got passed over by Tab", what)
		}
	}
}

func TestUndoReachesTheEditor(t *testing.T) {
	w, _ := ticketWindow(t)
	before := w.page.doc.State().Text
	w.page.focusState()
	test.Type(w.page.state.entry, "xyz")
	w.page.state.entry.TypedShortcut(&fyne.ShortcutUndo{})
	if got := w.page.state.entry.Text; got != before {
		t.Errorf("got %q, want the text from before", got)
	}
	w.page.state.entry.TypedShortcut(&fyne.ShortcutRedo{})
	if got := w.page.state.entry.Text; got != "xyz"+before {
		t.Errorf("redo: got %q", got)
	}
}
