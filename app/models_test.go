package main

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const hubCommit = "0123456789abcdef0123456789abcdef01234567"

// fakeHub serves the golden checkpoint as a repository of the Hub.
func fakeHub(t *testing.T) string {
	t.Helper()
	files := map[string][]byte{}
	names, err := os.ReadDir(tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if files[n.Name()], err = os.ReadFile(filepath.Join(tiny(t), n.Name())); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/models/us/clef-flash-tiny") {
			_ = json.NewEncoder(w).Encode(map[string]any{"sha": hubCommit, "siblings": siblings(files)}) // a client that left
			return
		}
		_, name, _ := strings.Cut(r.URL.Path, "/resolve/"+hubCommit+"/")
		if b, ok := files[name]; ok {
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(b)))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func siblings(files map[string][]byte) (all []map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(files)) { // as the Hub lists them
		b := files[name]
		blob := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...))
		s := map[string]any{"rfilename": name, "size": len(b), "blobId": hex.EncodeToString(blob[:])}
		if strings.HasSuffix(name, ".safetensors") {
			sum := sha256.Sum256(b)
			s["lfs"] = map[string]any{"sha256": hex.EncodeToString(sum[:]), "size": len(b)}
		}
		all = append(all, s)
	}
	return all
}

// TestModelsFromTheHub gets a model, lists it, decides with it under each of its
// names, checks it and removes it.
func TestModelsFromTheHub(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("CLEFBAR_CACHE_FOR_TEST", cache)
	t.Setenv("HF_ENDPOINT", fakeHub(t))
	t.Setenv("HF_HUB_OFFLINE", "")

	if got := run(t, "", "models", "get", "us/none"); got.code != exitFailed || !strings.Contains(got.err, "us/none") {
		t.Errorf("an absent repository: exit %d %s", got.code, got.err)
	}
	if got := run(t, "", "models", "get", "not a name"); got.code == 0 || !strings.Contains(got.err, "owner/name") {
		t.Errorf("no repository: exit %d %s", got.code, got.err)
	}
	got := run(t, "", "models", "get", "us/clef-flash-tiny")
	if got.code != 0 || !strings.Contains(got.out, hubCommit) || !strings.Contains(got.err, "100 %") {
		t.Fatalf("get: exit %d %s %s", got.code, got.out, got.err)
	}
	rows := decode[[]modelRow](t, run(t, "", "models"))
	if len(rows) != 2 || rows[0].Name != "etude" || !rows[0].Chosen || rows[1].Name != "clef-flash-tiny" || rows[1].State != "ready" || rows[1].Memory == 0 || rows[1].Fits != "fits" {
		t.Errorf("models: got %+v", rows)
	}
	for _, name := range []string{"clef-flash-tiny", "CLEF-FLASH", "us/clef-flash-tiny", "@cf/cloudflare/clef-flash", "clef-flash:9b"} {
		body := strings.Replace(caseJSON, `"clef"`, `"`+name+`"`, 1)
		if got := run(t, body, "decide"); got.code != 0 || !strings.Contains(got.out, `"model":"clef-flash-tiny"`) {
			t.Errorf("%s: exit %d %s%s", name, got.code, got.out, got.err)
		}
	}
	if got := run(t, strings.Replace(caseJSON, `"clef"`, `"clef:27b"`, 1), "decide"); got.code != exitModel {
		t.Errorf("the other size: exit %d %s", got.code, got.err)
	}
	if got := run(t, "", "doctor", "--quiet", "clef-flash-tiny"); got.code != 0 || !strings.Contains(got.out, "have the hash") {
		t.Errorf("doctor: exit %d %s", got.code, got.out)
	}
	if got := run(t, "", "models", "path", "clef-flash-tiny"); got.code != 0 || !strings.HasPrefix(got.out, cache) {
		t.Errorf("path: exit %d %s", got.code, got.out)
	}
	if got := run(t, "", "models", "rm", "clef-flash-tiny"); got.code != exitFailed || !strings.Contains(got.err, "--yes") {
		t.Errorf("rm without a word: exit %d %s", got.code, got.err)
	}
	if got := run(t, "", "models", "rm", "clef-flash-tiny", "--yes"); got.code != 0 {
		t.Errorf("rm: exit %d %s", got.code, got.err)
	}
	if rows := decode[[]modelRow](t, run(t, "", "models")); len(rows) != 1 {
		t.Errorf("after rm: got %+v", rows)
	}
	if got := run(t, "", "models", "rm", "clef-flash-tiny", "--yes"); got.code != exitModel {
		t.Errorf("rm again: exit %d %s", got.code, got.err)
	}
}

func TestIncompleteModelIsListedAndRefused(t *testing.T) {
	snapshot, blobs := cached(t)
	t.Setenv("CLEFBAR_CACHE_FOR_TEST", filepath.Dir(filepath.Dir(filepath.Dir(snapshot))))
	if err := os.Truncate(blobs["model.safetensors"], 1000); err != nil {
		t.Fatal(err)
	}
	rows := decode[[]modelRow](t, run(t, "", "models"))
	if len(rows) != 2 || !strings.HasPrefix(rows[1].State, "incomplete") || rows[1].Problem == "" || rows[1].Fits != "" {
		t.Errorf("models: got %+v", rows)
	}
	if got := run(t, strings.Replace(caseJSON, `"clef"`, `"tiny"`, 1), "decide"); got.code != exitModel || !strings.Contains(got.err, "incomplete") {
		t.Errorf("decide: exit %d %s", got.code, got.err)
	}
}
