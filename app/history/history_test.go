package history

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain lets the test binary be a process that writes until it is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("HISTORY_TEST_WRITER"); path != "" {
		writeForever(path)
	}
	os.Exit(m.Run())
}

func fresh(t *testing.T, bound Limits) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sub folder", "history #1.db")
	s, err := Open(path, bound)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, path
}

func entry(text string) Entry {
	return Entry{
		At: time.UnixMilli(1_790_000_000_000), Source: "endpoint", Client: "probe/1", Model: "etude", Status: 200,
		Took: 1500 * time.Microsecond, Tokens: 30, Request: []byte(text), Response: []byte(`{"model":"etude"}`),
	}
}

func TestAddListGet(t *testing.T) {
	s, path := fresh(t, Limits{})
	for i := range 5 {
		if id, err := s.Add(t.Context(), entry(fmt.Sprintf(`{"state":"number %d"}`, i))); err != nil || id != int64(i+1) {
			t.Fatalf("Add: got %d, %v; want %d", id, err, i+1)
		}
	}
	got, err := s.Get(t.Context(), 2)
	want := entry(`{"state":"number 1"}`)
	want.ID = 2
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Get: got %v, %v; want %v", got, err, want)
	}
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{}, "[5 4 3 2 1]"},
		{Query{Most: 2}, "[5 4]"},
		{Query{Before: 4, Most: 2}, "[3 2]"},
		{Query{Text: "NUMBER 3"}, "[4]"},
		{Query{Text: "%"}, "[]"},
		{Query{Text: "n_mber"}, "[]"},
		{Query{Text: "probe"}, "[5 4 3 2 1]"},
		{Query{Text: "' OR 1 --"}, "[]"},
	} {
		list, err := s.List(t.Context(), c.q)
		ids := []int64{}
		for _, e := range list {
			ids = append(ids, e.ID)
		}
		if err != nil || fmt.Sprint(ids) != c.want {
			t.Errorf("%+v: got %v, %v; want %s", c.q, ids, err, c.want)
		}
	}
	if _, err := s.Get(t.Context(), 99); !errors.Is(err, ErrGone) {
		t.Errorf("Get of nothing: got %v, want ErrGone", err)
	}
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, %v; want mode 0600", filepath.Base(name), info.Mode(), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n, _, err := again.Size(t.Context()); n != 5 || err != nil {
		t.Errorf("after a restart: got %d, %v; want 5", n, err)
	}
}

func TestLimits(t *testing.T) {
	s, path := fresh(t, Limits{Bytes: 20_000, Age: time.Hour})
	now := time.UnixMilli(1_790_000_000_000)
	s.now = func() time.Time { return now }
	for range 100 {
		if _, err := s.Add(t.Context(), entry(strings.Repeat("x", 1000))); err != nil {
			t.Fatal(err)
		}
	}
	n, size, err := s.Size(t.Context())
	if err != nil || size > 20_000 || n < 15 {
		t.Errorf("got %d entries of %d bytes, %v; want at most 20000 bytes and most of them used", n, size, err)
	}
	if list, _ := s.List(t.Context(), Query{}); list[0].ID != 100 || list[len(list)-1].ID != int64(101-n) {
		t.Errorf("kept %d to %d, want the newest", list[len(list)-1].ID, list[0].ID)
	}
	if _, err := s.Add(t.Context(), entry(strings.Repeat("x", 20_000))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a huge entry: got %v, want ErrTooLarge", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 100_000 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	now = now.Add(2 * time.Hour)
	if err := s.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := s.Size(t.Context()); n != 0 {
		t.Errorf("after two hours: %d entries, want none", n)
	}
}

func TestDeletedTextIsGone(t *testing.T) {
	s, path := fresh(t, Limits{})
	for i := range 20 {
		if _, err := s.Add(t.Context(), entry(fmt.Sprintf("very secret text %d %s", i, strings.Repeat("y", 3000)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if n, _, _ := s.Size(t.Context()); n != 19 {
		t.Errorf("after Delete: %d entries, want 19", n)
	}
	if err := s.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(strings.ReplaceAll(path, "#", "?") + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, name := range files {
		if b, err := os.ReadFile(name); err != nil || bytes.Contains(b, []byte("very secret")) {
			t.Errorf("%s still holds the text (%v)", filepath.Base(name), err)
		}
	}
}

func TestDamagedFileIsPutAside(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"text": func([]byte) []byte { return []byte(strings.Repeat("this is no database ", 500)) },
		"scribbled": func(b []byte) []byte {
			for i := 4096; i < len(b); i++ {
				b[i] = byte(i * 31)
			}
			return b
		},
		"cut": func(b []byte) []byte { return b[:5000] },
	} {
		t.Run(name, func(t *testing.T) {
			s, path := fresh(t, Limits{})
			for range 50 {
				if _, err := s.Add(t.Context(), entry(strings.Repeat("z", 2000))); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err = Open(path, Limits{})
			aside, ok := errors.AsType[*Damaged](err)
			if !ok || s == nil {
				t.Fatalf("got %v, %v; want a store and *Damaged", s, err)
			}
			defer s.Close()
			if _, err := os.Stat(aside.Aside); err != nil {
				t.Errorf("the old file: %v", err)
			}
			if _, err := s.Add(t.Context(), entry("new")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLaterLayoutIsRefused(t *testing.T) {
	s, path := fresh(t, Limits{})
	if _, err := s.db.Exec("PRAGMA user_version = 2"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := Open(path, Limits{}); err == nil || !strings.Contains(err.Error(), "later Clefbar") {
		t.Errorf("got %v", err)
	}
}

func TestTwoStoresOneFile(t *testing.T) {
	a, path := fresh(t, Limits{})
	b, err := Open(path, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var all sync.WaitGroup
	for _, s := range []*Store{a, b, a, b} {
		all.Go(func() {
			for i := range 25 {
				if _, err := s.Add(t.Context(), entry(fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n, _, err := a.Size(t.Context()); n != 100 || err != nil {
		t.Errorf("got %d, %v; want 100", n, err)
	}
}

func writeForever(path string) {
	s, err := Open(path, Limits{Bytes: 1 << 20})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for {
		id, err := s.Add(context.Background(), entry(strings.Repeat("w", 5000)))
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(id)
	}
}

// TestKill kills a writing process at random moments. Every entry that it was told
// is kept has to be there afterwards.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	for round := range 8 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "HISTORY_TEST_WRITER="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		var last int64
		for range 5 + rand.IntN(60) {
			if !lines.Scan() {
				t.Fatalf("the writer ended early: %q", lines.Text())
			}
			if last, err = strconv.ParseInt(lines.Text(), 10, 64); err != nil {
				t.Fatalf("the writer says %q", lines.Text())
			}
		}
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it said before it died
			if n, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				last = n
			}
		}
		_ = cmd.Wait() // killed, as intended
		s, err := Open(path, Limits{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		list, err := s.List(t.Context(), Query{Most: 1})
		if err != nil || len(list) != 1 || list[0].ID < last || list[0].ID > last+1 {
			t.Errorf("round %d: newest %v, %v; want %d", round, list, err, last)
		}
		if len(list) == 1 && len(list[0].Request) != 5000 {
			t.Errorf("round %d: the newest entry has %d bytes", round, len(list[0].Request))
		}
		s.Close()
	}
}
