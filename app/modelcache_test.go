package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clefbar/ui"
)

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
