//go:build unix

package fault

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const pages = 64

// mapped maps a file of pages full of ones.
func mapped(t *testing.T) (file string, b []byte) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "weights")
	size := pages * os.Getpagesize()
	if err := os.WriteFile(file, []byte(strings.Repeat("\x01", size)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(b); err != nil {
			t.Error(err)
		}
	})
	return file, b
}

func cut(t *testing.T, file string) {
	t.Helper()
	if err := os.Truncate(file, int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
}

func sum(b []byte) (n int) {
	for _, x := range b {
		n += int(x)
	}
	return n
}

func TestLostRegion(t *testing.T) {
	file, b := mapped(t)
	r := Watch(b)
	defer r.End()
	read := func() error {
		if n := sum(b); n >= len(b) {
			t.Errorf("got a sum of %d of a file that is gone", n)
		}
		return nil
	}
	if n := sum(b); n != len(b) || r.Lost() {
		t.Fatalf("whole file: sum %d, lost %v", n, r.Lost())
	}
	cut(t, file)
	if r.Lost() {
		t.Error("lost before anybody has read it")
	}
	for range 3 {
		if err := Guard(read); err != nil && !errors.Is(err, ErrLost) {
			t.Errorf("got %v, want ErrLost or nil", err)
		}
		if !r.Lost() {
			t.Fatal("read without its pages, but not marked")
		}
	}
}

// TestManyRegions watches and ends regions while others are lost: each is marked alone, and a place in the handler's
// list that is used again starts unmarked.
func TestManyRegions(t *testing.T) {
	t.Run("together", func(t *testing.T) {
		for i := range 4 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for n := range 25 {
					file, b := mapped(t)
					r := Watch(b)
					gone := (i+n)%2 == 0
					if gone {
						cut(t, file)
					}
					ones := 0
					err := Guard(func() error { ones = sum(b); return nil })
					if r.Lost() != gone || (ones == len(b)) == gone || (err != nil && !gone) {
						t.Errorf("region %d: cut %v, lost %v, %d ones, %v", n, gone, r.Lost(), ones, err)
					}
					r.End()
				}
			})
		}
	})
	if n := len(watched.regions); n != 0 {
		t.Errorf("%d regions are still watched", n)
	}
}

// TestForeignFaults: what is not watched is none of ours. It reaches the runtime, which panics.
func TestForeignFaults(t *testing.T) {
	file, b := mapped(t)
	_, other := mapped(t)
	r := Watch(other)
	defer r.End()
	cut(t, file)
	for name, work := range map[string]func(){
		"unwatched mapping": func() { t.Error(sum(b)) },
		"nil":               func() { var p *[4]int; p[len(name(p))]++ },
		"defect":            func() { panic("boom") },
	} {
		if p := panicOf(func() { _ = Guard(func() error { work(); return nil }) }); p == nil {
			t.Errorf("%s: no panic came through", name)
		}
	}
	if r.Lost() {
		t.Error("another region was marked")
	}
}

func name(*[4]int) string { return "abc" }

func panicOf(work func()) (p any) {
	defer func() { p = recover() }()
	work()
	return nil
}

// TestGuardLeavesTheGoroutineAsItWas: a fault outside of Guard is no panic if it was none before.
func TestGuardLeavesTheGoroutineAsItWas(t *testing.T) {
	for _, before := range []bool{false, true} {
		debug.SetPanicOnFault(before)
		_ = Guard(func() error { return nil })
		if got := debug.SetPanicOnFault(false); got != before {
			t.Errorf("got %v after Guard, want %v", got, before)
		}
	}
}
