package shelf

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"clefbar/models/hub"
	"clefbar/models/modeltest"
)

// write makes a file with its folders.
func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// modelAt copies a small whole model to dir.
func modelAt(t *testing.T, dir string) {
	t.Helper()
	if err := os.CopyFS(dir, modeltest.Small.Files(nil)); err != nil {
		t.Fatal(err)
	}
}

// scanned looks at one snapshot of a cache within a time.
func scanned(t *testing.T, cache string) []Item {
	t.Helper()
	type found struct {
		items []Item
		err   error
	}
	done := make(chan found, 1)
	go func() {
		items, err := Scan(t.Context(), hub.Cache{Dir: cache}, nil)
		done <- found{items, err}
	}()
	select {
	case f := <-done:
		if f.err != nil {
			t.Errorf("got %v", f.err)
		}
		return f.items
	case <-time.After(20 * time.Second):
		t.Fatal("the look did not end")
	}
	return nil
}

// TestOddSnapshots puts one thing wrong into a whole model of the cache. Each is named and none stops the look.
func TestOddSnapshots(t *testing.T) {
	huge := binary.LittleEndian.AppendUint64(nil, 1<<63)
	link := func(target string) func(t *testing.T, name string) {
		return func(t *testing.T, name string) {
			os.Remove(name)
			if err := os.Symlink(target, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	bytes := func(b string) func(t *testing.T, name string) {
		return func(t *testing.T, name string) { write(t, name, []byte(b)) }
	}
	for _, tt := range []struct {
		what, file string
		spoil      func(t *testing.T, name string)
		want       State
		says       string // in Problem
	}{
		{"dangling link", "model.safetensors", link("../../blobs/none"), Incomplete, "model.safetensors"},
		{"link to itself", "model.safetensors", link("model.safetensors"), Broken, "model.safetensors"},
		{"link to a folder", "model.safetensors", link(".."), Broken, "model.safetensors"},
		{"dangling tokenizer", "tokenizer.json", link("/nowhere/x"), Incomplete, "tokenizer.json"},
		{"pipe", "model.safetensors", func(t *testing.T, name string) {
			os.Remove(name)
			if err := syscall.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
		}, Broken, "model.safetensors"},
		{"device", "tokenizer.json", link("/dev/zero"), Broken, "tokenizer.json"},
		{"endless header", "model.safetensors", bytes(string(huge) + "{}"), Broken, "header"},
		{"header beyond the file", "joint_head.safetensors", bytes("\x00\x01\x00\x00\x00\x00\x00\x00{}"), Incomplete, "joint_head.safetensors"},
		{"empty", "model.safetensors", bytes(""), Incomplete, "model.safetensors"},
		{"web page", "model.safetensors", bytes("<!DOCTYPE html><html>" + strings.Repeat("x", 400)), Broken, "web page"},
		{"pointer", "joint_head.safetensors", bytes("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"), Broken, "pointer"},
		{"config of zeros", "config.json", bytes(strings.Repeat("\x00", 4096)), Broken, "config.json"},
		{"config not UTF-8", "config.json", bytes("{\"model_type\":\"qwen3_5\xff\xfe\"}"), Unsupported, "config.json"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			cache := t.TempDir()
			dir := filepath.Join(cache, "models--o--clef", "snapshots", strings.Repeat("a", 40))
			modelAt(t, dir)
			tt.spoil(t, filepath.Join(dir, tt.file))
			items := scanned(t, cache)
			if len(items) != 1 {
				t.Fatalf("got %+v", items)
			}
			i := items[0]
			if i.State == Ready || i.Problem == nil || !strings.Contains(i.Problem.Error(), tt.says) || len(i.Problem.Error()) > 400 {
				t.Errorf("got %v, %v, want %v and %q", i.State, i.Problem, tt.want, tt.says)
			}
			if i.State != tt.want {
				t.Errorf("got %v (%v), want %v", i.State, i.Problem, tt.want)
			}
		})
	}
}

// TestOddCaches fills a cache with what is no model: the one that is must still be found.
func TestOddCaches(t *testing.T) {
	cache := t.TempDir()
	good := filepath.Join(cache, "models--o--clef", "snapshots", strings.Repeat("a", 40))
	modelAt(t, good)
	write(t, filepath.Join(cache, "models--file"), nil)
	write(t, filepath.Join(cache, "models--o--files", "snapshots"), nil)
	write(t, filepath.Join(cache, "models--o--refs", "refs"), nil)
	write(t, filepath.Join(cache, "models--o--clef", "refs", "main.1234.new"), []byte(strings.Repeat("a", 40)))
	write(t, filepath.Join(cache, "models--o--clef", "refs", "main"), []byte(strings.Repeat("a", 40)+"\n"))
	write(t, filepath.Join(cache, "models--\xff\xfe--\x01name", "snapshots", "\xff", "config.json"), []byte("{}"))
	write(t, filepath.Join(cache, "models--o--x", "snapshots", "not-a-commit", "joint_head.safetensors"), nil)
	write(t, filepath.Join(cache, "models--", "snapshots", "a", "config.json"), []byte(`{"model_type":"qwen3_5"}`))
	write(t, filepath.Join(cache, "models--noslash", "snapshots", "a", "config.json"), []byte(`{"model_type":"qwen3_5"}`))
	if err := os.Symlink(cache, filepath.Join(cache, "models--o--loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/nowhere", filepath.Join(cache, "models--o--gone")); err != nil {
		t.Fatal(err)
	}
	var ready []Item
	for _, i := range scanned(t, cache) {
		if i.State == Ready {
			ready = append(ready, i)
		}
		if strings.ContainsAny(i.Name, "\x00\n") {
			t.Errorf("name %q", i.Name)
		}
	}
	if len(ready) != 1 || ready[0].Dir != good || len(ready[0].Refs) != 1 || ready[0].Refs[0] != "main" {
		t.Errorf("got %+v", ready)
	}
}

// TestScanWithoutPermission looks as another user at a cache that only its owner may read. The test runs itself as that
// user.
func TestScanWithoutPermission(t *testing.T) {
	if dir := os.Getenv("CLEFBAR_TEST_SCAN"); dir != "" {
		items, err := Scan(t.Context(), hub.Cache{Dir: filepath.Join(dir, "hub")}, []string{filepath.Join(dir, "own")})
		for _, i := range items {
			t.Logf("item %s %s: %v", i.Name, i.State, i.Problem)
		}
		t.Logf("trouble %v", err)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("only root can run as another user")
	}
	dir, err := os.MkdirTemp("", "clefbar-scan-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	modelAt(t, filepath.Join(dir, "hub/models--o--clef/snapshots", strings.Repeat("a", 40)))
	modelAt(t, filepath.Join(dir, "own"))
	for _, closed := range []string{"hub", "own"} {
		if err := os.Chmod(filepath.Join(dir, closed), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "TestScanWithoutPermission", "-test.v")
	cmd.Env = append(os.Environ(), "CLEFBAR_TEST_SCAN="+dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"trouble " + filepath.Join(dir, "hub") + " belongs to another user", "item own broken", "permission denied"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}
