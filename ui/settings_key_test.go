package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
)

func TestSettingsAskForAKey(t *testing.T) {
	d, _, _, b := testDeps()
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	w.page.openSettings()
	body := w.page.sheet.body.(*container.Scroll).Content.(*settingsBody)
	var row settingRow
	for _, r := range body.rows {
		if r.name.full == "Key" {
			row = r
		}
	}
	k := row.control.(*keyControl)
	if k.copy.Visible() || k.ask.on {
		t.Error("a key is shown that nobody asks for")
	}
	test.Tap(k.ask)
	if !b.state.Key || !k.copy.Visible() || row.note.full != keyNote(true) {
		t.Errorf("on: got %+v, %q", b.state, row.note.full)
	}
	test.Tap(k.copy)
	(<-handed)()
	if got := fyne.CurrentApp().Clipboard().Content(); got != "clef_key" || k.copy.text.full != "Copied" {
		t.Errorf("copied %q, the button says %q", got, k.copy.text.full)
	}
	test.Tap(k.ask)
	if b.state.Key || k.copy.Visible() {
		t.Error("the key is still asked for")
	}
	bottom := row.control.Position().Y + row.control.Size().Height
	if bottom > body.Size().Height {
		t.Errorf("the row ends at %v in a sheet of %v", bottom, body.Size().Height)
	}
}

func TestSettingsOfTheShelf(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	d.Shelf = store
	w := testWindow(t, d, 760, 520)
	settle(w.page)
	controls := func() map[string]settingRow {
		w.page.openSettings()
		rows := map[string]settingRow{}
		for _, r := range w.page.sheet.body.(*container.Scroll).Content.(*settingsBody).rows {
			rows[r.name.full] = r
		}
		return rows
	}
	rows := controls()
	network := rows["Downloads"].control.(*toggle)
	if !network.on || rows["Models"].note.full != "/Users/you/.cache/huggingface/hub" || rows["Models"].control.(*button).Disabled() {
		t.Errorf("got %v, %q", network.on, rows["Models"].note.full)
	}
	test.Tap(network)
	if len(store.done) != 1 || store.done[0] != "offline true" {
		t.Errorf("done %v", store.done)
	}
	store.fixed, store.machine.NoSwitch = true, true
	rows = controls()
	if n := rows["Downloads"].control.(*toggle); !n.Disabled() || n.on || !rows["Models"].control.(*button).Disabled() {
		t.Error("what the environment says can be changed")
	}
}
