package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// searchHub answers searches: an owner's repositories in pages, as the Hub does.
type searchHub struct {
	*httptest.Server
	repos []string // names of an owner called "owner"
	asked []string
	link  func(next string) string // of the next page; nil is the Hub's own form
	body  string                   // instead of a list
}

func newSearchHub(t *testing.T) *searchHub {
	h := &searchHub{}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *searchHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.asked = append(h.asked, r.URL.String())
	if h.body != "" {
		fmt.Fprint(w, h.body)
		return
	}
	q := r.URL.Query()
	var names []string
	for _, n := range h.repos {
		if q.Get("author") == "owner" && strings.Contains(n, q.Get("search")) {
			names = append(names, n)
		}
	}
	from, _ := strconv.Atoi(q.Get("cursor"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	to := min(len(names), from+limit)
	if to < len(names) {
		q.Set("cursor", strconv.Itoa(to))
		next := fmt.Sprintf("%s%s?%s", h.URL, r.URL.Path, q.Encode())
		if h.link != nil {
			next = h.link(next)
		}
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, next))
	}
	list := []map[string]any{}
	for _, n := range names[from:to] {
		list = append(list, map[string]any{
			"id": "owner/" + n, "modelId": "owner/" + n, "sha": commit, "lastModified": "2026-11-02T08:00:00.000Z", "gated": strings.Contains(n, "gated"),
			"siblings": []map[string]string{{"rfilename": "config.json"}, {"rfilename": "joint_head.safetensors"}},
		})
	}
	_ = json.NewEncoder(w).Encode(list)
}

func (h *searchHub) client(path string) *Client {
	c := New()
	c.Endpoint, c.Token, c.Offline = h.URL+path, "secret", false
	c.firstPause = 1
	return c
}

func TestSearchReadsPages(t *testing.T) {
	h := newSearchHub(t)
	for i := range 250 {
		h.repos = append(h.repos, fmt.Sprintf("clef-%03d", i))
	}
	h.repos = append(h.repos, "other", "gated-clef")
	list, more, err := h.client("").Search(context.Background(), "owner", "clef")
	if err != nil || more || len(list) != 251 || len(h.asked) != 3 {
		t.Fatalf("got %d repositories in %d questions, more %v, %v", len(list), len(h.asked), more, err)
	}
	if l := list[250]; l.ID != "owner/gated-clef" || !l.Gated || l.Commit != commit || l.Changed != "2026-11-02" || len(l.Files) != 2 {
		t.Errorf("got %+v", l)
	}
	if list, _, err := h.client("/a/mirror").Search(context.Background(), "owner", "other"); err != nil || len(list) != 1 || !strings.HasPrefix(h.asked[3], "/a/mirror/api/models?") {
		t.Errorf("behind a path: got %v, %v, asked %s", list, err, h.asked[3])
	}
	if list, _, err := h.client("").Search(context.Background(), "nobody", ""); err != nil || len(list) != 0 {
		t.Errorf("nobody: got %v, %v", list, err)
	}
}

func TestSearchHasAnEnd(t *testing.T) {
	h := newSearchHub(t)
	for i := range searchPage*searchPages + 5 {
		h.repos = append(h.repos, fmt.Sprintf("m%d", i))
	}
	list, more, err := h.client("").Search(context.Background(), "owner", "")
	if err != nil || !more || len(list) != searchPage*searchPages {
		t.Errorf("got %d, more %v, %v", len(list), more, err)
	}
}

func TestSearchStaysOnTheHub(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server was asked: %s, %s", r.URL, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	h := newSearchHub(t)
	for i := range 150 {
		h.repos = append(h.repos, fmt.Sprintf("m%d", i))
	}
	for _, link := range []string{other.URL + "/api/models?cursor=100", "ftp://x/y", "http://%zz", "//" + strings.TrimPrefix(other.URL, "http://") + "/x"} {
		h.link = func(string) string { return link }
		if list, _, err := h.client("").Search(context.Background(), "owner", ""); err != nil || len(list) != 100 {
			t.Errorf("%s: got %d, %v", link, len(list), err)
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	h := newSearchHub(t)
	c := h.client("")
	for _, owner := range []string{"", "a/b", "..", "a b", "ä", "-x", strings.Repeat("x", 200), "x?y", "x\ny"} {
		if _, _, err := c.Search(context.Background(), owner, ""); err == nil || len(h.asked) > 0 {
			t.Errorf("%q: got %v, asked %v", owner, err, h.asked)
		}
	}
	c.Offline = true
	if _, _, err := c.Search(context.Background(), "owner", ""); err == nil || !strings.Contains(err.Error(), "offline") || len(h.asked) > 0 {
		t.Errorf("offline: got %v", err)
	}
	c.Offline = false
	for body, want := range map[string]string{
		"<!DOCTYPE html><title>Sign in</title>": "web page", `{"error":"no"}`: "not readable", strings.Repeat(" ", maxListing+1): "longer than",
		`[{"id":"../../etc","siblings":[]},{"id":"owner/ok","sha":"xyz","lastModified":"x"}]`: "",
	} {
		h.body = body
		list, _, err := c.Search(context.Background(), "owner", "")
		if want == "" {
			if err != nil || len(list) != 1 || list[0].Commit != "" {
				t.Errorf("%.30s: got %v, %v", body, list, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: got %v, want %q", body, err, want)
		}
	}
}

func TestReadChecksTheHash(t *testing.T) {
	h := newFakeHub(t, map[string][]byte{"config.json": []byte(`{"a":1}`), "huge.json": make([]byte, maxSmall+1)})
	c := h.client()
	r, err := c.Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.Read(context.Background(), r, "config.json"); err != nil || string(b) != `{"a":1}` {
		t.Errorf("got %q, %v", b, err)
	}
	for name, want := range map[string]string{"none.json": "has no none.json", "huge.json": "more than"} {
		if _, err := c.Read(context.Background(), r, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	h.files["config.json"] = []byte(`{"a":2}`)
	if _, err := c.Read(context.Background(), r, "config.json"); err == nil || !strings.Contains(err.Error(), "not the ones") {
		t.Errorf("other bytes: got %v", err)
	}
}
