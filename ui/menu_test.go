package ui

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"clefbar/assets"
	"clefbar/engine"
	"clefbar/ui/document"
)

func TestEndpointInTheStatusLine(t *testing.T) {
	d, _, _, b := testDeps()
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	check := func(want string, dot bool) {
		t.Helper()
		if v := w.page.status.view; v.endpoint != want || v.dot != dot {
			t.Errorf("got %q %v, want %q %v", v.endpoint, v.dot, want, dot)
		}
	}
	check("Endpoint on :2533", true)
	test.Tap(w.page.status.endpoint)
	menu, ok := w.win.Canvas().Overlays().Top().(*popMenu)
	if !ok {
		t.Fatal("got no menu")
	}
	test.Tap(menu.rows[0])
	during(2 * endpointWait)
	if b.state.On {
		t.Fatal("got the endpoint on, want one click to stop it")
	}
	check("Endpoint off", false)
	b.state.On, b.state.Err = true, fmt.Errorf("port 2533 is taken by another program")
	b.watch()
	during(2 * endpointWait)
	check("Endpoint off: Port 2533 is taken by another program.", false)
}

func TestRecentCaseComesBack(t *testing.T) {
	d, _, _, _ := testDeps()
	store, err := document.OpenStore(t.TempDir(), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	d.Cases = store
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	w.page.newCase()
	test.Type(w.page.state.entry, "the first story")
	w.page.newCase()
	settle(w.page)
	if err := store.Flush(); err != nil {
		t.Fatal(err)
	}
	items := w.menus.recentItems()
	if !strings.HasPrefix(items[0].Label, "the first story") {
		t.Fatalf("got %q, want the first case", items[0].Label)
	}
	items[0].Action()
	settle(w.page)
	if got := w.page.state.entry.Text; got != "the first story" {
		t.Errorf("got %q", got)
	}
}

func TestTrayMenuAsDesigned(t *testing.T) {
	w, _ := ticketWindow(t)
	var got []string
	for _, item := range w.TrayMenu().Items {
		if item.IsSeparator {
			got = append(got, "-")
			continue
		}
		got = append(got, item.Label)
	}
	want := "Clef-flash 4-bit · ready · 6.2 GB|-|Open Clefbar|Decide Clipboard|-|Model|Unload|-|Endpoint|Recent|-|Settings…|About Clefbar|-|Quit Clefbar"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if !w.TrayMenu().Items[0].Disabled {
		t.Error("status line: got a row that can be chosen")
	}
	items := w.menus.modelItems()
	if !items[1].Checked || items[0].Checked {
		t.Error("models: got the wrong one ticked")
	}
	for _, item := range w.TrayMenu().Items {
		if item.IsSeparator || item.Label == "Open Clefbar" {
			continue
		}
		if !inMenuBar(w, item.Label) {
			t.Errorf("%s: got no such item in the window's menu bar", item.Label)
		}
	}
}

func inMenuBar(w *Window, label string) bool {
	for _, m := range w.menus.main.Items {
		for _, item := range m.Items {
			if item.Label == label {
				return true
			}
		}
	}
	return false
}

func TestGlyphTellsTheState(t *testing.T) {
	w, e := ticketWindow(t)
	var got []string
	w.OnGlyph(func(g assets.Glyph) { got = append(got, string(g)) })
	e.mu.Lock()
	e.err = &engine.Error{Reason: engine.Device, Message: "x"}
	e.mu.Unlock()
	w.page.decide()
	settle(w.page)
	if want := "glyph-idle glyph-thinking glyph-error"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestGlyphShowsTraffic(t *testing.T) {
	d, _, _, b := testDeps()
	w := testWindow(t, d, 1178, 730)
	settle(w.page)
	idle := w.glyphNow()
	b.state.Busy = true
	if got := w.glyphNow(); got != assets.GlyphThinking || idle == got {
		t.Errorf("while a program is answered: got %s after %s, want %s", got, idle, assets.GlyphThinking)
	}
}
