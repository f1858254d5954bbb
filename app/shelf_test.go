package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clefbar/app/worker"
	"clefbar/models/hub"
	"clefbar/ui"

	"github.com/adrg/xdg"
)

const (
	flash4 = "mlx-community/clef-flash-4bit" // known, and served with the files of a tiny model
	clef4  = "mlx-community/clef-4bit"
	tinyAt = "0123456789abcdef0123456789abcdef01234567"
)

// store is the store of an app that starts with what the folders of the test hold.
type store struct {
	*appShelf
	t *testing.T
}

// folders gives the test folders of its own.
func folders(t *testing.T) {
	t.Setenv("CLEFBAR_SETTINGS", filepath.Join(t.TempDir(), "settings.json"))
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	t.Setenv("HF_TOKEN", "")
	t.Setenv("HF_HUB_OFFLINE", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	xdg.Reload()
	t.Cleanup(xdg.Reload)
}

func openStore(t *testing.T) *store {
	t.Helper()
	set, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	lib := newLibrary(set, howToRun{device: "auto", precision: "auto"})
	times := newPace("auto")
	w := worker.New(lib, lib.chosen(), worker.Options{Ran: times.ran})
	m := newAppModels(lib, w)
	s := &store{newAppShelf(lib, w, m, times), t}
	t.Cleanup(s.stop)
	return s
}

// stop ends the app; twice is fine.
func (s *store) stop() {
	if s.ends.Err() == nil {
		s.close()
		s.models.close()
		s.worker.Drain(s.t.Context(), 0)
	}
}

func (s *store) row(id string) (ui.Shelved, bool) {
	all := s.Shelved()
	i := slices.IndexFunc(all, func(r ui.Shelved) bool { return r.ID == id || id == filepath.Base(r.ID) })
	if i < 0 {
		return ui.Shelved{}, false
	}
	return all[i], true
}

// until waits for a row to be as it should.
func (s *store) until(id, what string, good func(ui.Shelved) bool) ui.Shelved {
	s.t.Helper()
	var r ui.Shelved
	for range 1000 {
		var ok bool
		if r, ok = s.row(id); ok && good(r) {
			return r
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s is not %s: %+v", id, what, r)
	return r
}

func (s *store) untilGone(id string) {
	s.t.Helper()
	for range 1000 {
		if _, ok := s.row(id); !ok {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s is still there", id)
}

func stage(want ui.Stage) func(ui.Shelved) bool {
	return func(r ui.Shelved) bool { return r.Stage == want }
}

// TestShelfDownload follows one model from the Hub to the first check and off the disk again, over a restart of the app.
func TestShelfDownload(t *testing.T) {
	folders(t)
	h := startHub(t)
	hold := make(chan struct{})
	h.set(hold, 0)
	s := openStore(t)
	if r, ok := s.row(flash4); !ok || r.Stage != ui.StageRemote || r.Memory < 4e9 || r.Disk < 6e9 || !r.Known {
		t.Fatalf("before: %+v", r)
	}
	if r, _ := s.row(etudeKey); r.Stage != ui.StageReady || !r.Practice || r.Memory <= 0 {
		t.Errorf("Etude: %+v", r)
	}
	if m := s.Machine(); m.Gives <= 0 || m.InUse != 0 || m.Name == "" {
		t.Errorf("machine: %+v", m)
	}
	s.Get(flash4)
	s.Get(clef4)
	r := s.until(flash4, "arriving", func(r ui.Shelved) bool { return r.Stage == ui.StageArriving && r.Done > 0 && r.Done < r.Total })
	if int(r.Total) > 3_000_000 {
		t.Errorf("total: got %d bytes, want those of the listing", r.Total)
	}
	if r, _ := s.row(clef4); r.Stage != ui.StageArriving || !strings.Contains(r.Why, "Waits") || r.Total < 1e9 {
		t.Errorf("the second one: %+v", r)
	}
	s.Pause(clef4)
	s.Pause(flash4)
	s.until(flash4, "paused", stage(ui.StagePaused))
	s.stop()

	h.set(nil, 0)
	close(hold)
	s = openStore(t) // the app starts again
	r = s.until(tinyAt, "incomplete", stage(ui.StageIncomplete))
	if r.Name != "Clef-flash" || r.Layout != "4-bit" || !strings.Contains(r.Why, "to get") {
		t.Errorf("after the restart: %+v", r)
	}
	if _, ok := s.row(flash4); ok {
		t.Error("it is offered twice")
	}
	s.Get(r.ID)
	r = s.until(tinyAt, "ready", stage(ui.StageReady))
	if !strings.Contains(r.Note, "Revision 0123456 (main)") || r.Memory <= 0 || r.Disk <= 0 {
		t.Errorf("ready: %+v", r)
	}
	checkAndDamage(t, s, r.ID)
	s.Remove(r.ID)
	s.untilGone(r.ID)
	if r, _ := s.row(flash4); r.Stage != ui.StageRemote {
		t.Errorf("after removing it: %+v", r)
	}
	if left, _ := os.ReadDir(hub.DefaultCache().Dir); slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "models--") }) {
		t.Errorf("left on the disk: %v", left)
	}
}

// TestShelfAddsARepository finds one on the Hub, fetches it and forgets it again.
func TestShelfAddsARepository(t *testing.T) {
	folders(t)
	startHub(t)
	s := openStore(t)
	hits := make(chan ui.Hits, 1)
	told := make(chan error, 1)
	s.Search("someone", func(h ui.Hits, err error) { hits <- h; told <- err })
	if h, err := <-hits, <-told; err != nil || h.Looked != 2 || len(h.List) != 1 || !h.List[0].Usable || h.List[0].Listed {
		t.Fatalf("got %+v, %v", h, err)
	}
	const repo = "someone/clef-tiny"
	s.AddRepo(repo, func(err error) { told <- err })
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = openStore(t) // the app starts again
	r := s.until(repo, "offered", stage(ui.StageRemote))
	if r.Given || r.Layout != "4-bit" || r.Disk <= 0 || r.Memory <= 0 || !strings.Contains(r.Note, "From someone") {
		t.Errorf("%+v", r)
	}
	s.Get(repo)
	s.until(tinyAt, "ready", stage(ui.StageReady))
	s.Remove(repo)
	s.Remove(hub.DefaultCache().Snapshot(&hub.Repo{ID: repo, Commit: tinyAt}))
	s.untilGone(tinyAt)
	s.untilGone(repo)
	s.AddRepo("../x", func(err error) { told <- err })
	if err := <-told; err == nil {
		t.Error("a path was taken for a repository")
	}
}

func TestShelfGivesUp(t *testing.T) {
	folders(t)
	h := startHub(t)
	h.set(make(chan struct{}), 0)
	s := openStore(t)
	s.Get(flash4)
	s.until(flash4, "arriving", func(r ui.Shelved) bool { return r.Done > 0 })
	s.Cancel(flash4)
	s.until(flash4, "as before", stage(ui.StageRemote))
	if left, _ := filepath.Glob(filepath.Join(hub.DefaultCache().Dir, "models--*")); left != nil {
		t.Errorf("left on the disk: %v", left)
	}
	h.set(nil, http.StatusUnauthorized)
	s.Get(flash4)
	if r := s.until(flash4, "failed", stage(ui.StageFailed)); !strings.Contains(r.Why, "token") || strings.Contains(r.Why, "http") {
		t.Errorf("gated: %+v", r)
	}
	s.Cancel(flash4)
	s.until(flash4, "as before", stage(ui.StageRemote))
	h.set(make(chan struct{}), 0)
	s.Get(flash4)
	s.until(flash4, "arriving", func(r ui.Shelved) bool { return r.Stage == ui.StageArriving && r.Done > 0 })
	s.SetOffline(true) // in the settings
	s.until(flash4, "paused", stage(ui.StagePaused))
	if m := s.Machine(); !m.Offline || m.NoSwitch {
		t.Errorf("machine: %+v", m)
	}
	s.Get(flash4)
	if r := s.until(flash4, "refused", stage(ui.StageFailed)); !strings.Contains(r.Why, "in the settings") {
		t.Errorf("offline by the settings: %+v", r)
	}
	s.SetOffline(false)
	s.Cancel(flash4)
	s.until(flash4, "as before", stage(ui.StageRemote))
	t.Setenv("HF_HUB_OFFLINE", "1")
	s.Get(flash4)
	if r := s.until(flash4, "failed", stage(ui.StageFailed)); !strings.Contains(r.Why, "Offline") && !strings.Contains(r.Why, "offline") {
		t.Errorf("offline: %+v", r)
	}
}

func TestShelfInsists(t *testing.T) {
	folders(t)
	s := openStore(t)
	dir := filepath.Join(t.TempDir(), "m")
	if err := os.CopyFS(dir, os.DirFS(tiny(t))); err != nil {
		t.Fatal(err)
	}
	if s.lib.insisted(dir) {
		t.Fatal("insisted before anybody did")
	}
	s.AddFolder(dir)
	s.until(dir, "ready", stage(ui.StageReady))
	s.OpenAnyway(dir)
	s.until(dir, "open", stage(ui.StageOpen))
	if !s.lib.insisted(dir) {
		t.Error("the person's word is lost")
	}
	chosen := func(want string) { // the choice is kept a moment after the model is open
		t.Helper()
		for range 500 {
			if set, err := loadSettings(); err == nil && set.Model == want {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("the choice of %q is not kept", want)
	}
	chosen(dir)
	s.Remove(dir)
	s.untilGone(dir)
	chosen("")
}

func TestPace(t *testing.T) {
	folders(t)
	p := newPace("auto")
	if d, _ := p.ticket("m", "4-bit", 7e12); d != 0 {
		t.Errorf("before anything was measured: %v", d)
	}
	done := make(chan struct{})
	p.measure(t.Context(), func() bool { return false }, func() { close(done) })
	<-done
	took, measured := p.ticket("m", "mixed 4-bit", 7e12)
	if measured || took <= 0 || took > time.Hour {
		t.Errorf("reckoned: %v, %v", took, measured)
	}
	again := newPace("auto")
	if d, _ := again.ticket("m", "4-bit", 7e12); d != took {
		t.Errorf("after a restart: %v, want %v", d, took)
	}
	again.measure(t.Context(), func() bool { t.Error("measured twice"); return false }, nil)
}

func TestReveal(t *testing.T) {
	if got := revealCommand("darwin", "/a b"); !slices.Equal(got, []string{"/usr/bin/open", "-R", "/a b"}) {
		t.Errorf("got %q", got)
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "xdg-open")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf '%s' \"$1\" > \""+dir+"/shown\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	odd := "/tmp/a b; $(touch x)"
	if err := reveal(odd); err != nil {
		t.Skipf("no xdg-open on this system: %v", err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "shown")); string(got) != odd {
		t.Errorf("shown %q, want %q", got, odd)
	}
}

func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"the disk is full": "The disk is full.", "model.safetensors: cut": "model.safetensors: cut.", "": "", "why?": "Why?",
	} {
		if got := sentence(fmt.Errorf("%s", text)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestMachineFor(t *testing.T) {
	for need, want := range map[int64]string{1: "with 16 GB", 31_200_000_000: "with 48 GB", 55_300_000_000: "with 96 GB", 1 << 50: "more memory"} {
		if got := machineFor(need); !strings.Contains(got, want) {
			t.Errorf("%d bytes: got %q, want %q", need, got, want)
		}
	}
}
