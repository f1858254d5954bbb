package hub

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestDiskFills lets a small disk fill up in the middle of a file. What arrived stays, and with room again the rest comes.
func TestDiskFills(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	h := newFakeHub(t, repoFiles())
	cache, filler := Cache{filepath.Join(dir, "hub")}, filepath.Join(dir, "filler")
	c := h.client()
	c.Workers, c.spare = 1, 0
	r, err := c.Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	big := fileNamed(r, "model.safetensors")
	h.failWith(func(w http.ResponseWriter, req *http.Request, name string, body []byte) bool {
		if name == big.Path {
			os.WriteFile(filler, make([]byte, 11<<20), 0o600)
		}
		return false
	})
	_, err = c.Fetch(context.Background(), cache, r, nil)
	space, ok := errors.AsType[*SpaceError](err)
	if !ok || space.Need <= 0 || space.Dir != cache.Dir {
		t.Fatalf("got %v, want a word about the full disk", err)
	}
	if cache.Has(r, big) {
		t.Error("the file looks complete")
	}
	kept := cache.Arrived(r, big)
	if kept == 0 {
		t.Error("nothing was kept")
	}
	h.failWith(nil)
	os.Remove(filler)
	before := h.served.Load()
	where, err := c.Fetch(context.Background(), cache, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkSnapshot(t, h, where)
	if got, most := h.served.Load()-before, int64(10*blockSize+12345+4096)-kept+blockSize; got > most {
		t.Errorf("with room again %d bytes came, want at most %d", got, most)
	}
}
