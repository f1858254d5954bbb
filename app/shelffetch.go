package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clefbar/models/hub"
	"clefbar/ui"
)

// fetch is a download that was asked for. Downloads run one after the other. Its fields belong to appShelf.mu.
type fetch struct {
	id, repo, revision string // of the row that it was asked for from
	name, layout, note string
	memory             int64
	commit             string    // once the Hub has told
	cache              hub.Cache // where it goes: the person may choose another folder meanwhile
	stage              ui.Stage
	why                string
	progress           hub.Progress
	guess              int64 // total before the Hub has told
	running            bool
	gone               bool // given up: what arrived is deleted
	repair             bool // files that are there are read, and fetched again if damaged
	stop               context.CancelFunc
}

// row describes a download.
func (f *fetch) row() ui.Shelved {
	r := ui.Shelved{
		ID: f.id, Name: f.name, Layout: f.layout, Note: f.note, Stage: f.stage, Why: f.why, Known: f.memory > 0, Memory: f.memory,
		Done: f.progress.Done, Total: max(f.progress.Total, f.progress.Done), Disk: f.progress.Done,
	}
	if f.progress.Total == 0 {
		r.Total = f.guess
	}
	if f.stage != ui.StageArriving {
		return r
	}
	if !f.running {
		r.Why = "Waits until the other download has ended."
		return r
	}
	r.Speed, r.Left = int64(f.progress.Rate), f.progress.Left()
	return r
}

// Get implements ui.Shelf.
func (s *appShelf) Get(id string) {
	if f, ok := s.wanted(id); ok {
		s.start(f)
	}
}

// start asks for a download, or goes on with the one of the same row.
func (s *appShelf) start(f *fetch) {
	id := f.id
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.fetches, func(f *fetch) bool { return f.id == id }); i >= 0 {
		f = s.fetches[i]
	} else {
		s.fetches = append(s.fetches, f)
	}
	if f.gone {
		return
	}
	f.stage, f.why = ui.StageArriving, ""
	if !s.fetching {
		s.fetching = true
		s.work.Go(s.fetchAll)
	}
	s.ring()
}

// wanted says what a row is fetched from.
func (s *appShelf) wanted(id string) (*fetch, bool) {
	if k, ok := s.lib.inCatalog(id); ok {
		return &fetch{id: id, repo: k.Repo, name: k.Name, layout: k.Layout, note: k.Note + " Checked as it arrives.", memory: k.Memory(fitTokens), guess: k.Bytes}, true
	}
	e, ok := s.find(id)
	if !ok || e.item == nil || e.item.Repo == "" {
		return nil, false
	}
	r := s.row(e, false)
	f := &fetch{id: id, repo: e.item.Repo, revision: e.item.Commit, name: r.Name, layout: r.Layout, note: r.Note, guess: e.item.DiskBytes + e.item.Missing}
	if r.Known {
		f.memory = r.Memory
	}
	return f, true
}

// fetchAll runs the downloads that wait, one after the other.
func (s *appShelf) fetchAll() {
	for {
		s.mu.Lock()
		i := slices.IndexFunc(s.fetches, func(f *fetch) bool { return f.stage == ui.StageArriving })
		if i < 0 || s.ends.Err() != nil {
			s.fetching = false
			s.mu.Unlock()
			return
		}
		f := s.fetches[i]
		ctx, stop := context.WithCancel(s.ends)
		f.running, f.stop = true, stop
		s.mu.Unlock()
		err := s.fetchOne(ctx, f)
		stop()
		s.ended(f, err)
	}
}

func (s *appShelf) fetchOne(ctx context.Context, f *fetch) error {
	client := s.client()
	repo, err := client.Lookup(ctx, f.repo, f.revision)
	if err != nil {
		return err
	}
	cache := modelCache()
	s.mu.Lock()
	f.commit, f.cache = repo.Commit, cache
	s.mu.Unlock()
	if f.repair {
		if err := s.dropDamaged(ctx, f, repo); err != nil {
			return err
		}
	}
	_, err = client.Fetch(ctx, cache, repo, func(p hub.Progress) {
		s.mu.Lock()
		f.progress = p
		s.mu.Unlock()
		s.ring()
	})
	return err
}

// dropDamaged deletes the files of a download that are there and not what the Hub announced.
func (s *appShelf) dropDamaged(ctx context.Context, f *fetch, repo *hub.Repo) error {
	_, total, _ := f.cache.Wants(repo)
	_, err := f.cache.DropDamaged(ctx, repo, func(read int64) {
		s.mu.Lock()
		f.progress.Done, f.progress.Total = read, total
		s.mu.Unlock()
		s.ring()
	})
	return err
}

// Repair implements ui.Shelf: what is damaged is found by reading all files once more, and fetched again.
func (s *appShelf) Repair(id string) {
	f, ok := s.wanted(id)
	if !ok {
		return
	}
	f.repair = true
	if slices.Contains(s.worker.Status().Open, id) {
		s.worker.Unload() // its files are about to go
	}
	s.mu.Lock()
	delete(s.checks, id)
	s.mu.Unlock()
	s.start(f)
}

// ended settles a download: it is there, it rests, it failed, or it was given up.
func (s *appShelf) ended(f *fetch, err error) {
	s.mu.Lock()
	f.running = false
	switch {
	case f.gone:
	case err == nil:
		s.drop(f)
	case f.stage == ui.StagePaused || s.ends.Err() != nil:
		f.stage = ui.StagePaused
	case errors.Is(err, context.Canceled): // asked for again while it was stopping
	default:
		f.stage, f.why = ui.StageFailed, sentence(err)
	}
	gone := f.gone
	s.mu.Unlock()
	if gone {
		s.giveUp(f)
		return
	}
	if err == nil {
		s.lib.look(s.ends)
		s.models.look()
	}
	s.ring()
}

// drop forgets a download. s.mu is held.
func (s *appShelf) drop(f *fetch) {
	s.fetches = slices.DeleteFunc(s.fetches, func(o *fetch) bool { return o == f })
}

// Pause implements ui.Shelf.
func (s *appShelf) Pause(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.fetches {
		if f.id == id && f.stage == ui.StageArriving {
			f.stage = ui.StagePaused
			if f.running {
				f.stop()
			}
		}
	}
	s.ring()
}

// Cancel implements ui.Shelf.
func (s *appShelf) Cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.fetches {
		if f.id != id || f.gone {
			continue
		}
		f.gone = true
		f.stage, f.why = ui.StagePaused, "Deleting what has arrived."
		if f.running {
			f.stop()
		} else {
			s.work.Go(func() { s.giveUp(f) })
		}
	}
	s.ring()
}

// giveUp deletes what has arrived of a download.
func (s *appShelf) giveUp(f *fetch) {
	var err error
	cache := f.cache
	if cache.Dir == "" {
		cache = modelCache()
	}
	commits := []string{f.commit}
	if f.commit == "" {
		commits = nil
		for _, r := range cache.Begun(f.repo) {
			if f.revision == "" || strings.EqualFold(r.Commit, f.revision) {
				commits = append(commits, r.Commit)
			}
		}
	}
	for _, commit := range commits {
		if _, rerr := cache.Remove(f.repo, commit); rerr != nil {
			err = fmt.Errorf("delete what has arrived of %s: %w", f.repo, rerr)
		}
	}
	s.mu.Lock()
	s.drop(f)
	s.mu.Unlock()
	s.lib.look(s.ends)
	s.changed(f.id, err)
}
