package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clefbar/app/secret"
	"clefbar/engine/goldentest"
	"clefbar/ui"
)

func TestShelfFoldersAndServers(t *testing.T) {
	folders(t)
	s := openStore(t)
	golden := filepath.Dir(goldentest.Path(t, "cases.json"))
	s.AddFolder(golden)
	r := s.until("tiny-9b-shape-hf", "ready", stage(ui.StageReady))
	if !r.Loose || r.Layout != "bf16" {
		t.Errorf("%+v", r)
	}
	s.Remove(r.ID)
	s.untilGone(r.ID)
	if _, err := os.Stat(filepath.Join(golden, "tiny-9b-shape-hf", "config.json")); err != nil {
		t.Fatal("files of the person's own folder were deleted")
	}
	s.until("tiny-9b-shape-mlx-4bit", "still there", stage(ui.StageReady))
	gone := filepath.Join(t.TempDir(), "disk")
	s.AddFolder(gone)
	s.until(gone, "away", stage(ui.StageAway))

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer k" || r.URL.Path != "/v1/models" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"models":[{"name":"clef"},{"name":"jev-latest"},{"name":"cloudflare/clef","description":"Answered by clef: x"}]}`)
	}))
	defer server.Close()
	told := make(chan error, 1)
	s.AddServer(server.URL, "", func(err error) { told <- err })
	if err := <-told; err == nil {
		t.Error("a server that wants a key was added without one")
	}
	s.AddServer(server.URL, "k", func(err error) { told <- err })
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(settingsFile()); err != nil || strings.Contains(string(b), `"k"`) {
		t.Errorf("the key is in the settings: %s, %v", b, err)
	}
	if k, err := serverKey(server.URL).Load(); err != nil || k != "k" {
		t.Errorf("the key: got %q, %v", k, err)
	}
	s.AddServer(server.URL, "bad key", func(err error) { told <- err })
	if err := <-told; err == nil {
		t.Error("a key was taken that cannot be sent")
	}
	key := server.URL + "#clef"
	if r := s.until(key, "there", stage(ui.StageReady)); r.Name != "clef" || r.Server != server.URL {
		t.Errorf("%+v", r)
	}
	s.stop()
	s = openStore(t)
	s.until(key, "there after a restart", stage(ui.StageReady))
	s.Remove(key)
	s.untilGone(key)
	if set, err := loadSettings(); err != nil || len(set.Servers) > 0 {
		t.Errorf("settings: %+v, %v", set, err)
	}
	for range 500 { // it goes a moment after the row
		if _, err := serverKey(server.URL).Load(); errors.Is(err, secret.ErrNone) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the key is still there")
}

// TestOldKeysMove starts with a settings file of an earlier version, which held the keys of servers.
func TestOldKeysMove(t *testing.T) {
	folders(t)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(settingsFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const old = `{"servers":["http://a:1#clef"],"server_keys":{"http://a:1":"old-key","http://b:1":"not ascii: ä"}}`
	write(old)
	set, err := loadSettings()
	if err != nil {
		t.Fatal(err)
	}
	if k, err := set.keyOf("http://a:1"); err != nil || k != "old-key" {
		t.Errorf("before the move: got %q, %v", k, err)
	}
	if err := changeSettings(func(*settings) {}); err != nil {
		t.Fatal(err)
	}
	set, err = loadSettings()
	if err != nil || len(set.Servers) != 1 || len(set.OldKeys) != 1 || set.OldKeys["http://b:1"] == "" {
		t.Errorf("after the move: %+v, %v; the key that cannot be stored has to stay", set, err)
	}
	if k, err := set.keyOf("http://a:1"); err != nil || k != "old-key" {
		t.Errorf("after the move: got %q, %v", k, err)
	}
	t.Setenv("CLEFBAR_SERVER_KEY", "from-outside")
	for address, want := range map[string]string{"http://a:1": "old-key", "http://c:1": "from-outside"} {
		if k, err := set.keyOf(address); err != nil || k != want {
			t.Errorf("%s: got %q, %v, want %q", address, k, err, want)
		}
	}
}
