package secret

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	f := file{filepath.Join(t.TempDir(), "sub", "key")}
	if _, err := f.Load(); !errors.Is(err, ErrNone) {
		t.Fatalf("empty store: got %v, want ErrNone", err)
	}
	key := New()
	if err := Check(key); err != nil || len(key) < 32 {
		t.Fatalf("new key %q: %v", key, err)
	}
	if err := f.Save(key); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Load(); err != nil || got != key {
		t.Errorf("got %q, %v; want %q", got, err, key)
	}
	info, err := os.Stat(f.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: got %v, %v; want 0600", info.Mode(), err)
	}
	if err := os.Chmod(f.path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Load(); err != nil {
		t.Error(err)
	}
	if info, _ := os.Stat(f.path); info.Mode().Perm() != 0o600 {
		t.Errorf("an open file stays open: %v", info.Mode())
	}
	for _, bad := range []string{"", "two words", "schlüssel", "new\nline", strings.Repeat("x", 2000)} {
		if err := f.Save(bad); err == nil {
			t.Errorf("the key %q was accepted", bad)
		}
	}
	if err := errors.Join(f.Delete(), f.Delete()); err != nil {
		t.Error(err)
	}
	if _, err := f.Load(); !errors.Is(err, ErrNone) {
		t.Errorf("after Delete: got %v, want ErrNone", err)
	}
}

func TestReadFile(t *testing.T) {
	good := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(good, []byte(" sesame \r\nnotes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(good); err != nil || got != "sesame" {
		t.Errorf("got %q, %v; want sesame", got, err)
	}
	for _, bad := range []string{filepath.Dir(good), filepath.Join(good, "none"), os.DevNull, "/dev/zero"} {
		if got, err := ReadFile(bad); err == nil {
			t.Errorf("%s: got %q, want an error", bad, got)
		}
	}
}

func TestPlacesAreApart(t *testing.T) {
	dir := t.TempDir()
	places := map[string]Store{"endpoint": Endpoint(dir), "a": Server(dir, "http://a:1"), "b": Server(dir, "http://b:1"), "odd": Server(dir, "http://x/../../y?z=\"$(touch x)\"")}
	if _, plain := places["a"].(file); !plain {
		t.Skip("this system keeps keys in its own store, which a test leaves alone")
	}
	for name, p := range places {
		if err := p.Save("key-of-" + name); err != nil {
			t.Fatal(err)
		}
	}
	for name, p := range places {
		if got, err := p.Load(); err != nil || got != "key-of-"+name {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if list, err := os.ReadDir(filepath.Join(dir, "server-keys")); err != nil || len(list) != 3 {
		t.Errorf("got %v, %v, want three files", list, err)
	}
}
