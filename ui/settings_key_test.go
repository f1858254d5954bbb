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
