package hub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the program that is killed, or that runs as another user or behind a proxy: with
// CLEFBAR_TEST_FETCH set it fetches from there (from where HF_ENDPOINT says when it is "env") and exits.
func TestMain(m *testing.M) {
	if endpoint := os.Getenv("CLEFBAR_TEST_FETCH"); endpoint != "" {
		if err := fetchAlone(endpoint); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func fetchAlone(endpoint string) error {
	c := New()
	if endpoint != "env" {
		c.Endpoint, c.Token, c.Offline = endpoint, "", false
	}
	if n, err := strconv.ParseUint(os.Getenv("CLEFBAR_TEST_FSIZE"), 10, 64); err == nil {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	r, err := c.Lookup(context.Background(), "owner/clef", "")
	if err == nil {
		_, err = c.Fetch(context.Background(), Cache{os.Getenv("CLEFBAR_TEST_CACHE")}, r, nil)
	}
	return err
}

// TestKilledAgainAndAgain kills a real process with SIGKILL fifty times in the middle of its work. The file must be right at
// the end, and no block may have been fetched twice but those in flight at a kill.
func TestKilledAgainAndAgain(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 8
	}
	h := newFakeHub(t, map[string][]byte{"config.json": []byte("{}"), "model.safetensors": bytesOf(3, 48*blockSize+999)})
	h.failWith(func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
		if name == "config.json" {
			return false
		}
		h.serve(&slow{ResponseWriter: w}, r, body)
		return true
	})
	dir := t.TempDir()
	run := func(life time.Duration) error {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CLEFBAR_TEST_FETCH="+h.URL, "CLEFBAR_TEST_CACHE="+dir)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if life > 0 {
			time.AfterFunc(life, func() { cmd.Process.Kill() })
		}
		return cmd.Wait()
	}
	random := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for range kills {
		if run(time.Duration(20+random.IntN(120))*time.Millisecond) == nil {
			break
		}
		killed++
	}
	if err := run(0); err != nil {
		t.Fatalf("the last run: %v", err)
	}
	r, err := h.client().Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	checkSnapshot(t, h, Cache{dir}.Snapshot(r))
	// A connection also buffers on its way: what the server wrote and nobody read counts as in flight.
	const inFlight = 4 * (blockSize + 512<<10)
	size := int64(len(h.files["model.safetensors"]))
	if got, most := h.served.Load(), size+int64(killed)*inFlight+4096; got > most {
		t.Errorf("after %d kills the server gave %d bytes, want at most %d", killed, got, most)
	}
	t.Logf("%d kills, %.2f times the file's size served", killed, float64(h.served.Load())/float64(size))
}

// slow lets a file take about two seconds.
type slow struct{ http.ResponseWriter }

func (s *slow) Write(b []byte) (int, error) {
	for at := 0; at < len(b); at += 32 << 10 {
		time.Sleep(5 * time.Millisecond)
		if n, err := s.ResponseWriter.Write(b[at:min(at+32<<10, len(b))]); err != nil {
			return at + n, err
		}
	}
	return len(b), nil
}

func TestDamagedJournal(t *testing.T) {
	f := File{Path: "x.safetensors", Size: 3*blockSize + 5, Hash: commit}
	head := newJournal(f).header()
	tests := []struct {
		name, text string
		ok         bool
	}{
		{"good", head + "b 0\nb 2\n", true},
		{"last line cut by a kill", head + "b 0\nb 1", true},
		{"other size", "clefbar 1 5 1048576\nb 0\n", false},
		{"block past the end", head + "b 4\n", false},
		{"negative block", head + "b -1\n", false},
		{"hash ahead of the blocks", head + "b 0\nh 2 AAAA\n", false},
		{"hash far away", head + "h 99999999999 AAAA\n", false},
		{"noise", head + "\x00\x01\n", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			part := t.TempDir() + "/blob" + partSuffix
			file, err := os.Create(part)
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(file.Truncate(f.Size), file.Close(),
				os.WriteFile(part[:len(part)-len(partSuffix)]+journalSuffix, []byte(tt.text), 0o644))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := readJournal(part, f); (err == nil) != tt.ok {
				t.Errorf("got error %v, want ok %v", err, tt.ok)
			}
		})
	}
}
