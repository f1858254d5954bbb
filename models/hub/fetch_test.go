package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func repoFiles() map[string][]byte {
	return map[string][]byte{
		"config.json":              []byte(`{"model_type":"qwen3_5"}`),
		"model.safetensors":        bytesOf(1, 9*blockSize+12345),
		"joint_head.safetensors":   bytesOf(2, blockSize),
		"README.md":                []byte("# card"),
		"joint_schema_model.py":    []byte("import torch"),
		"onnx/model.onnx":          []byte("no"),
		"empty.json":               {},
		"pytorch_model.bin":        []byte("no"),
		".gitattributes":           []byte("x"),
		"tokenizer_config.json":    []byte("{}"),
		"generation_config.json":   []byte("{}"),
		"model.safetensors.index.": []byte("no"),
	}
}

func fetch(t *testing.T, h *fakeHub, c *Client, cache Cache) (string, error) {
	t.Helper()
	r, err := c.Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return c.Fetch(ctx, cache, r, nil)
}

func checkSnapshot(t *testing.T, h *fakeHub, dir string) {
	t.Helper()
	for name, want := range h.files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if wanted := Wanted(File{Path: name}); !wanted {
			if err == nil {
				t.Errorf("%s was fetched and nobody wants it", name)
			}
		} else if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got %d bytes, %v, want the %d of the repository", name, len(got), err, len(want))
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "../../blobs/*.clefbar*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestFetch(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache := Cache{t.TempDir()}
	dir, err := fetch(t, h, h.client(), cache)
	if err != nil {
		t.Fatal(err)
	}
	checkSnapshot(t, h, dir)
	if want := filepath.Join(cache.Dir, "models--owner--clef/snapshots", commit); dir != want {
		t.Errorf("got folder %s, want %s", dir, want)
	}
	ref, err := os.ReadFile(filepath.Join(cache.Dir, "models--owner--clef/refs/main"))
	if err != nil || string(ref) != commit {
		t.Errorf("refs/main: got %q, %v, want %s", ref, err, commit)
	}
	if target, err := os.Readlink(filepath.Join(dir, "config.json")); err != nil || !strings.HasPrefix(target, "../../blobs/") {
		t.Errorf("config.json links to %q, %v, want a relative link into blobs", target, err)
	}
	before := h.served.Load()
	if _, err := fetch(t, h, h.client(), cache); err != nil {
		t.Fatal(err)
	}
	if got := h.served.Load(); got != before {
		t.Errorf("a second fetch brought %d bytes, want 0", got-before)
	}
}

// TestFaults serves every way in which a download goes wrong (cases.md M11); the files must be right at the end, or
// the error must name what is wrong and nothing may look complete.
func TestFaults(t *testing.T) {
	const big = "model.safetensors"
	cut := func(w http.ResponseWriter, body []byte, n int) {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body[:n])
		panic(http.ErrAbortHandler)
	}
	tests := []struct {
		name  string
		fault func(h *fakeHub) func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool
		want  string // part of the error, "" for success
	}{
		{"connection cut now and then", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				if name != big || h.call(name)%2 == 0 {
					return false
				}
				var a, b int
				fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &a, &b)
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, b, len(body)))
				w.Header().Set("Content-Length", fmt.Sprint(b+1-a))
				w.WriteHeader(http.StatusPartialContent)
				w.Write(body[a : a+(b+1-a)/2])
				panic(http.ErrAbortHandler)
			}
		}, ""},
		{"ranges ignored", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				w.Write(body)
				return true
			}
		}, ""},
		{"ranges ignored and the connection cut", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				if n := h.call(name); name == big && n > 4 && n < 20 {
					cut(w, body, min(len(body), n*700_000))
				}
				w.Write(body)
				return true
			}
		}, ""},
		{"too many requests, then 503", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				switch n := h.call(name); {
				case n < 3:
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(http.StatusTooManyRequests)
				case n < 5:
					w.WriteHeader(http.StatusServiceUnavailable)
				default:
					return false
				}
				return true
			}
		}, ""},
		{"redirect to a relative address", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				if r.URL.RawQuery != "" {
					return false
				}
				http.Redirect(w, r, r.URL.Path+"?cdn=1", http.StatusFound)
				return true
			}
		}, ""},
		{"endless redirect", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				http.Redirect(w, r, r.URL.Path, http.StatusFound)
				return true
			}
		}, "redirects without end"},
		{"stalled once", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				if name != big || h.call(name) != 1 {
					return false
				}
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %s/%d", strings.TrimPrefix(r.Header.Get("Range"), "bytes="), len(body)))
				w.WriteHeader(http.StatusPartialContent)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				return true
			}
		}, ""},
		{"one wrong byte once", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				if name != big || h.call(name) > 1 {
					return false
				}
				bad := bytes.Clone(body)
				bad[100] ^= 1
				h.serve(w, r, bad)
				return true
			}
		}, ""},
		{"wrong bytes always", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				if name != big {
					return false
				}
				h.serve(w, r, bytesOf(7, len(body)))
				return true
			}
		}, "model.safetensors: the bytes are not the ones"},
		{"shorter than announced", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				if name != big {
					return false
				}
				h.serve(w, r, body[:len(body)-5])
				return true
			}
		}, "model.safetensors"},
		{"longer than announced", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				if name != big {
					return false
				}
				h.serve(w, r, append(bytes.Clone(body), 1, 2, 3))
				return true
			}
		}, "the listing says"},
		{"gated", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				w.WriteHeader(http.StatusUnauthorized)
				return true
			}
		}, "asks for a token"},
		{"an error page with status 200", func(h *fakeHub) func(http.ResponseWriter, *http.Request, string, []byte) bool {
			return func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
				w.Write([]byte("<html>sign in to the hotel network</html>"))
				return true
			}
		}, "a web page came"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newFakeHub(t, repoFiles())
			h.failWith(tt.fault(h))
			cache := Cache{t.TempDir()}
			dir, err := fetch(t, h, h.client(), cache)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				checkSnapshot(t, h, dir)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if _, err := os.Stat(filepath.Join(cache.Dir, "models--owner--clef/snapshots", commit, big)); err == nil {
				t.Error("the file looks complete")
			}
		})
	}
}

