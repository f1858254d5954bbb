package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clefbar/ui"
)

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
