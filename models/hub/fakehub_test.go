package hub

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fakeHub serves one repository with real bytes and, where fault says so, the ways in which real servers fail.
type fakeHub struct {
	*httptest.Server
	files  map[string][]byte
	served atomic.Int64
	fault  func(w http.ResponseWriter, r *http.Request, name string, body []byte) (handled bool)

	mu    sync.Mutex
	calls map[string]int
}

const commit = "0123456789abcdef0123456789abcdef01234567"

func newFakeHub(t testing.TB, files map[string][]byte) *fakeHub {
	h := &fakeHub{files: files, calls: map[string]int{}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *fakeHub) client() *Client {
	c := New()
	c.Endpoint, c.Token, c.Offline = h.URL, "", false
	c.firstPause, c.stall = time.Millisecond, 300*time.Millisecond
	return c
}

// failWith makes f answer from now on; nil answers as a hub does. Programs of their own may be asking meanwhile.
func (h *fakeHub) failWith(f func(w http.ResponseWriter, r *http.Request, name string, body []byte) (handled bool)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fault = f
}

// call counts the requests for name from 1.
func (h *fakeHub) call(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls[name]++
	return h.calls[name]
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/models/") {
		h.list(w)
		return
	}
	_, name, ok := strings.Cut(r.URL.Path, "/resolve/"+commit+"/")
	body, there := h.files[name]
	if !ok || !there {
		http.NotFound(w, r)
		return
	}
	h.mu.Lock()
	fault := h.fault
	h.mu.Unlock()
	if fault != nil && fault(w, r, name, body) {
		return
	}
	h.serve(w, r, body)
}

func (h *fakeHub) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	http.ServeContent(&counted{w, &h.served}, r, "", time.Time{}, strings.NewReader(string(body)))
}

type counted struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n.Add(int64(n))
	return n, err
}

func (h *fakeHub) list(w io.Writer) {
	type lfs struct {
		SHA256 string `json:"sha256"`
		Size   int    `json:"size"`
	}
	type sibling struct {
		Name string `json:"rfilename"`
		Size int    `json:"size"`
		Blob string `json:"blobId"`
		LFS  *lfs   `json:"lfs,omitempty"`
	}
	var all []sibling
	for _, name := range slices.Sorted(maps.Keys(h.files)) { // as the Hub lists them
		b := h.files[name]
		s := sibling{Name: name, Size: len(b), Blob: gitHash(b)}
		if strings.HasSuffix(name, ".safetensors") {
			sum := sha256.Sum256(b)
			s.LFS = &lfs{hex.EncodeToString(sum[:]), len(b)}
		}
		all = append(all, s)
	}
	json.NewEncoder(w).Encode(map[string]any{"sha": commit, "gated": false, "siblings": all})
}

func gitHash(b []byte) string {
	s := sha1.New()
	fmt.Fprintf(s, "blob %d\x00", len(b))
	s.Write(b)
	return hex.EncodeToString(s.Sum(nil))
}

// bytesOf makes n bytes that are the same in every run.
func bytesOf(seed uint64, n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	r.Read(b)
	return b
}
