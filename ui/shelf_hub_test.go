package ui

import (
	"errors"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"
)

// foundShelf is a shelf whose search finds a usable repository, one that is listed and one that cannot be used.
func foundShelf() *storeroom {
	s := mockShelf()
	s.hits = Hits{Looked: 240, More: true, List: []Hit{
		{Repo: "someone/clef-flash-6bit", Note: "changed 2026-11-20", Usable: true},
		{Repo: "someone/clef-flash-4bit", Note: "changed 2026-11-02", Usable: true, Listed: true},
		{Repo: "someone/a-repository-with-a-name-that-is-longer-than-anybody-would-want-to-read-in-one-line", Note: "only GGUF files: Clefbar reads safetensors"},
	}}
	return s
}

func TestFindOnTheHub(t *testing.T) {
	d, _, _, _ := testDeps()
	store := foundShelf()
	d.Shelf = store
	w, s := shelfWindow(t, d, 1178, 730)
	test.Tap(s.search)
	if len(store.done) > 0 {
		t.Fatalf("asked before the person did: %v", store.done)
	}
	sheet := w.page.sheet
	b := sheet.body.(*hubBody)
	test.Tap(sheet.done)
	if b.said.text == "" || len(store.done) > 0 {
		t.Errorf("nothing was written: said %q, did %v", b.said.text, store.done)
	}
	b.field.SetText(" someone ")
	b.field.OnSubmitted("")
	if !sheet.done.Disabled() {
		t.Error("it can be asked twice")
	}
	b.submit()
	(<-handed)()
	if got := strings.Join(store.done, ", "); got != "search someone" || !strings.Contains(b.said.text, "3 of someone’s 240 repositories hold") || !strings.Contains(b.said.text, "changed last") {
		t.Errorf("did %s, said %q", got, b.said.text)
	}
	if a := b.hits.acts; len(a) != 3 || a[0].Disabled() || a[1].text.full != "On the list" || !a[1].Disabled() || !a[2].Disabled() {
		t.Fatalf("got %+v", b.hits.list)
	}
	test.Tap(b.hits.acts[0])
	(<-handed)()
	if store.done[1] != "add someone/clef-flash-6bit" || b.hits.acts[0].text.full != "On the list" {
		t.Errorf("did %v", store.done)
	}
	store.err = errors.New("the Hub asks for a token")
	b.field.SetText("https://huggingface.co/other/clef/tree/main")
	b.submit()
	(<-handed)()
	if store.done[2] != "add other/clef" || b.said.token != colorRed || b.said.lines == nil && b.said.text == "" {
		t.Errorf("did %v, said %q in %s", store.done, b.said.text, b.said.token)
	}
	sheet.close()
	store.machine.Offline = true
	s.refresh()
	test.Tap(s.search)
	if w.page.sheet != nil {
		t.Error("offline: the Hub can be asked")
	}
}

func TestWhatWasAddedCanBeTakenOff(t *testing.T) {
	d, _, _, _ := testDeps()
	store := mockShelf()
	store.models[5].Given = true
	d.Shelf = store
	_, s := shelfWindow(t, d, 1178, 730)
	if rows := s.list.row("flash16").menu(); len(rows) != 1 {
		t.Errorf("a known one can be taken off: %v", rows)
	}
	rows := s.list.row("clef8").menu()
	if len(rows) != 2 {
		t.Fatalf("got %d rows", len(rows))
	}
	rows[1].run()
	if got := strings.Join(store.done, ", "); got != "remove clef8" {
		t.Errorf("did %s", got)
	}
}

func TestRepoName(t *testing.T) {
	for typed, want := range map[string]string{
		"owner": "owner", " owner/name ": "owner/name", "https://huggingface.co/owner/name/tree/main?x": "owner/name", "https://huggingface.co/": "",
		"/owner/": "owner", "": "", "a/b/c": "a/b",
	} {
		if got := repoName(typed); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}
