//go:build docs

package ui

import (
	"context"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"clefbar/assets/samples"
	"clefbar/engine"
	"clefbar/engine/local"
	"clefbar/models/etude"
)

var docs = flag.String("docs", "", "folder to draw the screens of the README into, answered by Etude")

// residentBytes is what the process holds in memory, as the status line says it.
func residentBytes() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// documented are the pictures of the README: the real window with real answers.
var documented = []screen{
	{name: "main", w: 1180, h: 732, deps: hintsClosed, then: chargedTwice},
	{name: "first-run", w: 1180, h: 732},
	{name: "empty", w: 1180, h: 732, deps: hintsClosed, then: newEmpty},
	{name: "loading", w: 1180, h: 732, deps: etudeOpening},
	{name: "editing", w: 1180, h: 732, deps: hintsClosed, then: editSeveral},
	{name: "toolong", w: 1180, h: 732, deps: hintsClosed, then: pasteLog},
	{name: "narrow", w: 760, h: 492, deps: hintsClosed, then: chargedTwice},
	{name: "samples", w: 1180, h: 732, deps: hintsClosed, then: openSamples},
	{name: "settings", w: 1180, h: 732, deps: withShelf, then: func(_ *testing.T, w *Window) { w.page.openSettings() }},
	{name: "failure", w: 1180, h: 732, deps: hintsClosed, then: showFailure},
	{name: "json-sheet", w: 1180, h: 732, deps: hintsClosed, then: func(_ *testing.T, w *Window) { w.page.openJSON() }},
	{name: "what-the-model-reads", w: 1180, h: 732, deps: hintsClosed, then: openReadsSettled},
}

// TestDocs draws the pictures of the README with the embedded model's own answers.
func TestDocs(t *testing.T) {
	if *docs == "" {
		t.Skip("draws only with -docs FOLDER")
	}
	macKeys = true
	defer func() { macKeys = false }()
	m, err := local.OpenFS(context.Background(), etude.FS(), "etude", local.Options{Device: local.CPU(0), Precision: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, s := range documented {
		for _, a := range []Appearance{AppearanceLight, AppearanceDark} {
			name := s.name + "-" + string(a)
			t.Run(name, func(t *testing.T) {
				d, e, shelf, board := testDeps()
				d.Engine, d.Memory, d.FirstRun = m, residentBytes, true
				d.Samples = nil
				for _, x := range samples.All() {
					d.Samples = append(d.Samples, Sample{Title: x.Title, Note: x.Subtitle, JSON: x.Request})
				}
				shelf.state = ModelState{Phase: PhaseReady, ID: "etude", Info: m.Info()}
				shelf.models = shelf.models[2:]
				board.state.Today = 0
				drawInto(t, s.openWith(t, d, e, shelf, board, a), *docs, name)
			})
		}
	}
}

func hintsClosed(d *Deps, _ *scripted, _ *shelf, _ *switchboard) {
	d.Settings.HintsClosed = []string{hintTry, hintEtude}
}

// withShelf has the settings of models too.
func withShelf(d *Deps, e *scripted, m *shelf, b *switchboard) {
	hintsClosed(d, e, m, b)
	d.Shelf = mockShelf()
}

func etudeOpening(d *Deps, e *scripted, m *shelf, b *switchboard) {
	hintsClosed(d, e, m, b)
	m.state.Phase, m.state.Total = PhaseOpening, m.state.Info.WeightBytes
	m.state.Done = m.state.Total * 2 / 3
}

func newEmpty(_ *testing.T, w *Window) {
	w.page.newCase()
	settle(w.page)
}

func showFailure(_ *testing.T, w *Window) {
	w.page.failure = &engine.Error{Reason: engine.Device, Message: "the processor stopped in the middle of a decision"}
	w.page.refresh()
}

// chargedTwice is the sample with a second story in it, so that the answers differ.
func chargedTwice(_ *testing.T, w *Window) {
	w.page.doc.SetText(w.page.doc.State().Text + " We were also charged twice for March and would like a refund.")
	w.page.decide()
	settle(w.page)
}

func openSamples(_ *testing.T, w *Window) { test.Tap(w.page.toolbar.samples) }

func openReadsSettled(_ *testing.T, w *Window) {
	w.page.openReads()
	during(300 * time.Millisecond)
}
