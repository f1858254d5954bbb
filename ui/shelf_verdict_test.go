package ui

import (
	"errors"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

const longTrouble = "Hashes: damaged: model-00001-of-00002.safetensors, joint_head.safetensors in /Volumes/an_external_disk_with_a_very_long_name_that_has_no_spaces_at_all_and_goes_on/and_on/and_on/hub. The files are not what the Hub announced."

// checkedShelf is the shelf of the design's picture with three checks behind it: one that holds, one that does not, one that runs.
func checkedShelf() *storeroom {
	s := mockShelf()
	s.models[0].Verdict = &Verdict{
		Good: true, Text: "Files and answers hold, largest difference 0.0004.", Compared: 6, Difference: 0.0004, Answered: true, Report: "ok    files",
		Findings: []Finding{
			{Name: "files", Detail: "4-bit, 5.0 GB, nothing is missing", Good: true},
			{Name: "hashes", Detail: "12 files have the hash that the Hub announced", Good: true},
			{Name: "probe empty", Detail: "no reference yet: its answer can be recorded as one", Skipped: true, Good: true},
		},
	}
	s.models[1] = Shelved{
		ID: "flash8", Name: "Clef-flash", Layout: "8-bit", Note: "No changed answers reported.", Stage: StageReady, Known: true, Disk: 10.4 * gb, Memory: 11.4 * gb,
		Verdict: &Verdict{Text: longTrouble, Damaged: true, Findings: []Finding{{Name: "hashes", Detail: longTrouble}}},
	}
	s.models[4].Verdict = &Verdict{Running: true, Doing: "Reading the files, 43 %"}
	return s
}

func TestShelfShowsWhatAChecksFound(t *testing.T) {
	d, _, _, _ := testDeps()
	store := checkedShelf()
	d.Shelf = store
	w, s := shelfWindow(t, d, 1178, 730)
	good, bad, running := s.list.row("flash4"), s.list.row("flash8"), s.list.row("etude")
	if !good.found.Visible() || good.found.title.full != "Everything holds" || good.found.difference.full != "Largest difference 0.0004" || good.found.repair.Visible() {
		t.Errorf("good: %q, %q", good.found.title.full, good.found.difference.full)
	}
	if bad.found.title.token != colorRed || bad.tag.text.full != "Damaged" || !bad.found.repair.Visible() || bad.found.difference.full != "" {
		t.Errorf("bad: %s, %q", bad.found.title.token, bad.tag.text.full)
	}
	if running.found.Visible() || running.note.text != "Reading the files, 43 %…" {
		t.Errorf("running: %q", running.note.text)
	}
	for _, width := range []float32{1178, 760} {
		w.win.Resize(fyne.NewSize(width, 700))
		checkVerdictLines(t, s, bad)
	}
	for _, b := range []*button{good.found.again, bad.found.repair} {
		test.Tap(b)
	}
	if got := strings.Join(store.done, ", "); got != "check flash4, repair flash8" {
		t.Errorf("done: %s", got)
	}
	open := bad.Size().Height
	test.Tap(bad.found.close)
	if bad.found.Visible() || bad.Size().Height >= open {
		t.Error("the card does not close")
	}
	store.models[1].Verdict = &Verdict{Running: true}
	s.refresh()
	store.models[1].Verdict = &Verdict{Good: true, Text: "Files and answers hold."}
	s.refresh()
	if !bad.found.Visible() {
		t.Error("a new check shows nothing")
	}
}

// checkVerdictLines looks whether a long text stands in the card in full and the row below begins under it.
func checkVerdictLines(t *testing.T, s *shelfPage, r *shelfRow) {
	t.Helper()
	c := r.found
	var all string
	for _, l := range c.body.lines {
		all += l.full
		if l.Text.Text != l.full || l.Position().X+l.MinSize().Width > c.body.Size().Width+1 {
			t.Errorf("a line is cut: %q", l.full)
		}
	}
	if strings.ReplaceAll(all, " ", "") != strings.ReplaceAll(longTrouble, " ", "") {
		t.Errorf("got %q", all)
	}
	bottom := c.again.Position().Y + c.again.Size().Height
	if c.body.Position().Y+c.body.Size().Height > c.again.Position().Y || bottom > c.Size().Height || c.Position().Y+c.Size().Height > r.Size().Height {
		t.Errorf("the card is too small for what it says: %v in %v", bottom, c.Size())
	}
	next := s.list.row("clef4")
	if r.Position().Y+r.Size().Height > next.Position().Y+1 {
		t.Error("the next row stands on the card")
	}
	if end := s.list.cards[1].Position().Y + s.list.cards[1].Size().Height; end > s.list.Size().Height {
		t.Errorf("the list ends at %v, its last card at %v", s.list.Size().Height, end)
	}
}

func TestFindingsSheet(t *testing.T) {
	d, _, _, _ := testDeps()
	store := checkedShelf()
	d.Shelf = store
	w, s := shelfWindow(t, d, 1178, 730)
	test.Tap(s.list.row("flash4").found.details)
	sheet := w.page.sheet
	if sheet == nil || sheet.note.full != "everything holds · largest difference 0.0004" {
		t.Fatalf("got %+v", sheet)
	}
	if rows := sheet.body.(*factList).column.rows; len(rows) != 3 || rows[0].fact.icon != "check" || rows[2].fact.tone != colorInk3 {
		t.Errorf("rows: %+v", rows)
	}
	test.Tap(sheet.head[0].(*button))
	if got := fyne.CurrentApp().Clipboard().Content(); got != "ok    files" {
		t.Errorf("copied %q", got)
	}
	sheet.close()
	s.openFindings(store.models[1])
	if !w.page.sheet.head[1].(*button).Disabled() {
		t.Error("answers can be recorded that were not given")
	}
	w.page.sheet.close()
	store.err = errors.New("the disk is full")
	s.record(store.models[0])
	if len(store.done) != 0 {
		t.Errorf("recorded before a file was chosen: %v", store.done)
	}
}

func TestWrapWordsBreaksLongOnes(t *testing.T) {
	size := dp(13)
	for _, text := range []string{"", "a", strings.Repeat("x", 300), "one " + strings.Repeat("日本", 80) + " two", "a\n\nb"} {
		for _, width := range []float32{1, 40, 200} {
			lines := wrapWords(text, width, size)
			for _, l := range lines {
				if len([]rune(l)) > 1 && textWidth(l, size, regular) > width {
					t.Errorf("%.10q at %v: %q is too wide", text, width, l)
				}
			}
			if got, want := strings.Join(lines, ""), strings.ReplaceAll(strings.ReplaceAll(text, "\n", ""), " ", ""); strings.ReplaceAll(got, " ", "") != want {
				t.Errorf("%.10q at %v: got %.40q", text, width, got)
			}
		}
	}
}
