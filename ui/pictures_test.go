package ui

import (
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

var pictures = flag.String("pictures", "", "folder to draw every screen into, light and dark, at 2x")

// testWindow is a window of the given size on the test driver.
func testWindow(t *testing.T, d Deps, w, h float32) *Window {
	t.Helper()
	a := test.NewTempApp(t)
	win := New(a, d)
	win.win.Resize(fyne.NewSize(w, h))
	t.Cleanup(win.win.Close)
	return win
}

// settle lets timers and workers of a test come to rest.
func settle(p *page) {
	p.run.work.Wait()
	time.Sleep(countDelay + 30*time.Millisecond)
	p.counter.work.Wait()
}

func draw(t *testing.T, w *Window, name string) {
	t.Helper()
	if c, ok := w.win.Canvas().(interface{ SetScale(float32) }); ok {
		c.SetScale(2)
	}
	if err := os.MkdirAll(*pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(*pictures, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, w.win.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}

func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("draws only with -pictures FOLDER")
	}
	macKeys = true
	for _, a := range []Appearance{AppearanceLight, AppearanceDark} {
		d, _, _, _ := testDeps()
		d.Settings.Appearance = a
		d.FirstRun = true
		w := testWindow(t, d, 1180, 732)
		settle(w.page)
		w.page.refresh()
		draw(t, w, "main-"+string(a))
	}
}
