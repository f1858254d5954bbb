package instance

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSecondCopyBringsTheFirstForward(t *testing.T) {
	dir := t.TempDir()
	shown := make(chan bool, 1)
	first, err := First(dir, func() { shown <- true })
	if err != nil || first == nil {
		t.Fatalf("first copy: got %v, %v", first, err)
	}
	second, err := First(dir, func() { t.Error("the second copy was asked to show") })
	if err != nil || second != nil {
		t.Fatalf("second copy: got %v, %v, want nothing and no error", second, err)
	}
	if !<-shown {
		t.Error("the first copy was not asked to show")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := First(dir, func() {})
	if err != nil || third == nil {
		t.Fatalf("after the first ended: got %v, %v", third, err)
	}
	third.Close()
}

func TestStaleSocketOfACrashedCopy(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "app.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	i, err := First(dir, func() {})
	if err != nil || i == nil {
		t.Fatalf("got %v, %v, want the place of the crashed copy", i, err)
	}
	i.Close()
}

func TestHungCopy(t *testing.T) {
	dir := t.TempDir()
	lock, err := os.Create(filepath.Join(dir, "app.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if i, err := First(dir, func() {}); !errors.Is(err, ErrHung) || i != nil {
		t.Errorf("got %v, %v, want %v", i, err, ErrHung)
	}
}
