//go:build desktop

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestShelfOnScreen clicks through the shelf of the real program: a model in the cache, one that is fetched from a hub while the
// window shows how far it has come, opened, checked, unloaded.
func TestShelfOnScreen(t *testing.T) {
	h := startHub(t)
	hold := make(chan struct{})
	h.set(hold, 0)
	dir := t.TempDir()
	freePort(t, dir)
	s := openScreen(t, dir, "FYNE_THEME=light", "HF_HUB_CACHE="+filepath.Join(dir, "hub"), "HF_ENDPOINT="+h.URL, "HF_TOKEN=", "HF_HUB_OFFLINE=", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	s.focus()
	s.until("the first bars", func(n []node) bool { return len(bars(n)) >= 6 })
	s.click("Etude")
	s.click("All models…")
	s.until("the shelf", func(n []node) bool { _, ok := find(n, "Can be downloaded"); return ok })
	checkEtude(s)
	s.click("Get") // the last one that fits
	s.until("a download", func(n []node) bool { _, ok := find(n, "Pause"); return ok })
	s.click("Pause")
	s.until("a rest", func(n []node) bool { _, ok := find(n, "paused"); return ok })
	h.set(nil, 0)
	close(hold)
	s.click("Resume")
	var opens node
	s.until("a model to open", func(n []node) bool {
		for _, x := range n {
			if strings.Contains(x.text, "Revision 0123456") {
				return true
			}
		}
		return false
	})
	s.until("its button", func(n []node) (ok bool) {
		for _, x := range n { // the first one is that of the model that has arrived
			if x.text == "Open" {
				opens = x
				return true
			}
		}
		return false
	})
	s.clickAt(opens.x+opens.w/2, opens.y+opens.h/2)
	s.until("a model in use", func(n []node) bool { _, ok := find(n, "Unload"); return ok })
	s.click("Find on the Hub…")
	s.typed("someone")
	s.key("Return")
	s.click("Add")
	s.until("a repository on the list", func(n []node) bool { _, ok := find(n, "On the list"); return ok })
	s.click("Close")
	s.until("its row", func(n []node) bool { _, ok := find(n, "clef-tiny"); return ok })
	s.key("Escape")
	s.until("the case", func(n []node) bool { return len(bars(n)) >= 6 })
}

// checkEtude lets doctor look at Etude from its row and waits for the green card.
func checkEtude(s *screen) {
	s.t.Helper()
	s.menuOf("Etude")
	s.click("Check")
	s.until("what the check found", func(n []node) bool {
		_, good := find(n, "Everything holds")
		for _, x := range n {
			if good && strings.HasPrefix(x.text, "Largest difference 0.") {
				return true
			}
		}
		return false
	})
}

// TestShelfPictures draws the shelf for the docs, at two pixels a dp.
func TestShelfPictures(t *testing.T) {
	pictures := os.Getenv("CLEFBAR_PICTURES")
	if pictures == "" {
		t.Skip("make pictures draws it")
	}
	for _, theme := range []string{"light", "dark"} {
		dir := t.TempDir()
		freePort(t, dir)
		s := openScreen(t, dir, "FYNE_THEME="+theme, "FYNE_SCALE=2", "HF_HUB_CACHE="+filepath.Join(dir, "hub"), "HF_HUB_OFFLINE=", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
		s.focus()
		s.until("the first bars", func(n []node) bool { return len(bars(n)) >= 6 })
		s.click("Etude")
		s.click("All models…")
		checkEtude(s)
		s.x("mousemove", "5", "1400")
		s.until("times of tickets", func(n []node) bool {
			for _, x := range n {
				if strings.HasPrefix(x.text, "~") {
					return true
				}
			}
			return false
		})
		time.Sleep(400 * time.Millisecond) // bars glide for 150 ms
		s.picture(filepath.Join(pictures, "shelf-"+theme+".png"))
		s.close()
	}
}
