//go:build unix

package shelf

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe in a folder that is looked at does not stop the look.
func TestScanPassesPipes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"config.json", "clef.gguf"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan bool, 1)
	go func() { done <- clefShaped(dir) }()
	select {
	case shaped := <-done:
		if shaped {
			t.Error("got a Clef model, want none")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the look at a folder with pipes did not end")
	}
}
