package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

func TestButtonIsPressedByPointerAndKeys(t *testing.T) {
	lightApp(t)
	pressed := 0
	b := newButton(rankPrimary, "", "Decide", func() { pressed++ })
	test.Tap(b)
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyA})
	if pressed != 3 {
		t.Errorf("got %d presses, want 3", pressed)
	}
	b.Disable()
	test.Tap(b)
	b.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if pressed != 3 {
		t.Error("disabled: got pressed")
	}
	if b.Cursor() != desktop.DefaultCursor {
		t.Error("disabled: got a pointer, want the plain cursor")
	}
}

func TestButtonFitsItsText(t *testing.T) {
	lightApp(t)
	for _, r := range []rank{rankPrimary, rankOutline, rankQuiet, rankLink, rankMuted} {
		b := newButton(r, "plus", "Start the engine again", nil).withExtra("5.0 GB").withChevron()
		b.Resize(b.MinSize())
		test.TempWidgetRenderer(t, b).Layout(b.Size())
		if b.text.Text.Text != "Start the engine again" || b.extra.Text.Text != "5.0 GB" {
			t.Errorf("rank %d: got %q and %q, want both whole", r, b.text.Text.Text, b.extra.Text.Text)
		}
		if end := b.arrow.Position().X + b.arrow.Size().Width; end > b.Size().Width {
			t.Errorf("rank %d: chevron ends at %v in %v", r, end, b.Size().Width)
		}
	}
}

func TestToggle(t *testing.T) {
	lightApp(t)
	var told []bool
	s := newToggle("Live", func(on bool) { told = append(told, on) })
	test.Tap(s)
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	s.set(true)
	if len(told) != 2 || !told[0] || told[1] {
		t.Errorf("got %v told, want on, off and nothing for set", told)
	}
	if !s.on || s.at != 1 {
		t.Errorf("got on %v at %v, want the knob at its end", s.on, s.at)
	}
}

func TestSlider(t *testing.T) {
	lightApp(t)
	var got float64
	s := newSlider(thresholdLow, thresholdHigh, 0.8, func(v float64) { got = v })
	s.Resize(fyne.NewSize(216, 24))
	for _, tt := range []struct {
		key  fyne.KeyName
		want float64
	}{{fyne.KeyRight, 0.81}, {fyne.KeyLeft, 0.8}, {fyne.KeyDown, 0.79}, {fyne.KeyEnd, 0.99}, {fyne.KeyRight, 0.99}, {fyne.KeyHome, 0.5}, {fyne.KeyLeft, 0.5}} {
		s.TypedKey(&fyne.KeyEvent{Name: tt.key})
		if s.value != tt.want {
			t.Errorf("%s: got %v, want %v", tt.key, s.value, tt.want)
		}
	}
	s.Tapped(&fyne.PointEvent{Position: fyne.NewPos(108, 12)})
	if got < 0.74 || got > 0.75 {
		t.Errorf("tap in the middle: got %v, want the middle", got)
	}
	s.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(900, 12)}})
	if got != thresholdHigh {
		t.Errorf("dragged past the end: got %v, want %v", got, thresholdHigh)
	}
}

func TestSegments(t *testing.T) {
	lightApp(t)
	got := -1
	s := newSegments([]string{"System", "Light", "Dark"}, 0, func(i int) { got = i })
	test.Tap(s.items[2])
	if got != 2 || s.at != 2 {
		t.Errorf("got %d and %d, want 2", got, s.at)
	}
}

func TestPopMenuByKeys(t *testing.T) {
	lightApp(t)
	w := test.NewTempWindow(t, newButton(rankOutline, "", "Menu", nil))
	w.Resize(fyne.NewSize(400, 300))
	ran := ""
	run := func(s string) func() { return func() { ran += s } }
	m := openPopMenu(w.Content(), []menuRow{
		{text: "first", disabled: true, run: run("1")}, {text: "second", run: run("2")}, {line: true}, {text: "third", checked: true, run: run("3")},
	})
	key := func(k fyne.KeyName) { m.TypedKey(&fyne.KeyEvent{Name: k}) }
	key(fyne.KeyReturn)
	if ran != "" {
		t.Errorf("Return with nothing active: got %q run", ran)
	}
	key(fyne.KeyDown)
	if m.active != 1 {
		t.Errorf("down: got row %d, want the first that can be chosen", m.active)
	}
	key(fyne.KeyDown)
	if m.active != 3 {
		t.Errorf("down again: got row %d, want the one after the line", m.active)
	}
	key(fyne.KeyDown)
	key(fyne.KeyUp)
	key(fyne.KeyReturn)
	if ran != "3" {
		t.Errorf("got %q run, want 3", ran)
	}
	if w.Canvas().Overlays().Top() != nil {
		t.Error("after a choice: got the menu still")
	}
	m = openPopMenu(w.Content(), []menuRow{{text: "only"}})
	key(fyne.KeyEscape)
	if w.Canvas().Overlays().Top() != nil {
		t.Error("after Escape: got the menu still")
	}
}

func TestPopMenuStaysInTheWindow(t *testing.T) {
	lightApp(t)
	b := newButton(rankOutline, "", "Menu", nil)
	w := test.NewTempWindow(t, b)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(300, 200))
	var rows []menuRow
	for range 20 {
		rows = append(rows, menuRow{text: "a row with a rather long text in it", detail: "and a detail that is long too"})
	}
	m := openPopMenu(b, rows)
	size := m.panelSize()
	if m.panel.X < 0 || m.panel.Y < 0 || m.panel.X+size.Width > 300 || m.panel.Y+size.Height > 200 {
		t.Errorf("got the panel at %v of %v, want it inside 300 × 200", m.panel, size)
	}
}

func TestSplitIsDraggedWithinBounds(t *testing.T) {
	w, _ := ticketWindow(t)
	p := w.page
	drag := func(dx float32) {
		p.grip.Dragged(&fyne.DragEvent{Dragged: fyne.NewDelta(dx, 0)})
	}
	drag(50)
	if got := p.state.Size().Width; got != 376+50-1 {
		t.Errorf("got %v wide, want %v", got, 376+50-1)
	}
	drag(5000)
	if got, most := p.state.Size().Width, p.Size().Width/2; got > most {
		t.Errorf("got %v wide, want at most half the window, %v", got, most)
	}
	drag(-5000)
	if got := p.state.Size().Width; got != stateLeast-1 {
		t.Errorf("got %v wide, want at least %v", got, stateLeast)
	}
	var saved Settings
	p.deps.Save = func(s Settings) { saved = s }
	p.grip.DragEnd()
	if saved.StateWidth != stateLeast {
		t.Errorf("got %v kept, want %v", saved.StateWidth, stateLeast)
	}
}

func TestPictureOfTheResult(t *testing.T) {
	w, _ := ticketWindow(t)
	data, err := w.page.picture()
	if err != nil {
		t.Fatal(err)
	}
	config := decodeSize(t, data)
	if config.Width != 2*803 || config.Height < 800 {
		t.Errorf("got %d × %d, want all three cards at 2x", config.Width, config.Height)
	}
}
