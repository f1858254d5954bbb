package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// storeroom is the store's part of a test of the shelf.
type storeroom struct {
	machine Machine
	models  []Shelved
	done    []string
	err     error
	hits    Hits
	fixed   bool
	watch   func()
}

func (s *storeroom) SetOffline(on bool) {
	s.machine.Offline = on
	s.did("offline", fmt.Sprint(on))
}
func (s *storeroom) Folder() (string, bool) { return "/Users/you/.cache/huggingface/hub", s.fixed }
func (s *storeroom) SetFolder(path string, done func(error)) {
	s.did("keep in", path)
	done(s.err)
}

func (s *storeroom) About(id string) About {
	return About{Text: "Model " + id + ".", Facts: [][2]string{{"Folder", "/models/" + id}}, Report: shortReport}
}

func (s *storeroom) Search(owner string, done func(Hits, error)) {
	s.did("search", owner)
	done(s.hits, s.err)
}

func (s *storeroom) AddRepo(repo string, done func(error)) {
	s.did("add", repo)
	done(s.err)
}

func (s *storeroom) Machine() Machine    { return s.machine }
func (s *storeroom) Shelved() []Shelved  { return s.models }
func (s *storeroom) Get(id string)       { s.did("get", id) }
func (s *storeroom) Pause(id string)     { s.did("pause", id) }
func (s *storeroom) Cancel(id string)    { s.did("cancel", id) }
func (s *storeroom) Check(id string)     { s.did("check", id) }
func (s *storeroom) Remove(id string)    { s.did("remove", id) }
func (s *storeroom) Reveal(id string)    { s.did("reveal", id) }
func (s *storeroom) OpenAnyway(i string) { s.did("open anyway", i) }
func (s *storeroom) AddFolder(p string)  { s.did("folder", p) }
func (s *storeroom) Repair(id string)    { s.did("repair", id) }
func (s *storeroom) CheckAgainst(id, file string) {
	s.did("compare", id+" "+file)
}

func (s *storeroom) Record(id, file string, done func(error)) {
	s.did("record", id+" "+file)
	done(s.err)
}
func (s *storeroom) Watch(changed func()) { s.watch = changed }
func (s *storeroom) did(what, id string)  { s.done = append(s.done, what+" "+id) }
func (s *storeroom) AddServer(address, key string, done func(error)) {
	s.did("server", address+" "+key)
	done(s.err)
}

const gb = 1_000_000_000

// mockShelf is the shelf of the design's picture.
func mockShelf() *storeroom {
	return &storeroom{
		machine: Machine{Name: "M2 Max, 32 GB", Gives: 22.9 * gb, InUse: 6.2 * gb},
		models: []Shelved{
			{ID: "flash4", Name: "Clef-flash", Layout: "4-bit", Note: "Most answers stay the same. Look again at your thresholds.", Stage: StageOpen, Known: true, Disk: 5 * gb, Memory: 6.2 * gb, Ticket: 700 * time.Millisecond, Measured: true},
			{ID: "flash8", Name: "Clef-flash", Layout: "8-bit", Note: "No changed answers reported. Checked as it arrives.", Stage: StageArriving, Known: true, Done: 6.5 * gb, Total: 10.4 * gb, Speed: 84_000_000, Left: 47 * time.Second, Memory: 11.4 * gb},
			{ID: "clef4", Name: "Clef", Layout: "4-bit", Why: "Two of four files are missing: 8.1 GB to get.", Stage: StageIncomplete, Known: true, Disk: 8 * gb, Memory: 17 * gb, Ticket: 2400 * time.Millisecond},
			{ID: "qwen", Name: "Qwen3.5-9B", Layout: "4-bit", Why: "A chat backbone without Clef’s decision head: it can only produce text.", Stage: StageNoHead, Disk: 5.2 * gb},
			{ID: "etude", Name: "Etude", Practice: true, Note: "Comes with Clefbar. For learning the window, not for decisions.", Stage: StageReady, Known: true, Disk: 3_000_000, Memory: 38_000_000, Ticket: 10 * time.Millisecond, Measured: true},
			{ID: "flash16", Name: "Clef-flash", Layout: "bf16", Note: "Full precision: the reference for the others.", Known: true, Disk: 18.8 * gb, Memory: 19.4 * gb, Ticket: 670 * time.Millisecond},
			{ID: "clef8", Name: "Clef", Layout: "8-bit", Note: "27 billion weights. Runs on a Mac with 48 GB, or on a server.", Known: true, Disk: 29.5 * gb, Memory: 31.2 * gb},
			{ID: "clef16", Name: "Clef", Layout: "bf16", Note: "Full precision. Runs on a Mac with 96 GB, or on a server.", Known: true, Disk: 54.7 * gb, Memory: 55.3 * gb},
		},
	}
}

