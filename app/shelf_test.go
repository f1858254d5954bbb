package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clefbar/app/secret"
	"clefbar/app/worker"
	"clefbar/engine/goldentest"
	"clefbar/models/hub"
	"clefbar/ui"

	"github.com/adrg/xdg"
)

const (
	flash4 = "mlx-community/clef-flash-4bit" // known, and served with the files of a tiny model
	clef4  = "mlx-community/clef-4bit"
	tinyAt = "0123456789abcdef0123456789abcdef01234567"
)

// smallHub serves the known repositories with the files of a golden checkpoint.
type smallHub struct {
	*httptest.Server
	files map[string][]byte

	mu     sync.Mutex
	hold   chan struct{} // weights wait for it, after their first kilobytes
	status int           // instead of any file
}

func startHub(t *testing.T) *smallHub {
	h := &smallHub{files: map[string][]byte{}}
	dir := goldentest.Path(t, "tiny-9b-shape-mlx-4bit")
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if h.files[n.Name()], err = os.ReadFile(filepath.Join(dir, n.Name())); err != nil {
			t.Fatal(err)
		}
	}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	t.Setenv("HF_ENDPOINT", h.URL)
	return h
}

func (h *smallHub) set(hold chan struct{}, status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hold, h.status = hold, status
}

func (h *smallHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	hold, status := h.hold, h.status
	h.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	if r.URL.Path == "/api/models" {
		h.search(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		h.list(w)
		return
	}
	name := filepath.Base(r.URL.Path)
	if hold != nil && name == "model.safetensors" {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %s/%d", strings.TrimPrefix(r.Header.Get("Range"), "bytes="), len(h.files[name])))
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush()
		select {
		case <-hold:
		case <-r.Context().Done():
		}
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.files[name]))
}

// search says that its owner has one repository of the files, and one without any.
func (h *smallHub) search(w http.ResponseWriter, r *http.Request) {
	list := []map[string]any{}
	for id, files := range map[string]map[string][]byte{"someone/clef-tiny": h.files, "someone/other": nil} {
		if strings.Contains(id, r.URL.Query().Get("search")) {
			list = append(list, map[string]any{"id": id, "sha": tinyAt, "siblings": siblings(files)})
		}
	}
	_ = json.NewEncoder(w).Encode(list)
}

func (h *smallHub) list(w http.ResponseWriter) {
	_ = json.NewEncoder(w).Encode(map[string]any{"sha": tinyAt, "siblings": siblings(h.files)})
}

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

