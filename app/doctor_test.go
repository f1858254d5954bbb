package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clefbar/engine/probe"
)

func (d diagnosis) failed() string {
	var names []string
	for _, c := range d.Checks {
		if !c.OK && !c.Skipped {
			names = append(names, c.Name+": "+c.Detail)
		}
	}
	return strings.Join(names, "; ")
}

func TestDoctorFindsEtudeWell(t *testing.T) {
	for precision, bound := range map[string]float64{"f32": 1e-4, "auto": 0.05} {
		got := run(t, "", "doctor", "--quiet", "--precision", precision)
		d := decode[diagnosis](t, got)
		if got.code != 0 || !d.OK || d.Model != "etude" || d.Largest > bound || len(d.Checks) != 9 || len(d.Probes) != len(probe.Probes()) {
			t.Errorf("%s: exit %d, %s: %+v\nAfter training Etude again: go test ./engine/probe -update", precision, got.code, d.failed(), d)
		}
		if d.Machine.Processors == 0 || d.Machine.Memory <= 0 || d.Machine.Available > d.Machine.Memory {
			t.Errorf("machine: %+v", d.Machine)
		}
	}
}

// cached copies a golden checkpoint into the layout of the Hub's cache, where large
// files are named by their SHA-256, and returns the snapshot.
func cached(t *testing.T) (snapshot string, blobs map[string]string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "models--us--tiny")
	snapshot = filepath.Join(root, "snapshots", strings.Repeat("0", 40))
	blobs = map[string]string{}
	for _, dir := range []string{snapshot, filepath.Join(root, "blobs")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	names, err := os.ReadDir(tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(tiny(t), n.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		blob := filepath.Join(root, "blobs", hex.EncodeToString(sum[:]))
		if err := os.WriteFile(blob, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(blob, filepath.Join(snapshot, n.Name())); err != nil {
			t.Fatal(err)
		}
		blobs[n.Name()] = blob
	}
	return snapshot, blobs
}

func TestDoctorFindsDamage(t *testing.T) {
	snapshot, blobs := cached(t)
	whole := run(t, "", "doctor", "--quiet", snapshot)
	d := decode[diagnosis](t, whole)
	if whole.code != 0 || !strings.Contains(d.Checks[5].Detail, "have the hash") || d.Reference != "" {
		t.Fatalf("whole: exit %d %+v", whole.code, d)
	}
	data, err := os.ReadFile(blobs["model.safetensors"])
	if err != nil {
		t.Fatal(err)
	}
	one := bytes.Clone(data)
	one[len(one)-100] ^= 1 // one bit of one weight: no header or shape shows it
	if err := os.WriteFile(blobs["model.safetensors"], one, 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, "", "doctor", "--quiet", snapshot)
	if d := decode[diagnosis](t, got); got.code != exitModel || d.failed() != "hashes: damaged: model.safetensors" {
		t.Errorf("one bit: exit %d, %s", got.code, d.failed())
	}
	if err := os.WriteFile(blobs["model.safetensors"], data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	got = run(t, "", "doctor", "--quiet", snapshot)
	if d := decode[diagnosis](t, got); got.code != exitModel || !strings.HasPrefix(d.failed(), "files: ") {
		t.Errorf("half a file: exit %d, %s", got.code, d.failed())
	}
}

func TestDoctorRecordsAndCompares(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record.json")
	if got := run(t, "", "doctor", "--quiet", "--precision", "f32", "--record", record, tiny(t)); got.code != 0 {
		t.Fatalf("record: exit %d %s%s", got.code, got.out, got.err)
	}
	same := decode[diagnosis](t, run(t, "", "doctor", "--quiet", "--precision", "f32", "--against", record, tiny(t)))
	if !same.OK || same.Largest != 0 || !strings.Contains(same.Reference, "record.json") {
		t.Errorf("the same again: %+v", same)
	}
	got := run(t, "", "doctor", "--quiet", "--against", record)
	if d := decode[diagnosis](t, got); got.code != exitFailed || !strings.HasPrefix(d.failed(), "reference: ") || d.Largest < 0.05 {
		t.Errorf("another model: exit %d, %s", got.code, d.failed())
	}
	if got := run(t, "", "doctor", "--quiet", "--against", record, "--tolerance", "1"); got.code != 0 {
		t.Errorf("with the widest tolerance: exit %d %s", got.code, got.out)
	}
	for _, args := range [][]string{{"--against", "none.json"}, {"--against", filepath.Join(tiny(t), "config.json")}, {"--tolerance", "2"}, {"http://127.0.0.1:1"}} {
		if got := run(t, "", append([]string{"doctor", "--quiet"}, args...)...); got.code != exitUsage {
			t.Errorf("%v: exit %d %s", args, got.code, got.err)
		}
	}
}

// TestDoctorNamesWhatIsWrong takes the reasons apart: each belongs to one check.
func TestDoctorNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, check, says string
		code              int
		damage            func(dir string) error
	}{
		{"no head", "head", "chat backbone", exitModel, func(dir string) error { return os.Remove(filepath.Join(dir, "joint_head.safetensors")) }},
		{"no weights", "files", "model.safetensors", exitModel, func(dir string) error { return os.Remove(filepath.Join(dir, "model.safetensors")) }},
		{"a web page", "headers", "web page", exitFailed, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "model.safetensors"), []byte("<!DOCTYPE html><html>Sign in</html>"), 0o600)
		}},
		{"another head", "head", "", exitFailed, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "joint_head_config.json"), []byte(`{"hidden_size":96,"width":64,"routing_layers":2,"layers":4,"heads":4,"feedforward":64}`), 0o600)
		}},
		{"no tokenizer", "tokenizer", "tokenizer.json", exitModel, func(dir string) error { return os.Remove(filepath.Join(dir, "tokenizer.json")) }},
	} {
		dir := filepath.Join(t.TempDir(), "model")
		if err := os.CopyFS(dir, os.DirFS(tiny(t))); err != nil {
			t.Fatal(err)
		}
		os.Chmod(dir, 0o700)
		if err := c.damage(dir); err != nil {
			t.Fatal(err)
		}
		got := run(t, "", "doctor", "--quiet", dir)
		d := decode[diagnosis](t, got)
		if got.code != c.code || !strings.HasPrefix(d.failed(), c.check+": ") || !strings.Contains(d.failed(), c.says) {
			t.Errorf("%s: exit %d, %q, want %d and %s: …%s", c.name, got.code, d.failed(), c.code, c.check, c.says)
		}
	}
}