func shelfWindow(t *testing.T, d Deps, width, height float32) (*Window, *shelfPage) {
	t.Helper()
	w := testWindow(t, d, width, height)
	settle(w.page)
	w.page.openShelf()
	s := w.onShelf()
	if s == nil {
		t.Fatal("the shelf is not in the window")
	}
	return w, s
}

func (l *shelfList) row(id string) *shelfRow {
	for _, r := range l.rows {
		if r.model.ID == id {
			return r
		}
	}
	return nil
}

func TestShelfSaysWhatThereIs(t *testing.T) {
	d, _, _, _ := testDeps()
	d.Shelf = mockShelf()
	_, s := shelfWindow(t, d, 1178, 730)
	var got []string
	for _, r := range s.list.rows {
		got = append(got, strings.Join([]string{r.name.full, r.layout.full, r.tag.text.full, r.disk.full, r.need.full, r.word.full, r.ticket.full, r.act.text.full}, "|"))
	}
	want := []string{
		"Clef-flash|4-bit|In use|5.0 GB|6.2 GB|fits|0.70 s|Unload",
		"Clef-flash|8-bit|||6.5 of 10.4 GB|84 MB/s    47 s left|–|Pause",
		"Clef|4-bit|Incomplete|8.0 GB|17.0 GB|fits|~2.4 s|Get the rest",
		"Qwen3.5-9B|4-bit|No head|5.2 GB|Cannot decide||–|" + revealText(),
		"Etude||Practice model|3 MB|38 MB|fits|0.01 s|Open",
		"Clef-flash|bf16||18.8 GB|19.4 GB|tight|~0.67 s|Get",
		"Clef|8-bit||29.5 GB|31.2 GB|8.3 GB too much|–|Get anyway",
		"Clef|bf16||54.7 GB|55.3 GB|32.4 GB too much|–|Get anyway",
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Errorf("row %d: got %s, want %s", i, got[i], want[i])
		}
	}
	if s.list.here != 5 || s.list.gives.full != "It can give models 22.9 GB." || s.list.free.full != "16.7 GB free" {
		t.Errorf("got %d here, %q, %q", s.list.here, s.list.gives.full, s.list.free.full)
	}
}

func TestShelfDoes(t *testing.T) {
	d, _, models, _ := testDeps()
	store := mockShelf()
	d.Shelf = store
	w, s := shelfWindow(t, d, 1178, 730)
	for _, id := range []string{"flash8", "clef4", "qwen", "etude", "flash16", "clef8"} {
		test.Tap(s.list.row(id).act)
	}
	if got := strings.Join(store.done, ", "); got != "pause flash8, get clef4, reveal qwen, get flash16, get clef8" {
		t.Errorf("done: %s", got)
	}
	if got := fmt.Sprint(models.opened); got != "[etude]" {
		t.Errorf("opened: %s", got)
	}
	store.done = nil
	test.Tap(s.list.row("flash8").stop)
	if len(store.done) > 0 || w.page.sheet == nil {
		t.Fatal("a download is given up without asking")
	}
	test.Tap(w.page.sheet.done)
	for _, row := range s.list.row("clef4").menu() {
		if row.text == "Remove…" {
			row.run()
		}
	}
	test.Tap(w.page.sheet.done)
	for _, row := range s.list.row("etude").menu() {
		if row.text == "Check" {
			row.run()
		}
		if row.text == "Remove…" {
			t.Error("Etude can be removed")
		}
	}
	if got := strings.Join(store.done, ", "); got != "cancel flash8, remove clef4, check etude" {
		t.Errorf("done: %s", got)
	}
	w.typedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if w.onShelf() != nil || w.win.Title() == "Models" {
		t.Error("Escape does not go back to the case")
	}
}

