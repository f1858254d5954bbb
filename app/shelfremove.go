package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"clefbar/models/shelf"
)

// Remove implements ui.Shelf. Files of the person's own folders are never deleted: the folder leaves the list.
func (s *appShelf) Remove(id string) {
	if id == etudeKey {
		return
	}
	e, ok := s.find(id)
	if !ok {
		s.work.Go(func() { // a repository that the person has added
			s.changed(id, s.lib.change(s.ends, func(set *settings) { set.dropRepo(id) }))
		})
		return
	}
	s.work.Go(func() {
		err := s.remove(e)
		s.mu.Lock()
		delete(s.checks, id)
		s.mu.Unlock()
		if err == nil && s.worker.Chosen() == id {
			s.models.Open(etudeKey) // what is chosen has to be there
		}
		s.lib.look(s.ends)
		s.changed(id, err)
	})
}

func (s *appShelf) remove(e entry) error {
	switch {
	case e.info.ServerSide:
		return s.dropServer(e.key)
	case e.item == nil || e.item.Repo == "":
		siblings := s.lib.beside(e.key)
		return s.lib.change(s.ends, func(set *settings) { set.dropFolder(e.key, siblings) })
	case e.item.Commit == "":
		return modelCache().RemoveParts(e.item.Repo)
	}
	if slices.Contains(s.worker.Status().Open, e.key) {
		s.worker.Unload()
	}
	if _, err := modelCache().Remove(e.item.Repo, e.item.Commit); err != nil {
		return fmt.Errorf("remove %s: %w", e.item.Repo, err)
	}
	return nil
}

// dropServer takes one model of a server off the list, and forgets the server's key with its last model.
func (s *appShelf) dropServer(key string) error {
	address := serverAddress(key)
	last := false
	err := s.lib.change(s.ends, func(set *settings) {
		set.Servers = slices.DeleteFunc(set.Servers, func(k string) bool { return k == key })
		last = !slices.ContainsFunc(set.Servers, func(k string) bool { return serverAddress(k) == address })
		if last {
			delete(set.OldKeys, address)
		}
	})
	if err == nil && last {
		err = serverKey(address).Delete()
	}
	return err
}

// dropFolder takes a model's folder off the list. When the folder above it was added, the other models in it stay.
func (s *settings) dropFolder(dir string, siblings []string) {
	i := slices.IndexFunc(s.Folders, func(f string) bool { return f == dir || f == filepath.Dir(dir) })
	if i < 0 {
		return
	}
	parent := s.Folders[i] != dir
	s.Folders = slices.Delete(s.Folders, i, i+1)
	if parent {
		for _, f := range siblings {
			if f != dir && !slices.Contains(s.Folders, f) {
				s.Folders = append(s.Folders, f)
			}
		}
	}
}

// beside lists the models in the folder that a model is in.
func (l *library) beside(dir string) (dirs []string) {
	for _, e := range l.now() {
		if e.item != nil && e.item.Repo == "" && filepath.Dir(e.key) == filepath.Dir(dir) && e.item.State != shelf.Away {
			dirs = append(dirs, e.key)
		}
	}
	return dirs
}

// now returns every model as of the last look at the disk, without looking again.
func (l *library) now() []entry {
	l.refresh(context.Background(), math.MaxInt64, isOurs) // only if nobody has looked yet
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}
