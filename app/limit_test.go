package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"clefbar/engine/local"
	"clefbar/ui"
)

// TestRaiseTheLimit opens a model anew for longer requests. The limit stays with the model over a restart, and with no other.
func TestRaiseTheLimit(t *testing.T) {
	folders(t)
	dir := filepath.Join(t.TempDir(), "m")
	if err := os.CopyFS(dir, os.DirFS(tiny(t))); err != nil {
		t.Fatal(err)
	}
	s := openStore(t)
	s.AddFolder(dir)
	s.until(dir, "ready", stage(ui.StageReady))
	until := func(what string, good func(ui.ModelState) bool) ui.ModelState {
		t.Helper()
		for range 1000 {
			if st := s.models.State(); good(st) {
				return st
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%s: %+v", what, s.models.State())
		return ui.ModelState{}
	}
	s.models.Open(dir)
	st := until("open", func(st ui.ModelState) bool { return st.Phase == ui.PhaseReady && st.ID == dir })
	if st.Info.Limit != local.DefaultLimit || st.Longer.Most != local.MaxLimit || st.Longer.PerToken <= 0 {
		t.Fatalf("before: limit %d, %+v", st.Info.Limit, st.Longer)
	}
	before, _ := s.row(dir)
	s.models.Raise(2 * local.DefaultLimit)
	raised := func(st ui.ModelState) bool { return st.Phase == ui.PhaseReady && st.Info.Limit == 2*local.DefaultLimit }
	until("raised", raised)
	if after, _ := s.row(dir); after.Memory <= before.Memory {
		t.Errorf("memory: got %d after, %d before", after.Memory, before.Memory)
	}
	for range 500 { // the choice of the model is kept a moment after it is open
		if set, err := loadSettings(); err == nil && set.Model == dir {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.stop()
	s = openStore(t)
	s.models.Open(dir)
	until("raised after a restart", raised)
	config := filepath.Join(dir, "config.json") // another model takes the folder
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, regexp.MustCompile(`"max_position_embeddings": *\d+`).ReplaceAll(text, []byte(`"max_position_embeddings": 20000`)), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := s.lib.openLocal(t.Context(), dir, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Info().Limit; got != local.DefaultLimit {
		t.Errorf("a smaller model in the folder: limit %d", got)
	}
	_ = m.Close()
	if got := s.lib.limit(etudeKey); got != 0 {
		t.Errorf("Etude's limit: got %d", got)
	}
	s.lib.set.Limits = map[string]int{dir: 1 << 40, etudeKey: 1 << 20, "x": -1}
	for key, want := range map[string]int{dir: local.MaxLimit, etudeKey: 0, "x": 0} {
		if got := s.lib.limit(key); got != want {
			t.Errorf("%s: got %d, want %d", key, got, want)
		}
	}
	if st := (&library{how: howToRun{maxTokens: 9}}).longer(dir); st.Most != 0 {
		t.Errorf("a limit of the command line can be raised: %+v", st)
	}
}
