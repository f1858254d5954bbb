package main

import (
	"fmt"
	"strings"

	"clefbar/models"
	"clefbar/models/etude"
	"clefbar/models/shelf"
	"clefbar/ui"
)

// About implements ui.Shelf.
func (s *appShelf) About(id string) ui.About {
	if k, ok := s.lib.inCatalog(id); ok {
		return aboutKnown(k)
	}
	e, ok := s.find(id)
	if !ok {
		return ui.About{}
	}
	a := ui.About{Text: e.info.Description}
	fact := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			a.Facts = append(a.Facts, [2]string{name, clean(text)})
		}
	}
	switch {
	case e.key == etudeKey:
		a.Text = strings.TrimSpace(e.info.Description + " " + e.info.PracticeNote)
		a.Report = etude.Report()
		fact("Published", "%s", e.info.Released)
	case e.info.ServerSide:
		a.Text = "This model runs on a server. Your cases go there when you use it."
		fact("Server", "%s", e.info.Path)
		return a
	case e.item != nil:
		a.Text = layoutNote(e.info.Layout)
		s.aboutItem(e.item, fact)
	}
	fact("Stored as", "%s", e.info.Layout)
	fact("On disk", "%s", size(e.info.DiskBytes))
	fact("Memory it needs", "%s for a request of %d tokens", size(e.memory(s.lib.tokens(e.key))), s.lib.tokens(e.key))
	if fit, ok := s.lib.temperature(e.key); ok {
		fact("Temperature", "%.3f, fitted to %d records: calibration error %.3f before, %.3f after", fit.T, fit.Records, fit.Before, fit.After)
	}
	return a
}

// aboutItem says where a model of the disk is from and what its own files say of it.
func (s *appShelf) aboutItem(i *shelf.Item, fact func(name, format string, args ...any)) {
	fact("Repository", "%s", i.Repo)
	fact("Revision", "%s", strings.TrimSpace(i.Commit+" "+strings.Join(i.Refs, ", ")))
	fact("Folder", "%s", i.Dir)
	if i.State != shelf.Ready {
		fact("State", "%s: %v", i.State, i.Problem)
		return
	}
	fact("Reads images", "%s", map[bool]string{true: "yes", false: "no"}[i.Vision])
	fact("Reads at most", "%d tokens", i.Positions)
	if f, err := models.Open(i.Dir); err == nil {
		fact("Says of itself", "%s", strings.TrimSpace(f.Card.Description+" "+f.Card.PracticeNote))
		_ = f.Close() // it was only looked at
	}
}

func aboutKnown(k shelf.Known) ui.About {
	a := ui.About{Text: strings.TrimSpace(k.Size() + k.Note)}
	exact := ""
	if k.Computed {
		exact = ", reckoned"
	}
	a.Facts = [][2]string{
		{"Repository", k.Repo},
		{"Stored as", k.Layout},
		{"To get", size(k.Bytes) + exact},
		{"Memory it needs", fmt.Sprintf("%s for a request of %d tokens", size(k.Memory(fitTokens)), fitTokens)},
	}
	return a
}

// temperature returns the fit that is attached to a model.
func (l *library) temperature(key string) (temperature, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.set.Temperatures[key]
	return t, ok
}

// layoutNote is what is known of answers in a stored form.
func layoutNote(layout string) string {
	for _, k := range shelf.Catalog() {
		if k.Layout == layout {
			return strings.TrimPrefix(k.Note, "Text only. ")
		}
	}
	return ""
}
