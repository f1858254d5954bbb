package ui

import (
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"clefbar/engine"
	"clefbar/ui/document"
)

var pictures = flag.String("pictures", "", "folder to draw every screen into, light and dark, at 2x")

// draw saves what a window shows into the folder of -pictures.
func draw(t *testing.T, w *Window, name string) {
	t.Helper()
	drawInto(t, w, *pictures, name)
}

// drawInto saves what a window shows, at 2x.
func drawInto(t *testing.T, w *Window, folder, name string) {
	t.Helper()
	if c, ok := w.win.Canvas().(interface{ SetScale(float32) }); ok {
		c.SetScale(2)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(folder, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(f, paletted(w.win.Canvas().Capture())); err != nil {
		t.Fatal(err)
	}
}

// screen is one state of the window that has a picture.
type screen struct {
	name   string
	w, h   float32
	noTree bool // drawn with fonts of the system, or after a delay
	deps   func(*Deps, *scripted, *shelf, *switchboard)
	then   func(*testing.T, *Window)
}

var screens = []screen{
	{name: "main", w: 1178, h: 730},
	{name: "first-run", w: 1178, h: 730, deps: practiceModel},
	{name: "empty", w: 1178, h: 730, deps: func(d *Deps, _ *scripted, _ *shelf, _ *switchboard) { d.FirstRun = false }, then: focusEditor},
	{name: "loading", w: 1178, h: 730, deps: loadingModel},
	{name: "toolong", w: 1178, h: 730, deps: tooLongLog, then: pasteLog},
	{name: "narrow", w: 758, h: 490},
	{name: "editing", w: 1178, h: 730, then: editSeveral},
	{name: "failure", w: 1178, h: 730, deps: brokenDevice},
	{name: "nomodel", w: 1178, h: 730, deps: func(_ *Deps, _ *scripted, m *shelf, _ *switchboard) { m.state = ModelState{} }},
	{name: "menu", w: 1178, h: 730, then: func(_ *testing.T, w *Window) { test.Tap(w.page.toolbar.model) }},
	{name: "kinds", w: 1178, h: 730, then: openKindMenu},
	{name: "threshold", w: 1178, h: 730, then: func(_ *testing.T, w *Window) { test.Tap(w.page.questions.threshold) }},
	{name: "settings", w: 1178, h: 730, then: func(_ *testing.T, w *Window) { w.page.openSettings() }},
	{name: "about", w: 1178, h: 730, then: func(_ *testing.T, w *Window) { w.page.openAbout() }},
	{name: "many", w: 1178, h: 730, then: manyOptions},
	{name: "scripts", w: 1178, h: 730, noTree: true, then: otherScripts},
	{name: "wide", w: 1600, h: 800},
	{name: "narrow-log", w: 758, h: 560, deps: tooLongLog, then: pasteLog},
	{name: "large", w: 1178, h: 730, deps: func(d *Deps, _ *scripted, _ *shelf, _ *switchboard) { d.Settings.TextScale = 1.3 }, then: editName},
	{name: "tip", w: 1178, h: 730, noTree: true, then: showExact},
	{name: "control", w: 1178, h: 730, deps: func(_ *Deps, e *scripted, _ *shelf, _ *switchboard) {
		e.control = []engine.Control{{Token: "<|im_end|>", Where: "state", At: 40}}
	}},
	{name: "picture", w: 1178, h: 730, then: func(t *testing.T, w *Window) {
		w.page.addImage("checkout-error.png", screenshot(t, 1280, 960))
		settle(w.page)
	}},
	{name: "viewer", w: 1178, h: 730, deps: tooLongLog, then: func(t *testing.T, w *Window) {
		pasteLog(t, w)
		w.page.openAttachment(w.page.doc.State().Attachments[0].Key)
	}},
	{name: "empty-narrow", w: 758, h: 490, deps: func(d *Deps, _ *scripted, _ *shelf, _ *switchboard) { d.FirstRun = false }},
	{name: "sides", w: 1178, h: 730, then: openSides},
}

// open builds the window of a screen.
func (s screen) open(t *testing.T, a Appearance) *Window {
	t.Helper()
	d, e, m, b := testDeps()
	d.FirstRun = true
	return s.openWith(t, d, e, m, b, a)
}

func (s screen) openWith(t *testing.T, d Deps, e *scripted, m *shelf, b *switchboard, a Appearance) *Window {
	t.Helper()
	d.Settings.Appearance = a
	if s.deps != nil {
		s.deps(&d, e, m, b)
	}
	w := testWindow(t, d, s.w, s.h)
	settle(w.page)
	if s.then != nil {
		s.then(t, w)
	}
	w.page.refresh()
	return w
}

// TestScreens compares the tree of every screen with the one recorded.
func TestScreens(t *testing.T) {
	for _, s := range screens {
		if s.noTree {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			w := s.open(t, AppearanceLight)
			test.AssertRendersToMarkup(t, "screens/"+s.name+".xml", w.win.Canvas())
		})
	}
}

func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("draws only with -pictures FOLDER")
	}
	macKeys = true
	defer func() { macKeys = false }()
	for _, s := range screens {
		for _, a := range []Appearance{AppearanceLight, AppearanceDark} {
			name := s.name + "-" + string(a)
			t.Run(name, func(t *testing.T) { draw(t, s.open(t, a), name) })
		}
	}
}

