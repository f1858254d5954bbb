package metal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"clefbar/metal/gpu"
)

func testArchive(t *testing.T, i gpu.Info) archive {
	t.Helper()
	a, err := newArchive(i)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestArchive: kernels come back whole or not at all.
func TestArchive(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	info := gpu.Info{Name: "Apple M2 Max", Architecture: "applegpu_g14s", OS: "24A335"}
	a := testArchive(t, info)
	if got := a.usable(); got != "" {
		t.Errorf("nothing kept: got %q", got)
	}
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o644) }
	}
	damage := map[string]func() error{
		"nothing":         func() error { return nil },
		"a cut":           func() error { return os.Truncate(a.path, 3) },
		"a changed byte":  func() error { return os.WriteFile(a.path, []byte("kernelz"), 0o644) },
		"an empty file":   func() error { return os.Truncate(a.path, 0) },
		"a lost hash":     func() error { return os.Remove(a.path + sumEnding) },
		"a lost file":     func() error { return os.Remove(a.path) },
		"a cut hash":      func() error { return os.Truncate(a.path+sumEnding, 10) },
		"a hash replaced": func() error { return os.WriteFile(a.path+sumEnding, []byte("x"), 0o644) },
	}
	for what, harm := range damage {
		if err := a.keep(write("kernels")); err != nil {
			t.Fatal(err)
		}
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		got := a.usable()
		if (got != "") != (what == "nothing") {
			t.Errorf("%s: got %q", what, got)
		}
		if _, err := os.Stat(a.path); got == "" && err == nil {
			t.Errorf("%s: the damaged file is still there", what)
		}
	}
	if err := a.keep(write("old")); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("disk full")
	if err := a.keep(func(string) error { return failed }); !errors.Is(err, failed) || a.usable() == "" {
		t.Errorf("a failed write: got %v, want the error and the old file kept", err)
	}
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(a.path), "*")); len(list) != 2 {
		t.Errorf("got %v, want the file and its hash", list)
	}
}

// TestArchiveKey: another GPU or system has another file, and the old one goes.
func TestArchiveKey(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	info := gpu.Info{Name: "Apple M2 Max", Architecture: "applegpu_g14s", OS: "24A335"}
	a := testArchive(t, info)
	if a != testArchive(t, info) {
		t.Error("the name is not stable")
	}
	write := func(path string) error { return os.WriteFile(path, []byte("kernels"), 0o644) }
	if err := a.keep(write); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*gpu.Info){
		func(i *gpu.Info) { i.OS = "25A1" },
		func(i *gpu.Info) { i.Name = "Apple M3" },
		func(i *gpu.Info) { i.Architecture = "applegpu_g15s" },
	} {
		other := info
		change(&other)
		b := testArchive(t, other)
		if a == b || b.usable() != "" {
			t.Errorf("%+v has the archive of %+v", other, info)
		}
	}
	info.OS = "25A1"
	if err := testArchive(t, info).keep(write); err != nil {
		t.Fatal(err)
	}
	if a.usable() != "" {
		t.Error("the archive of the older system is still there")
	}
}
