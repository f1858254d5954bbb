package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"clefbar/engine/goldentest"
)

// smallHub serves the known repositories with the files of a golden checkpoint.
type smallHub struct {
	*httptest.Server
	files map[string][]byte

	mu     sync.Mutex
	hold   chan struct{} // weights wait for it, after their first kilobytes
	status int           // instead of any file
}

func startHub(t *testing.T) *smallHub {
	h := &smallHub{files: map[string][]byte{}}
	dir := goldentest.Path(t, "tiny-9b-shape-mlx-4bit")
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if h.files[n.Name()], err = os.ReadFile(filepath.Join(dir, n.Name())); err != nil {
			t.Fatal(err)
		}
	}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	t.Setenv("HF_ENDPOINT", h.URL)
	return h
}

func (h *smallHub) set(hold chan struct{}, status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hold, h.status = hold, status
}

func (h *smallHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	hold, status := h.hold, h.status
	h.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	if r.URL.Path == "/api/models" {
		h.search(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		h.list(w)
		return
	}
	name := filepath.Base(r.URL.Path)
	if hold != nil && name == "model.safetensors" {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %s/%d", strings.TrimPrefix(r.Header.Get("Range"), "bytes="), len(h.files[name])))
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush()
		select {
		case <-hold:
		case <-r.Context().Done():
		}
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(h.files[name]))
}

// search says that its owner has one repository of the files, and one without any.
func (h *smallHub) search(w http.ResponseWriter, r *http.Request) {
	list := []map[string]any{}
	for id, files := range map[string]map[string][]byte{"someone/clef-tiny": h.files, "someone/other": nil} {
		if strings.Contains(id, r.URL.Query().Get("search")) {
			list = append(list, map[string]any{"id": id, "sha": tinyAt, "siblings": siblings(files)})
		}
	}
	_ = json.NewEncoder(w).Encode(list)
}

func (h *smallHub) list(w http.ResponseWriter) {
	_ = json.NewEncoder(w).Encode(map[string]any{"sha": tinyAt, "siblings": siblings(h.files)})
}
