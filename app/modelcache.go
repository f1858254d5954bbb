package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"clefbar/models/hub"
	"clefbar/ui"
)

// modelCache is where models are fetched to and found: the folder of HF_HUB_CACHE, else the one that was chosen in the
// window, else where the Hub's own tools keep theirs.
func modelCache() hub.Cache {
	if hub.NamedCache() == "" {
		if set, err := loadSettings(); err == nil && set.Cache != "" {
			return hub.Cache{Dir: set.Cache}
		}
	}
	return hub.DefaultCache()
}

// hubClient returns a client of the Hub that stays offline when the variable or the settings say so.
func hubClient() *hub.Client {
	c := hub.New()
	c.Offline = offline()
	return c
}

// offline reports that nothing may be fetched. Settings that cannot be read forbid nothing: whoever reads them says so.
func offline() bool {
	if hub.Offline() {
		return true
	}
	set, err := loadSettings()
	return err == nil && set.Offline
}

// SetOffline implements ui.Shelf.
func (s *appShelf) SetOffline(on bool) {
	s.work.Go(func() {
		if err := changeSettings(func(set *settings) { set.Offline = on }); err != nil {
			slog.Error("keep the settings", "err", err)
		}
		s.mu.Lock()
		for _, f := range s.fetches {
			if on && f.stage == ui.StageArriving {
				f.stage = ui.StagePaused
				if f.running {
					f.stop()
				}
			}
		}
		s.mu.Unlock()
		s.ring()
	})
}

// Folder implements ui.Shelf.
func (s *appShelf) Folder() (path string, fixed bool) {
	return modelCache().Dir, hub.NamedCache() != ""
}

// SetFolder implements ui.Shelf. What was fetched before stays where it is.
func (s *appShelf) SetFolder(path string, done func(error)) {
	s.work.Go(func() {
		err := checkFolder(path)
		if err == nil {
			err = s.lib.change(s.ends, func(set *settings) { set.Cache = path })
		}
		if err == nil {
			s.models.look()
		}
		s.ring()
		done(err)
	})
}

// checkFolder makes sure that files can be put into a folder.
func checkFolder(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is not a whole path", path)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return fmt.Errorf("models cannot be kept in %s: %w", path, err)
	}
	f, err := os.CreateTemp(path, ".clefbar-*")
	if err != nil {
		return fmt.Errorf("models cannot be kept in %s: %w", path, err)
	}
	_ = f.Close() // nothing was written
	return os.Remove(f.Name())
}