func TestHostileListing(t *testing.T) {
	for _, name := range []string{"../x.json", "/etc/x.json", "a/../../x.json", "a\\b.json", "", "..", "c:x.json", "a//b.json", "x\x00.json"} {
		if err := (File{Path: name, Hash: commit}).check(); err == nil {
			t.Errorf("file name %q was accepted", name)
		}
	}
	for _, f := range []File{
		{Path: "x", Hash: "../../etc"},
		{Path: "x", Hash: strings.Repeat("A", 40)},
		{Path: "x", Hash: commit, LFS: true},
		{Path: "x", Hash: commit, Size: -1},
		{Path: "x", Hash: commit, Size: 1 << 60},
	} {
		if err := f.check(); err == nil {
			t.Errorf("%+v was accepted", f)
		}
	}
	for _, id := range []string{"", "clef", "a/b/c", "../x", "a/..", "a b/c", "owner/", "/x"} {
		if _, err := New().Lookup(context.Background(), id, ""); err == nil || !strings.Contains(err.Error(), "owner/name") {
			t.Errorf("repository %q: got %v", id, err)
		}
	}
}

func TestOffline(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	c := h.client()
	c.Offline = true
	if _, err := c.Lookup(context.Background(), "owner/clef", ""); err == nil || !strings.Contains(err.Error(), "HF_HUB_OFFLINE") {
		t.Errorf("got %v, want a word about offline mode", err)
	}
}

func TestPauseKeepsWhatArrived(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache := Cache{t.TempDir()}
	c := h.client()
	c.Workers = 1
	r, err := c.Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.failWith(func(w http.ResponseWriter, req *http.Request, name string, body []byte) bool {
		if name != "model.safetensors" {
			return false
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(body)-1, len(body)))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(body[:5*blockSize+77])
		w.(http.Flusher).Flush()
		for cache.Arrived(r, fileNamed(r, name)) < 5*blockSize {
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-req.Context().Done()
		return true
	})
	if _, err := c.Fetch(ctx, cache, r, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	if got := cache.Arrived(r, fileNamed(r, "model.safetensors")); got != 5*blockSize {
		t.Errorf("got %d bytes kept, want %d", got, 5*blockSize)
	}
	h.failWith(nil)
	before := h.served.Load()
	var last Progress
	if _, err := c.Fetch(context.Background(), cache, r, func(p Progress) { last = p }); err != nil {
		t.Fatal(err)
	}
	if last.Done != last.Total || last.FileDone != last.Files {
		t.Errorf("last progress %+v does not say that all is there", last)
	}
	if got := h.served.Load() - before; got > 4*blockSize+12345+blockSize+4096 {
		t.Errorf("went on with %d bytes, more than what was missing", got)
	}
}

func fileNamed(r *Repo, name string) File {
	for _, f := range r.Files {
		if f.Path == name {
			return f
		}
	}
	return File{}
}

func TestAnotherProgramFetches(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache := Cache{t.TempDir()}
	r, err := h.client().Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	unlock, _, err := cache.lock(r, fileNamed(r, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := h.client().Fetch(context.Background(), cache, r, nil); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want %v", err, ErrInUse)
	}
}

func TestRemoveKeepsSharedBlobs(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache := Cache{t.TempDir()}
	dir, err := fetch(t, h, h.client(), cache)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(dir), strings.Repeat("f", 40))
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	target, _ := os.Readlink(filepath.Join(dir, "config.json"))
	if err := os.Symlink(target, filepath.Join(other, "config.json")); err != nil {
		t.Fatal(err)
	}
	freed, err := cache.Remove("owner/clef", commit)
	if err != nil || freed < 10*blockSize {
		t.Errorf("got %d bytes freed, %v", freed, err)
	}
	if _, err := os.ReadFile(filepath.Join(other, "config.json")); err != nil {
		t.Errorf("a blob that another revision uses is gone: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the snapshot is still there")
	}
}
