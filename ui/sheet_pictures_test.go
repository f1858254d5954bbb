package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"
)

// sheetScreen is one state of a sheet or of the shelf that has a picture.
type sheetScreen struct {
	name string
	open func(t *testing.T, d Deps) *Window
}

var sheetScreens = []sheetScreen{
	{"json-sheet", func(t *testing.T, d Deps) *Window { w, _ := sheetWindowOf(t, d, keptJSON); return w }},
	{"json-sheet-wrong", func(t *testing.T, d Deps) *Window {
		w, b := sheetWindowOf(t, d, keptJSON)
		b.entry.SetText(strings.Replace(keptJSON, `"score"`, `"rank"`, 1))
		return w
	}},
	{"json-sheet-twice", func(t *testing.T, d Deps) *Window {
		w, b := sheetWindowOf(t, d, keptJSON)
		b.entry.SetText(strings.Replace(keptJSON, `"technical"`, `"billing"`, 1))
		return w
	}},
	{"what-the-model-reads", func(t *testing.T, d Deps) *Window { w, _ := readsWindow(t, d, controlJSON); return w }},
	{"requests", func(t *testing.T, d Deps) *Window {
		l := &RequestLog{}
		l.KeepBodies(true)
		arrivals(l)
		d.Requests = l
		w, b := requestsWindow(t, d)
		b.choose(b.shown[5].ID)
		return w
	}},
	{"requests-none", func(t *testing.T, d Deps) *Window {
		d.Requests = &RequestLog{}
		w, _ := requestsWindow(t, d)
		return w
	}},
	{"shelf", func(t *testing.T, d Deps) *Window {
		d.Shelf = mockShelf()
		w, _ := shelfWindow(t, d, 1178, 730)
		return w
	}},
	{"shelf-checked", func(t *testing.T, d Deps) *Window {
		d.Shelf = checkedShelf()
		w, _ := shelfWindow(t, d, 1178, 730)
		return w
	}},
	{"shelf-found", func(t *testing.T, d Deps) *Window {
		d.Shelf = checkedShelf()
		w, s := shelfWindow(t, d, 1178, 730)
		s.openFindings(d.Shelf.Shelved()[1])
		return w
	}},
	{"shelf-narrow", func(t *testing.T, d Deps) *Window {
		d.Shelf = mockShelf()
		w, _ := shelfWindow(t, d, 758, 490)
		return w
	}},
	{"shelf-hub", func(t *testing.T, d Deps) *Window {
		d.Shelf = foundShelf()
		w, s := shelfWindow(t, d, 1178, 730)
		test.Tap(s.search)
		b := w.page.sheet.body.(*hubBody)
		b.field.SetText("someone")
		b.submit()
		(<-handed)()
		return w
	}},
	{"shelf-server", func(t *testing.T, d Deps) *Window {
		d.Shelf = mockShelf()
		w, s := shelfWindow(t, d, 1178, 730)
		test.Tap(s.server)
		return w
	}},
}

// TestSheetScreens compares the tree of every sheet with the one recorded.
func TestSheetScreens(t *testing.T) {
	for _, s := range sheetScreens {
		t.Run(s.name, func(t *testing.T) {
			d, _, _, _ := testDeps()
			d.Settings.Appearance = AppearanceLight
			w := s.open(t, d)
			// The page under a sheet has a tree of its own.
			top := w.win.Content()
			if w.page.sheet != nil {
				top = w.page.sheet
			}
			test.AssertObjectRendersToMarkup(t, "sheets/"+s.name+".xml", top)
		})
	}
}

func TestSheetPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("draws only with -pictures FOLDER")
	}
	macKeys = true
	defer func() { macKeys = false }()
	for _, s := range sheetScreens {
		for _, a := range []Appearance{AppearanceLight, AppearanceDark} {
			name := s.name + "-" + string(a)
			t.Run(name, func(t *testing.T) {
				d, _, _, _ := testDeps()
				d.Settings.Appearance = a
				draw(t, s.open(t, d), name)
			})
		}
	}
}