// checkAndDamage checks a good model, then one with a flipped bit.
func checkAndDamage(t *testing.T, s *store, id string) {
	t.Helper()
	checked := func(r ui.Shelved) bool { return r.Verdict != nil && !r.Verdict.Running }
	s.Check(id)
	if r := s.until(id, "checked", checked); !r.Verdict.Good || !strings.Contains(r.Verdict.Text, "no reference numbers") {
		t.Errorf("checked: %+v", r.Verdict)
	}
	if r, _ := s.row(id); r.Stage != ui.StageReady || s.Machine().InUse <= 0 {
		t.Errorf("a small model that answered the probes is in memory, and not in use: %+v, %+v", r, s.Machine())
	}
	blob, err := filepath.EvalSymlinks(filepath.Join(id, "joint_head.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(blob)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-9] ^= 1
	if err := os.WriteFile(blob, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Check(id)
	if r := s.until(id, "checked again", checked); r.Verdict.Good || !r.Verdict.Damaged || !strings.Contains(r.Verdict.Text, "joint_head.safetensors") {
		t.Errorf("damaged: %+v", r.Verdict)
	}
	s.Repair(id)
	s.until(id, "repaired", stage(ui.StageReady))
	s.Check(id)
	if r := s.until(id, "checked after the repair", checked); !r.Verdict.Good {
		t.Errorf("repaired: %+v", r.Verdict)
	}
}

// TestShelfHoldsAnswersAgainstARecord records Etude's answers from the window and compares with them, and with others.
func TestShelfHoldsAnswersAgainstARecord(t *testing.T) {
	folders(t)
	s := openStore(t)
	told := make(chan error, 1)
	file := filepath.Join(t.TempDir(), "answers.json")
	s.Record(etudeKey, file, func(err error) { told <- err })
	if err := <-told; err == nil {
		t.Error("answers were kept that nobody gave")
	}
	checked := func(r ui.Shelved) bool { return r.Verdict != nil && !r.Verdict.Running }
	s.Check(etudeKey)
	r := s.until(etudeKey, "checked", checked)
	if !r.Verdict.Good || !r.Verdict.Answered || r.Verdict.Compared == 0 || len(r.Verdict.Findings) < 10 || !strings.Contains(r.Verdict.Report, "largest difference") {
		t.Fatalf("Etude: %+v", r.Verdict)
	}
	s.Record(etudeKey, file, func(err error) { told <- err })
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	before := r.Verdict.Compared
	s.CheckAgainst(etudeKey, file)
	if r = s.until(etudeKey, "compared", checked); !r.Verdict.Good || r.Verdict.Compared <= before || !strings.Contains(r.Verdict.Report, "answers.json") {
		t.Errorf("against its own answers: %+v", r.Verdict)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct{ text, want string }{
		{strings.Replace(string(data), `": 0.`, `": 0.0`, 1), "differs by"}, {"{}", "not a recording"}, {"", "not a recording"},
	} {
		if err := os.WriteFile(file, []byte(bad.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.CheckAgainst(etudeKey, file)
		if r = s.until(etudeKey, "compared", checked); r.Verdict.Good || !strings.Contains(r.Verdict.Text, bad.want) {
			t.Errorf("against %.20q: %+v, want %q", bad.text, r.Verdict, bad.want)
		}
	}
	s.CheckAgainst(etudeKey, filepath.Join(t.TempDir(), "none.json"))
	if r = s.until(etudeKey, "compared", checked); r.Verdict.Good || !strings.Contains(r.Verdict.Text, "none.json") {
		t.Errorf("against no file: %+v", r.Verdict)
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

func TestShelfFoldersAndServers(t *testing.T) {
	folders(t)
	s := openStore(t)
	golden := filepath.Dir(goldentest.Path(t, "cases.json"))
	s.AddFolder(golden)
	r := s.until("tiny-9b-shape-hf", "ready", stage(ui.StageReady))
	if !r.Loose || r.Layout != "bf16" {
		t.Errorf("%+v", r)
	}
	s.Remove(r.ID)
	s.untilGone(r.ID)
	if _, err := os.Stat(filepath.Join(golden, "tiny-9b-shape-hf", "config.json")); err != nil {
		t.Fatal("files of the person's own folder were deleted")
	}
	s.until("tiny-9b-shape-mlx-4bit", "still there", stage(ui.StageReady))
	gone := filepath.Join(t.TempDir(), "disk")
	s.AddFolder(gone)
	s.until(gone, "away", stage(ui.StageAway))

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" || r.URL.Path != "/v1/models" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"models":[{"name":"clef"},{"name":"jev-latest"},{"name":"cloudflare/clef","description":"Answered by clef: x"}]}`)
	}))
	defer server.Close()
	told := make(chan error, 1)
	s.AddServer(server.URL, "", func(err error) { told <- err })
	if err := <-told; err == nil {
		t.Error("a server that wants a key was added without one")
	}
	s.AddServer(server.URL, "k", func(err error) { told <- err })
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(settingsFile()); err != nil || strings.Contains(string(b), `"k"`) {
		t.Errorf("the key is in the settings: %s, %v", b, err)
	}
	if k, err := serverKey(server.URL).Load(); err != nil || k != "k" {
		t.Errorf("the key: got %q, %v", k, err)
	}
	s.AddServer(server.URL, "bad key", func(err error) { told <- err })
	if err := <-told; err == nil {
		t.Error("a key was taken that cannot be sent")
	}
	key := server.URL + "#clef"
	if r := s.until(key, "there", stage(ui.StageReady)); r.Name != "clef" || r.Server != server.URL {
		t.Errorf("%+v", r)
	}
	s.stop()
	s = openStore(t)
	s.until(key, "there after a restart", stage(ui.StageReady))
	s.Remove(key)
	s.untilGone(key)
	if set, err := loadSettings(); err != nil || len(set.Servers) > 0 {
		t.Errorf("settings: %+v, %v", set, err)
	}
	for range 500 { // it goes a moment after the row
		if _, err := serverKey(server.URL).Load(); errors.Is(err, secret.ErrNone) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the key is still there")
}

// TestOldKeysMove starts with a settings file of an earlier version, which held the keys of servers.
func TestOldKeysMove(t *testing.T) {
	folders(t)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(settingsFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const old = `{"servers":["http://a:1#clef"],"server_keys":{"http://a:1":"old-key","http://b:1":"not ascii: ä"}}`
	write(old)
	set, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	if k, err := set.keyOf("http://a:1"); err != nil || k != "old-key" {
		t.Errorf("before the move: got %q, %v", k, err)
	}
	if err := changeSettings(func(*settings) {}); err != nil {
		t.Fatal(err)
	}
	set, err = loadSettings()
	if err != nil || len(set.Servers) != 1 || len(set.OldKeys) != 1 || set.OldKeys["http://b:1"] == "" {
		t.Errorf("after the move: %+v, %v; the key that cannot be stored has to stay", set, err)
	}
	if k, err := set.keyOf("http://a:1"); err != nil || k != "old-key" {
		t.Errorf("after the move: got %q, %v", k, err)
	}
	t.Setenv("CLEFBAR_SERVER_KEY", "from-outside")
	for address, want := range map[string]string{"http://a:1": "old-key", "http://c:1": "from-outside"} {
		if k, err := set.keyOf(address); err != nil || k != want {
			t.Errorf("%s: got %q, %v, want %q", address, k, err, want)
		}
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

// TestShelfKeepsModelsElsewhere chooses another folder because the usual one is a file.
func TestShelfKeepsModelsElsewhere(t *testing.T) {
	folders(t)
	startHub(t)
	t.Setenv("HF_HUB_CACHE", "")
	home := t.TempDir()
	t.Setenv("HF_HOME", home)
	if err := os.WriteFile(filepath.Join(home, "hub"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openStore(t)
	s.Watch(nil)
	for range 500 {
		if s.Machine().Trouble != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if m := s.Machine(); !strings.Contains(m.Trouble, "a file stands") {
		t.Errorf("trouble: %q", m.Trouble)
	}
	s.Get(flash4)
	if r := s.until(flash4, "failed", stage(ui.StageFailed)); !strings.Contains(r.Why, "a file stands") {
		t.Errorf("%+v", r)
	}
	told := make(chan error, 1)
	for _, bad := range []string{"relative", filepath.Join(home, "hub", "deeper")} {
		s.SetFolder(bad, func(err error) { told <- err })
		if err := <-told; err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	other := filepath.Join(t.TempDir(), "models")
	s.SetFolder(other, func(err error) { told <- err })
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	if path, fixed := s.Folder(); path != other || fixed || s.Machine().Trouble != "" {
		t.Errorf("got %s, %v, %q", path, fixed, s.Machine().Trouble)
	}
	s.Get(flash4)
	r := s.until(tinyAt, "ready", stage(ui.StageReady))
	if !strings.HasPrefix(r.ID, other) {
		t.Errorf("it is in %s", r.ID)
	}
	if got := runHere(t, "models", "path"); strings.TrimSpace(got.out) != other {
		t.Errorf("the command line says %q, %s", got.out, got.err)
	}
	t.Setenv("HF_HUB_CACHE", home)
	if path, fixed := s.Folder(); path != home || !fixed {
		t.Errorf("the variable wins: got %s, %v", path, fixed)
	}
}
