package hub

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// alone runs a fetch in a process of its own and returns what it says.
func alone(t *testing.T, endpoint, cache string, change func(*exec.Cmd), env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	if _, err := os.Stat(cmd.Path); err != nil {
		cmd.Path = os.Args[0]
	}
	cmd.Env = append(os.Environ(), append(env, "CLEFBAR_TEST_FETCH="+endpoint, "CLEFBAR_TEST_CACHE="+cache)...)
	if change != nil {
		change(cmd)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestTokenStaysWithTheHub follows a redirect to another host, as the Hub's storage is.
func TestTokenStaysWithTheHub(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	var asked, leaked atomic.Int32
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaked.Add(1)
		}
		h.serve(w, r, h.files[strings.TrimPrefix(r.URL.Path, "/")])
	}))
	defer storage.Close()
	h.failWith(func(w http.ResponseWriter, r *http.Request, name string, _ []byte) bool {
		if r.Header.Get("Authorization") == "Bearer hf_secret" {
			asked.Add(1)
		}
		http.Redirect(w, r, storage.URL+"/"+name, http.StatusFound)
		return true
	})
	c := h.client()
	c.Token = "hf_secret"
	dir, err := fetch(t, h, c, Cache{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	checkSnapshot(t, h, dir)
	if asked.Load() == 0 || leaked.Load() != 0 {
		t.Errorf("the Hub saw the token %d times, its storage %d times, want some and none", asked.Load(), leaked.Load())
	}
}

// TestSubdomainGetsNoToken asks the policy itself: the standard client keeps the token for subdomains.
func TestSubdomainGetsNoToken(t *testing.T) {
	from := httptest.NewRequest(http.MethodGet, "https://hub.example/x", nil)
	for to, kept := range map[string]bool{"https://hub.example/y": true, "https://cdn.hub.example/y": false, "https://hub.example:444/y": false} {
		r := httptest.NewRequest(http.MethodGet, to, nil)
		r.Header.Set("Authorization", "Bearer hf_secret")
		if err := redirect(r, []*http.Request{from}); err != nil || (r.Header.Get("Authorization") != "") != kept {
			t.Errorf("%s: token kept %v, %v, want %v", to, r.Header.Get("Authorization") != "", err, kept)
		}
	}
	if err := redirect(httptest.NewRequest(http.MethodGet, "http://hub.example/y", nil), []*http.Request{from}); err == nil {
		t.Error("a step down from https was followed")
	}
}

// TestProxyAndEndpoint fetches in a process whose only way to HF_ENDPOINT is the proxy that HTTP_PROXY names.
func TestProxyAndEndpoint(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	var through atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "hub.invalid" {
			http.Error(w, "wrong host "+r.URL.Host, http.StatusBadGateway)
			return
		}
		through.Add(1)
		h.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	cache := t.TempDir()
	out, err := alone(t, "env", cache, nil, "HF_ENDPOINT=http://hub.invalid/", "HTTP_PROXY="+proxy.URL, "NO_PROXY=", "HF_HUB_OFFLINE=0", "HF_TOKEN=")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if through.Load() < 3 {
		t.Errorf("%d requests came through the proxy", through.Load())
	}
	checkSnapshot(t, h, filepath.Join(cache, "models--owner--clef/snapshots", commit))
}

func TestNoNetwork(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, endpoint := range map[string]string{"nobody listens": gone.URL, "no such host": "http://hub.invalid"} {
		c := New()
		c.Endpoint, c.Token, c.Offline, c.firstPause = endpoint, "", false, 1
		c.HTTP.Transport.(*http.Transport).Proxy = nil
		_, err := c.Lookup(context.Background(), "owner/clef", "")
		if err == nil || !strings.Contains(err.Error(), "connected to the network?") || strings.Contains(err.Error(), "/api/models") {
			t.Errorf("%s: got %v, want a sentence about the network", name, err)
		}
	}
}

func TestNoRoomAtAll(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	c := h.client()
	c.spare = 1 << 60
	before := h.served.Load()
	_, err := fetch(t, h, c, Cache{t.TempDir()})
	if _, ok := errors.AsType[*SpaceError](err); !ok || h.served.Load() != before {
		t.Errorf("got %v after %d bytes, want a refusal before the first", err, h.served.Load()-before)
	}
}

func TestFileSizeLimit(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	out, err := alone(t, h.URL, t.TempDir(), nil, "CLEFBAR_TEST_FSIZE=5000000")
	if err == nil || !strings.Contains(out, "cannot grow any further") || strings.Contains(out, "panic") {
		t.Errorf("got %v: %s", err, out)
	}
}

// TestFolderTroubles names the path for every reason why the cache cannot be written.
func TestFolderTroubles(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	t.Run("a file stands there", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "cache")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := fetch(t, h, h.client(), Cache{filepath.Join(file, "huggingface", "hub")})
		if folder, ok := errors.AsType[*FolderError](err); !ok || !strings.HasPrefix(folder.Path, file) || !strings.Contains(err.Error(), "a file stands") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("of another user", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("only root can run as another user")
		}
		dir, err := os.MkdirTemp("", "clefbar-owned-*")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		os.Chmod(dir, 0o555)
		out, err := alone(t, h.URL, dir, func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		})
		if err == nil || !strings.Contains(out, dir) || !strings.Contains(out, "belongs to another user") {
			t.Errorf("got %v: %s", err, out)
		}
	})
	t.Run("gone in the middle", func(t *testing.T) {
		h := newFakeHub(t, repoFiles())
		cache := Cache{filepath.Join(t.TempDir(), "hub")}
		h.failWith(func(w http.ResponseWriter, r *http.Request, name string, body []byte) bool {
			if name == "model.safetensors" {
				os.RemoveAll(cache.Dir)
			}
			return false
		})
		_, err := fetch(t, h, h.client(), cache)
		if folder, ok := errors.AsType[*FolderError](err); !ok || !strings.Contains(err.Error(), "is its disk still connected") || !strings.HasPrefix(folder.Path, cache.Dir) {
			t.Errorf("got %v", err)
		}
	})
}

