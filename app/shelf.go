package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"clefbar/app/worker"
	"clefbar/models/hub"
	"clefbar/models/shelf"
	"clefbar/ui"
)

// appShelf is the store behind the shelf screen: what is on this machine, what can be fetched, and what is under way. It
// implements ui.Shelf. Nothing is fetched that the person did not ask for.
type appShelf struct {
	lib    *library
	worker *worker.Worker
	models *appModels
	client func() *hub.Client // made anew for each download: a token may have been added
	pace   *pace
	name   string // of the machine

	*bell
	watching sync.Mutex
	watcher  func()
	looking  atomic.Int32 // looks at the disk that are under way

	ends context.Context // with the app
	end  context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	fetches  []*fetch // in the order in which they were asked for
	fetching bool
	checks   map[string]*examined // by ID; what a check does or found
	troubles map[string]string    // by ID: what went wrong with removing it
}

var _ ui.Shelf = (*appShelf)(nil)

func newAppShelf(lib *library, w *worker.Worker, m *appModels, p *pace) *appShelf {
	s := &appShelf{
		lib: lib, worker: w, models: m, client: hubClient, pace: p, name: thisMachine().short(),
		bell: newBell(), checks: map[string]*examined{}, troubles: map[string]string{},
	}
	s.ends, s.end = context.WithCancel(context.Background())
	s.bell.Watch(s.tell)
	w.Watch(func(worker.Status) { s.ring() })
	return s
}

// Watch implements ui.Shelf: the last watcher is told.
func (s *appShelf) Watch(changed func()) {
	s.watching.Lock()
	s.watcher = changed
	s.watching.Unlock()
	s.pace.measure(s.ends, func() bool { st := s.worker.Status(); return st.Running || st.Loading != "" }, s.ring)
	s.looking.Add(1)
	s.work.Go(func() {
		s.lib.look(s.ends)
		s.looking.Add(-1)
		s.ring()
	})
}

func (s *appShelf) tell() {
	s.watching.Lock()
	f := s.watcher
	s.watching.Unlock()
	if f != nil {
		f()
	}
}

// close pauses what is under way and waits for it.
func (s *appShelf) close() {
	s.bell.close()
	s.end()
	s.work.Wait()
}

// Machine implements ui.Shelf.
func (s *appShelf) Machine() ui.Machine {
	m := ui.Machine{Name: s.name, Looking: s.looking.Load() > 0, Offline: offline(), NoSwitch: hub.Offline()}
	if err := s.lib.cacheTrouble(); err != nil {
		m.Trouble = sentence(err)
	}
	open := s.lib.opened(s.worker)
	for _, e := range open {
		m.InUse += e.memory(s.lib.tokens(e.key))
	}
	m.Gives, _ = s.lib.room().Gives(s.lib.held(open)) // 0 is said to be unknown
	return m
}

// memory is what a model needs for a request of so many tokens.
func (e entry) memory(tokens int) int64 {
	switch {
	case e.info.ServerSide:
		return 0
	case e.item == nil:
		return e.info.WeightBytes + etudeWorking
	}
	return e.item.Memory(tokens)
}

// etudeWorking is what Etude takes beside its weights for a long request.
const etudeWorking = 24 << 20

// Shelved implements ui.Shelf.
func (s *appShelf) Shelved() []ui.Shelved {
	entries := s.lib.now()
	gives := s.Machine().Gives
	open, chosen := s.worker.Status().Open, s.worker.Chosen()
	s.mu.Lock()
	defer s.mu.Unlock()
	var here []ui.Shelved
	seen := map[string]bool{} // repositories that are shown
	for _, f := range s.fetches {
		here = append(here, f.row())
		seen[strings.ToLower(f.repo)] = true
	}
	for _, e := range entries {
		if slices.ContainsFunc(s.fetches, func(f *fetch) bool { return f.id == e.key }) {
			continue // its download has a row already
		}
		if e.item != nil && e.item.Repo != "" {
			if seen[strings.ToLower(e.item.Repo)] && e.item.State == shelf.Incomplete {
				continue
			}
			defer func(repo string) { seen[repo] = true }(strings.ToLower(e.item.Repo))
		}
		// Small models stay in memory when another one is chosen; they are not in use then.
		r := s.row(e, slices.Contains(open, e.key) && (e.key == chosen || !worker.Light(e.info)))
		if x := s.checks[e.key]; x != nil {
			v := x.verdict
			r.Verdict = &v
		}
		if why := s.troubles[e.key]; why != "" {
			r.Why = why
		}
		here = append(here, r)
	}
	rest := s.offered(entries, seen, gives)
	slices.SortStableFunc(here, func(a, b ui.Shelved) int { return stageRank(a) - stageRank(b) })
	return append(here, rest...)
}

// offered lists what can be fetched and is not here. s.mu is held.
func (s *appShelf) offered(entries []entry, seen map[string]bool, gives int64) (rest []ui.Shelved) {
	for _, e := range entries {
		if e.item != nil {
			seen[strings.ToLower(e.item.Repo)] = true
		}
	}
	for _, k := range s.lib.catalog() {
		if !seen[strings.ToLower(k.Repo)] {
			rest = append(rest, s.knownRow(k, gives))
		}
	}
	return rest
}

// stageRank puts what is in use first, then what is on its way, then what can be used, then the rest.
func stageRank(s ui.Shelved) int {
	switch s.Stage {
	case ui.StageOpen:
		return 0
	case ui.StageArriving, ui.StagePaused, ui.StageFailed:
		return 1
	case ui.StageReady:
		if s.Practice {
			return 5
		}
		return 2
	case ui.StageIncomplete:
		return 3
	}
	return 4
}

// find returns the entry of an ID.
func (s *appShelf) find(id string) (entry, bool) {
	for _, e := range s.lib.now() {
		if e.key == id {
			return e, true
		}
	}
	return entry{}, false
}

// OpenAnyway implements ui.Shelf.
func (s *appShelf) OpenAnyway(id string) {
	s.lib.insistOn(id)
	s.models.Open(id)
}

// AddFolder implements ui.Shelf.
func (s *appShelf) AddFolder(path string) {
	s.work.Go(func() {
		abs, err := filepath.Abs(path)
		if err == nil {
			err = s.lib.change(s.ends, func(set *settings) {
				if !slices.Contains(set.Folders, abs) {
					set.Folders = append(set.Folders, abs)
				}
			})
		}
		s.changed(abs, err)
	})
}

// changed tells the window that the list is another one, or what went wrong.
func (s *appShelf) changed(id string, err error) {
	s.mu.Lock()
	delete(s.troubles, id)
	if err != nil {
		s.troubles[id] = sentence(err)
	}
	s.mu.Unlock()
	s.models.look()
	s.ring()
}