func TestShelfFollowsADownload(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	d.Shelf = store
	_, s := shelfWindow(t, d, 1178, 730)
	row := s.list.row("flash8")
	change := func(f func(m *Shelved)) {
		f(&store.models[1])
		go store.watch()
		store.watch()
		(<-handed)()
	}
	change(func(m *Shelved) { m.Done, m.Left = 10.4*gb, 0 })
	if s.list.row("flash8") != row || row.need.full != "10.4 of 10.4 GB" || row.share.to != 1 {
		t.Errorf("got %q, share %f", row.need.full, row.share.to)
	}
	change(func(m *Shelved) { m.Stage = StagePaused })
	if row.word.full != "paused" || row.act.text.full != "Resume" || !row.stop.Visible() {
		t.Errorf("paused: got %q and %q", row.word.full, row.act.text.full)
	}
	change(func(m *Shelved) { m.Stage, m.Why = StageFailed, "The disk is full: 3.9 GB more are needed." })
	if row.note.text != store.models[1].Why || row.tag.text.full != "Stopped" || row.act.text.full != "Try again" {
		t.Errorf("failed: got %q, %q, %q", row.note.text, row.tag.text.full, row.act.text.full)
	}
	change(func(m *Shelved) {
		m.Stage, m.Why, m.Disk = StageReady, "", 10.4*gb
		m.Verdict = &Verdict{Good: true, Text: "434 tensors, 4 probes, largest difference 0.0004."}
	})
	if row.tag.text.full != "Checked" || row.act.text.full != "Open" || row.need.full != "11.4 GB" || row.stop.Visible() {
		t.Errorf("ready: got %q, %q, %q", row.tag.text.full, row.act.text.full, row.need.full)
	}
	change(func(m *Shelved) { m.Stage = StageAway })
	if row.act.Visible() || row.need.full != "Not there now" {
		t.Errorf("away: got %q, %q", row.act.text.full, row.need.full)
	}
	store.models = store.models[:0]
	store.watch()
	(<-handed)()
	if len(s.list.rows) != 0 {
		t.Errorf("%d rows are left", len(s.list.rows))
	}
}

func TestShelfOfflineAndLooking(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	store.machine.Offline, store.machine.Looking = true, true
	store.models[0].Revision = "3f2a9c1d5e6f708192a3b4c5d6e7f8091a2b3c4d"
	d.Shelf = store
	_, s := shelfWindow(t, d, 1178, 730)
	if !s.list.looking.Visible() {
		t.Error("nobody says that the disk is being read")
	}
	test.Tap(s.list.row("flash16").act)
	if len(store.done) > 0 || !s.list.row("flash16").act.Disabled() || s.list.row("etude").act.Disabled() {
		t.Errorf("offline: done %v", store.done)
	}
	var texts []string
	for _, row := range s.list.row("flash4").menu() {
		texts = append(texts, row.text+" "+row.detail)
	}
	if got := strings.Join(texts, "|"); got != "Check |Compare with a record… |About this model |"+revealText()+" |Copy the revision 3f2a9c1| |Remove… " {
		t.Errorf("menu: %s", got)
	}
	store.machine.Offline, store.machine.Looking = false, false
	store.watch()
	(<-handed)()
	if s.list.looking.Visible() || s.list.row("flash16").act.Disabled() {
		t.Error("the shelf does not come back")
	}
}

