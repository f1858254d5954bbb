package main

import (
	"strings"
	"sync"
	"testing"
	"time"

	"clefbar/engine"
)

func TestNamesOfRequestsAreNoPaths(t *testing.T) {
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	l := newLibrary(settings{}, howToRun{})
	for name, want := range map[string]engine.Reason{
		tiny(t):                   engine.BadUsage,
		"./nowhere":               engine.BadUsage,
		"http://127.0.0.1:1":      engine.BadUsage,
		"jev-1.13.0":              engine.BadUsage,
		"clef-flash":              engine.NoModel,
		"@cf/cloudflare/clef":     engine.NoModel,
		"Cloudflare/CLEF-FLASH":   engine.NoModel,
		strings.Repeat("x", 1000): engine.BadUsage,
	} {
		if key, err := l.Resolve(name); engine.ReasonOf(err) != want {
			t.Errorf("%.40s: got %q, %v; want reason %v", name, key, err, want)
		}
	}
	if key, err := l.Resolve("ETUDE"); key != etudeKey || err != nil {
		t.Errorf("ETUDE: got %q, %v", key, err)
	}
	for _, name := range []string{"", "jev-latest", "JEV-Preview", "clef-latest"} {
		if !l.Default(name) {
			t.Errorf("%q does not mean the default model", name)
		}
	}
	l.set.Endpoint.AnyJev = true
	if !l.Default("jev-1.13.0") || l.Default("jevon") {
		t.Error("--any-jev means every jev-* name and no other")
	}
}

// A look at the disk may take long. Requests for known models must not wait for it.
func TestLookingHoldsNobodyUp(t *testing.T) {
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	l := newLibrary(settings{}, howToRun{})
	l.looking.Lock() // a look that does not end
	answered := make(chan bool)
	go func() {
		_, known := l.Info(etudeKey)
		_, err := l.Resolve("etude")
		answered <- known && err == nil
	}()
	select {
	case ok := <-answered:
		if !ok {
			t.Error("Etude is not known while the disk is looked at")
		}
	case <-time.After(5 * time.Second):
		t.Error("a request waits for a look at the disk")
	}
	l.looking.Unlock()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { l.look(t.Context()); l.list(t.Context()); l.Info(etudeKey) })
	}
	all.Wait()
}

func TestLongNamesAreCut(t *testing.T) {
	l := newLibrary(settings{}, howToRun{device: "auto"})
	for _, name := range []string{strings.Repeat("x", 100_000), "clef-flash" + strings.Repeat("ä", 5000)} {
		if _, err := l.Resolve(name); err == nil || len(err.Error()) > 400 {
			t.Errorf("%.20q: got %d characters", name, len(err.Error()))
		}
	}
}
