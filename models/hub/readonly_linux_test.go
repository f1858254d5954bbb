package hub

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReadOnlyDisk fetches into a cache on a disk that cannot be written any more.
func TestReadOnlyDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("a disk cannot be made read-only here: %v", err)
	}
	h := newFakeHub(t, repoFiles())
	c := h.client()
	c.spare = 0
	_, err := fetch(t, h, c, Cache{filepath.Join(dir, "hub")})
	if folder, ok := errors.AsType[*FolderError](err); !ok || !strings.Contains(err.Error(), "read-only") || !strings.HasPrefix(folder.Path, dir) {
		t.Errorf("got %v", err)
	}
}

// TestPipesInTheCache puts pipes where records and journals are looked for: nothing waits for their other end.
func TestPipesInTheCache(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache := Cache{t.TempDir()}
	r, err := h.client().Lookup(t.Context(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cache.begin(r); err != nil {
		t.Fatal(err)
	}
	name := cache.begunFile(r.ID, strings.Repeat("e", 40))
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan int, 1)
	go func() { done <- len(cache.Begun(r.ID)) }()
	select {
	case n := <-done:
		if n != 1 {
			t.Errorf("got %d records, want the real one", n)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("reading the records did not end")
	}
}
