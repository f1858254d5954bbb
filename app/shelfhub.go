package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"clefbar/models/shelf"
	"clefbar/ui"
)

// searchTime bounds how long the Hub may take to answer a person who waits.
const searchTime = time.Minute

// catalog lists the repositories that can be fetched: the known ones, then those that the person has added.
func (l *library) catalog() []shelf.Known {
	all := shelf.Catalog()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.set.Repos {
		if _, known := shelf.InCatalog(k.Repo); !known && strings.Count(k.Repo, "/") == 1 { // the file can be edited by hand
			all = append(all, k)
		}
	}
	return all
}

// inCatalog finds a repository among them.
func (l *library) inCatalog(repo string) (shelf.Known, bool) {
	all := l.catalog()
	i := slices.IndexFunc(all, func(k shelf.Known) bool { return strings.EqualFold(k.Repo, repo) })
	if i < 0 {
		return shelf.Known{}, false
	}
	return all[i], true
}

// Search implements ui.Shelf.
func (s *appShelf) Search(owner string, done func(ui.Hits, error)) {
	s.work.Go(func() {
		ctx, cancel := context.WithTimeout(s.ends, searchTime)
		defer cancel()
		found, looked, more, err := shelf.Search(ctx, s.client(), owner, "")
		hits := ui.Hits{Looked: looked, More: more}
		for _, f := range found {
			_, listed := s.lib.inCatalog(f.ID)
			h := ui.Hit{Repo: clean(f.ID), Note: foundNote(f), Usable: f.Problem == nil, Listed: listed}
			hits.List = append(hits.List, h)
		}
		done(hits, err)
	})
}

// foundNote says what a search knows about a repository.
func foundNote(f shelf.Found) string {
	var notes []string
	if f.Problem != nil {
		notes = append(notes, f.Problem.Error())
	}
	if f.Gated {
		notes = append(notes, "asks for a token")
	}
	if f.Changed != "" {
		notes = append(notes, "changed "+f.Changed)
	}
	return clean(strings.Join(notes, ", "))
}

// AddRepo implements ui.Shelf.
func (s *appShelf) AddRepo(repo string, done func(error)) {
	s.work.Go(func() { done(s.addRepo(repo)) })
}

func (s *appShelf) addRepo(repo string) error {
	ctx, cancel := context.WithTimeout(s.ends, searchTime)
	defer cancel()
	known, err := shelf.Describe(ctx, s.client(), repo)
	if err != nil {
		return err
	}
	err = s.lib.change(s.ends, func(set *settings) {
		set.dropRepo(known.Repo)
		set.Repos = append(set.Repos, known)
	})
	s.ring()
	return err
}

// dropRepo takes a repository off the list of what can be fetched.
func (s *settings) dropRepo(repo string) {
	s.Repos = slices.DeleteFunc(s.Repos, func(k shelf.Known) bool { return strings.EqualFold(k.Repo, repo) })
}