func TestShelfAddsAServer(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	d.Shelf = store
	w, s := shelfWindow(t, d, 1178, 730)
	test.Tap(s.server)
	b := w.page.sheet.body.(*serverBody)
	b.address.SetText("ftp://x")
	b.address.OnSubmitted("")
	if b.trouble.text == "" || len(store.done) > 0 {
		t.Errorf("got %q, %v", b.trouble.text, store.done)
	}
	store.err = errors.New("studio.local does not answer")
	b.address.SetText("studio.local:2533/v1/")
	b.key.SetText(" s3cret ")
	test.Tap(w.page.sheet.done)
	(<-handed)()
	if b.trouble.text != "Studio.local does not answer." && !strings.Contains(b.trouble.text, "does not answer") || w.page.sheet == nil {
		t.Errorf("got %q", b.trouble.text)
	}
	store.err = nil
	test.Tap(w.page.sheet.done)
	(<-handed)()
	if w.page.sheet != nil || store.done[1] != "server http://studio.local:2533 s3cret" {
		t.Errorf("got %v", store.done)
	}
}

func TestServerAddress(t *testing.T) {
	for typed, want := range map[string]string{
		"studio.local:2533": "http://studio.local:2533", "https://api.example/base/v1/systemone": "https://api.example/base",
		" 10.0.0.2 ": "http://10.0.0.2", "http://[::1]:8000/": "http://[::1]:8000",
		"": "", "ftp://x": "", "http://": "", "user:pw@host": "", "http://x?key=1": "", "not an address": "",
	} {
		got, trouble := serverAddress(typed)
		if got != want || (trouble == "") != (want != "") {
			t.Errorf("%q: got %q (%s), want %q", typed, got, trouble, want)
		}
	}
}

func TestShelfInANarrowWindow(t *testing.T) {
	d, _, _, _ := testDeps()
	d.Shelf = mockShelf()
	_, s := shelfWindow(t, d, 760, 520)
	for _, r := range s.list.rows {
		right := float32(0)
		for _, o := range []fyne.CanvasObject{r.disk.Text, r.track, r.act} {
			if !o.Visible() || o == fyne.CanvasObject(r.disk.Text) && r.disk.full == "" {
				continue
			}
			if o.Position().X < right-1 || o.Position().X+o.Size().Width > r.Size().Width {
				t.Errorf("%s: columns overlap or leave the card", r.model.full())
			}
			right = o.Position().X + o.Size().Width
		}
	}
}

func TestShelfWithoutKnownMemory(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	store.machine.Gives, store.machine.InUse = 0, 0
	d.Shelf = store
	_, s := shelfWindow(t, d, 1178, 730)
	r := s.list.row("clef16")
	if r.act.text.full != "Get" || r.need.full != "55.3 GB" || r.word.full != "" || r.track.Visible() || s.list.gives.full != "" || s.list.free.full != "" {
		t.Errorf("got %q, %q, %q, %q", r.act.text.full, r.need.full, r.word.full, s.list.gives.full)
	}
}

func TestShelfWrapsWhatIsWrong(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	store.models[2].Stage, store.models[2].Why = StageFailed, longTrouble
	d.Shelf = store
	for _, width := range []float32{760, 1178} {
		_, s := shelfWindow(t, d, width, 520)
		r, next := s.list.row("clef4"), s.list.row("qwen")
		var all string
		for _, l := range r.note.lines {
			all += l.Text.Text
		}
		if strings.ReplaceAll(all, " ", "") != strings.ReplaceAll(longTrouble, " ", "") {
			t.Errorf("%v: got %q", width, all)
		}
		if end := r.note.Position().Y + r.note.Size().Height; end > r.Size().Height || r.Position().Y+r.Size().Height > next.Position().Y+1 {
			t.Errorf("%v: the reason ends at %v in a row of %v", width, end, r.Size())
		}
		if r.note.Position().X+r.note.Size().Width > r.act.Position().X {
			t.Errorf("%v: the reason stands under the button", width)
		}
	}
}