func practiceModel(d *Deps, e *scripted, m *shelf, b *switchboard) {
	info := engine.ModelInfo{Name: "etude", Layout: "mixed 4-bit", Device: "CPU", Limit: 16384, Practice: true}
	m.state = ModelState{Phase: PhaseReady, ID: "etude", Info: info}
	e.info = info
	e.took = 31 * time.Millisecond
	e.probs = map[string]float64{
		"team/billing": 0.09, "team/technical": 0.86, "team/sales": 0.05,
		"urgency/0": 0.08, "urgency/1": 0.29, "urgency/2": 0.63, "service_down/true": 0.74, "service_down/false": 0.26,
	}
	b.state.On = false
	d.Memory = func() int64 { return 38_000_000 }
}

func loadingModel(_ *Deps, _ *scripted, m *shelf, _ *switchboard) {
	info := m.state.Info
	info.Layout = "8-bit"
	m.state = ModelState{Phase: PhaseOpening, ID: "flash8", Info: info, Done: 6_900_000_000, Total: 10_400_000_000, Left: 2 * time.Second}
}

func brokenDevice(_ *Deps, e *scripted, _ *shelf, _ *switchboard) {
	e.err = &engine.Error{Reason: engine.Device, Message: "the GPU stopped in the middle of a decision"}
}

func tooLongLog(_ *Deps, e *scripted, m *shelf, _ *switchboard) {
	e.tokens = 21390
	m.state.Longer = Longer{Most: 65536, PerToken: 66_000}
}

func pasteLog(_ *testing.T, w *Window) {
	p := w.page
	p.doc.SetText("Here is tonight’s gateway log. Which part fails first?")
	lines := []string{
		"23:41:07 gw-2  POST /v1/charge 502 upstream reset before headers", "23:41:07 gw-2  retry 1 of 3 in 200 ms",
		"23:41:08 gw-1  POST /v1/charge 502 upstream reset before headers", "23:41:08 pool  0 of 24 connections healthy",
		"23:41:09 gw-2  retry 2 of 3 in 400 ms", "23:41:11 gw-2  circuit open: payments-core",
	}
	p.pasteState(strings.Join(lines, "\n") + "\n" + strings.Repeat("23:42:00 gw-2  retry 3 of 3 in 800 ms\n", 1198))
	settle(p)
}

func focusEditor(_ *testing.T, w *Window) { w.page.focusState() }

func editSeveral(_ *testing.T, w *Window) {
	p := w.page
	first := p.doc.Questions()[0]
	key := p.doc.AddOption(first.Key, 3)
	p.doc.SetName(first.Key, key, "refund")
	c := p.cards[first.Key]
	c.editRow(3, document.PartName)
	r := c.rows[first.Options[2].Key]
	test.Drag(w.win.Canvas(), fyne.NewPos(1, 1), 0, 0)
	c.drag(r, -30)
}

func openKindMenu(_ *testing.T, w *Window) {
	test.Tap(w.page.cards[w.page.doc.Questions()[0].Key].head.kind)
}

func openSides(_ *testing.T, w *Window) {
	p := w.page
	c := p.cards[p.doc.Questions()[2].Key]
	c.addRow()
}

func manyOptions(t *testing.T, w *Window) {
	p := w.page
	first := p.doc.Questions()[0]
	lines := make([]string, 250)
	for i := range lines {
		lines[i] = "option_" + itoa(i) + "\tA description that is rather long so that it has to end in an ellipsis somewhere before the bar"
	}
	if _, err := p.doc.PasteRows(first.Key, 0, strings.Join(lines, "\n")); err != nil {
		t.Fatal(err)
	}
	p.run.start()
	settle(p)
	p.questions.scroll.ScrollToOffset(fyne.NewPos(0, 3000))
	p.questions.seen()
}

func otherScripts(_ *testing.T, w *Window) {
	p := w.page
	first := p.doc.Questions()[0]
	p.doc.SetInstructions(first.Key, "Kuka hoitaa tämän, und wer übernimmt? Ποιος; Кто? 😀 מי מטפל בזה")
	p.doc.SetName(first.Key, first.Options[0].Key, "الفواتير")
	p.doc.SetDescription(first.Key, first.Options[0].Key, "المدفوعات والفواتير")
	p.doc.SetName(first.Key, first.Options[1].Key, "a_very_long_option_name_that_does_not_fit")
	p.doc.SetDescription(first.Key, first.Options[1].Key, "👩‍👩‍👧 families, 🇫🇮 flags and a description that goes on and on past the bar")
	p.doc.SetText("Hyvää päivää! Ολα καλά; Привет 👋\nשלום עולם\n")
}

func editName(_ *testing.T, w *Window) {
	c := w.page.cards[w.page.doc.Questions()[0].Key]
	c.begin(c.shown[1].name)
}

func showExact(_ *testing.T, w *Window) {
	r := w.page.cards[w.page.doc.Questions()[0].Key].shown[1]
	test.MoveMouse(w.win.Canvas(), fyne.CurrentApp().Driver().AbsolutePositionForObject(r).AddXY(600, 18))
	during(tipDelay + 100*time.Millisecond)
}