// TestBegun keeps what was announced until the fetch has ended.
func TestBegun(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache, c := Cache{t.TempDir()}, h.client()
	h.failWith(func(w http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "model.safetensors" {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	})
	if _, err := fetch(t, h, c, cache); err == nil {
		t.Fatal("a forbidden file was fetched")
	}
	begun := cache.Begun("owner/clef")
	if len(begun) != 1 || begun[0].Commit != commit || begun[0].Revision != "main" {
		t.Fatalf("got %+v, want the revision that was begun", begun)
	}
	if _, total, arrived := cache.Wants(begun[0]); arrived <= 0 || arrived >= total {
		t.Errorf("got %d of %d bytes", arrived, total)
	}
	record := cache.begunFile("owner/clef", commit)
	for _, bad := range []string{"", "{", `{"ID":"owner/clef","Commit":"` + commit + `","Files":[{"Path":"../../x","Hash":"` + commit + `"}]}`, `{"ID":"other/clef","Commit":"` + commit + `"}`} {
		whole, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(record, []byte(bad), 0o600)
		if got := cache.Begun("owner/clef"); got != nil {
			t.Errorf("record %q: got %+v", bad, got)
		}
		os.WriteFile(record, whole, 0o600)
	}
	h.failWith(nil)
	rest := *begun[0]
	rest.Revision = commit // as who goes on by the commit asks for it
	if _, err := c.Fetch(context.Background(), cache, &rest, nil); err != nil {
		t.Fatal(err)
	}
	if ref, err := os.ReadFile(filepath.Join(cache.Dir, "models--owner--clef/refs/main")); err != nil || string(ref) != commit {
		t.Errorf("refs/main: got %q, %v, want %s", ref, err, commit)
	}
	if got := cache.Begun("owner/clef"); got != nil {
		t.Errorf("after the end: got %+v", got)
	}
}

// TestDamaged flips one byte of a complete file: it is found, and fetched again alone.
func TestDamaged(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache, c := Cache{t.TempDir()}, h.client()
	dir, err := fetch(t, h, c, cache)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	if bad, err := cache.Damaged(t.Context(), r, nil); err != nil || len(bad) != 0 {
		t.Fatalf("fresh files: got %v, %v", bad, err)
	}
	head := fileNamed(r, "joint_head.safetensors")
	flipped := bytes.Clone(h.files[head.Path])
	flipped[77] ^= 4
	if err := os.WriteFile(cache.blob(r, head), flipped, 0o600); err != nil {
		t.Fatal(err)
	}
	var read int64
	bad, err := cache.Damaged(t.Context(), r, func(n int64) { read = n })
	if err != nil || len(bad) != 1 || bad[0] != head || read <= 9*blockSize {
		t.Fatalf("got %v, %v after %d bytes, want %s", bad, err, read, head.Path)
	}
	if err := cache.Drop(r, head); err != nil {
		t.Fatal(err)
	}
	before := h.served.Load()
	if _, err := c.Fetch(context.Background(), cache, r, nil); err != nil {
		t.Fatal(err)
	}
	if got := h.served.Load() - before; got > head.Size+4096 {
		t.Errorf("%d bytes came again, want the %d of one file", got, head.Size)
	}
	checkSnapshot(t, h, dir)
	if hash, lfs, ok := BlobName(filepath.Join(dir, head.Path)); !ok || !lfs || hash != head.Hash {
		t.Errorf("blob: got %s, %v, %v", hash, lfs, ok)
	}
}

// TestRemoveLeavesAnotherFetchAlone removes one revision while another is half fetched.
func TestRemoveLeavesAnotherFetchAlone(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache := Cache{t.TempDir()}
	if _, err := fetch(t, h, h.client(), cache); err != nil {
		t.Fatal(err)
	}
	r, err := h.client().Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	other := &Repo{ID: r.ID, Revision: "next", Commit: strings.Repeat("f", 40), Files: []File{fileNamed(r, "model.safetensors")}}
	if _, err := cache.begin(other); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.Remove(r.ID, r.Commit); err != nil {
		t.Fatal(err)
	}
	if !cache.Has(other, other.Files[0]) || len(cache.Begun(r.ID)) != 1 {
		t.Error("what another fetch has brought already is gone")
	}
}
