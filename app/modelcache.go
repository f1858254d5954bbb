package main

import (
	"fmt"
	"os"
	"path/filepath"

	"clefbar/models/hub"
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