func TestPracticeIsSaidInUseToo(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	store.models[4].Stage = StageOpen
	store.machine.Trouble = longTrouble
	d.Shelf = store
	for _, width := range []float32{760, 1178} {
		_, s := shelfWindow(t, d, width, 730)
		r := s.list.row("etude")
		if r.tag.text.full != "In use" || !r.practice.Visible() || r.practice.Position().X < r.tag.Position().X+r.tag.Size().Width {
			t.Errorf("%v: got %q, practice %v at %v", width, r.tag.text.full, r.practice.Visible(), r.practice.Position())
		}
		if s.list.row("flash4").practice.Visible() {
			t.Error("a real model is called a practice model")
		}
		b := s.list.elsewhere
		if end := s.list.trouble.Position().Y + s.list.trouble.Size().Height; !b.Visible() || end > b.Position().Y || b.Position().Y+b.Size().Height > s.list.heads[0].Position().Y {
			t.Errorf("%v: the way out stands at %v, the trouble ends at %v", width, b.Position(), end)
		}
		store.fixed = true
		s.refresh()
		if b.Visible() {
			t.Error("another folder is offered where the environment names one")
		}
		store.fixed = false
		if end := s.list.trouble.Position().Y + s.list.trouble.Size().Height; !s.list.trouble.Visible() || end > s.list.heads[0].Position().Y {
			t.Errorf("%v: the trouble with the cache ends at %v, the list begins at %v", width, end, s.list.heads[0].Position().Y)
		}
	}
}

func TestShelfMenuByKeyAndPointer(t *testing.T) {
	d, _, _, _ := testDeps()
	d.Shelf = mockShelf()
	w, s := shelfWindow(t, d, 1178, 730)
	r := s.list.row("etude")
	if r.more.Visible() {
		t.Error("the menu button is there without a reason")
	}
	w.win.Canvas().Focus(r.act)
	if !r.more.Visible() {
		t.Error("the keyboard does not reach the menu")
	}
	w.win.Canvas().Focus(r.more)
	if !r.more.Visible() {
		t.Error("the menu button goes when it has the focus")
	}
	r.more.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	m, ok := w.win.Canvas().Overlays().Top().(*popMenu)
	if !ok {
		t.Fatal("Space opens no menu")
	}
	m.close()
	w.win.Canvas().Unfocus()
	test.TapSecondary(r) // at once: no frame was drawn since the pointer came
	if _, ok := w.win.Canvas().Overlays().Top().(*popMenu); !ok {
		t.Error("the second button opens no menu")
	}
}

func TestShelfCutsLongNames(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	store.models[0].Name = strings.Repeat("a-name-that-never-ends-", 12)
	store.models[0].Practice = true
	store.models[3].Name = strings.Repeat("日本語", 60)
	d.Shelf = store
	for _, width := range []float32{760, 1178, 1600} {
		_, s := shelfWindow(t, d, width, 730)
		for _, id := range []string{"flash4", "qwen"} {
			r := s.list.row(id)
			limit := shelfColumnsAt(r.Size().Width).disk - dp(diskWidth)
			right := r.name.Position().X + r.name.MinSize().Width
			for _, o := range []fyne.CanvasObject{r.layout.Text, r.tag, r.practice} {
				if !o.Visible() || o.Size().Width == 0 {
					continue
				}
				if o.Position().X < right-1 {
					t.Errorf("%s at %v: %T stands on what is before it", id, width, o)
				}
				right = o.Position().X + o.Size().Width
			}
			if right > limit+1 {
				t.Errorf("%s at %v: the title ends at %v, its column at %v", id, width, right, limit)
			}
		}
	}
}
