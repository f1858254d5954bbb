package document

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// saveDelay is how long a change may be unsaved: a killed process loses at most
// this and the write itself.
const saveDelay = 200 * time.Millisecond

// maxCases is how many cases are kept; the oldest go first.
const maxCases = 500

// Store keeps the open case and the ones before it in a folder, whether or not
// they have a file of their own. The open case is written as it changes. Its
// methods are for the goroutine that owns the case; the writing happens on one of
// its own.
type Store struct {
	dir    string
	id     string // of the open case
	open   *Case
	fail   func(error)
	work   sync.WaitGroup
	notify chan struct{}
	quit   chan struct{}

	saving sync.Mutex // held while files are written

	mu      sync.Mutex
	pending map[string]pending
	index   index
	dirty   bool // the index has to be written
}

// index is the file that names the open case and says of each case what is quicker
// to read here than from the case.
type index struct {
	Open  string            `json:"open"`
	Cases map[string]listed `json:"cases"`
}

type listed struct {
	Title  string `json:"title"`
	File   string `json:"file,omitempty"`   // the person's own file
	Edited bool   `json:"edited,omitempty"` // differs from that file
	Sample bool   `json:"sample,omitempty"` // comes with the program
}

// pending is a case that waits to be written; a nil snapshot is one to delete.
type pending struct {
	s *snapshot
}

// OpenStore opens the folder, making it if need be, and starts the writer. fail
// is called from the writer's goroutine when saving fails; saving is tried again.
func OpenStore(dir string, fail func(error)) (*Store, error) {
	for _, d := range []string{dir, filepath.Join(dir, "cases"), filepath.Join(dir, "blobs")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("keep the open case: %w", err)
		}
		removeTemps(d)
	}
	s := &Store{dir: dir, fail: fail, notify: make(chan struct{}, 1), quit: make(chan struct{}), pending: map[string]pending{}}
	s.index.Cases = map[string]listed{}
	s.work.Go(s.write)
	return s, nil
}

// removeTemps removes what a killed process left half written.
func removeTemps(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && strings.Contains(e.Name(), tempMark) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func (s *Store) casePath(id string) string { return filepath.Join(s.dir, "cases", id+".json") }

func (s *Store) indexPath() string { return filepath.Join(s.dir, "session.json") }

// Restore brings back the case that was open, or nil when there was none, and
// starts to keep it. Files that cannot be read are put aside under another name
// and returned, so that a person can be told.
func (s *Store) Restore() (c *Case, aside []string) {
	if data, err := readFile(s.indexPath()); err == nil {
		var ix index
		if err := json.Unmarshal(data, &ix); err != nil {
			aside = append(aside, putAside(s.indexPath()))
		} else if ix.Cases != nil {
			s.mu.Lock()
			s.index = ix
			s.mu.Unlock()
		}
	}
	id := s.index.Open
	if id == "" || !exists(s.casePath(id)) {
		if recent := s.Recent(1); id == "" && len(recent) > 0 && len(aside) > 0 {
			id = recent[0].ID
		} else {
			return nil, aside
		}
	}
	c, err := s.load(id)
	if err != nil {
		return nil, append(aside, putAside(s.casePath(id)))
	}
	s.keep(id, c)
	return c, aside
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// putAside renames a damaged file and returns its new name.
func putAside(path string) string {
	to := strings.TrimSuffix(path, ".json") + ".damaged-" + time.Now().UTC().Format("20060102-150405")
	if err := os.Rename(path, to); err != nil {
		return path
	}
	return to
}

// Keep makes c the open case: from now on it is saved as it changes. The one
// before stays among the recent ones, unless there was nothing in it.
func (s *Store) Keep(c *Case) {
	if s.open == c {
		return
	}
	s.leave()
	s.keep(newCaseID(), c)
}

// leave forgets the open case if nobody would miss it.
func (s *Store) leave() {
	if s.open != nil && (s.open.Empty() || s.open.sample && !s.open.Edited()) {
		s.queue(s.id, nil)
	}
	s.open = nil
}

func (s *Store) keep(id string, c *Case) {
	s.id, s.open = id, c
	save := func() {
		if s.open == c {
			s.queue(id, c)
		}
	}
	c.Watch(save)
	save()
}

func newCaseID() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return time.Now().UTC().Format("20060102-150405.000") + "-" + hex.EncodeToString(b[:])
}

// queue hands a case to the writer; a nil case is deleted.
func (s *Store) queue(id string, c *Case) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil {
		s.pending[id] = pending{}
		delete(s.index.Cases, id)
		s.dirty = true
	} else {
		s.pending[id] = pending{c.now}
		l := listed{Title: c.Title(), File: c.path, Edited: c.Edited(), Sample: c.sample}
		if s.index.Cases[id] != l || s.index.Open != id {
			s.index.Cases[id], s.index.Open = l, id
			s.dirty = true
		}
	}
	select {
	case s.notify <- struct{}{}:
	default:
	}
}

// Recent is one line of the list of recent cases.
type Recent struct {
	ID    string
	Title string
	File  string // the person's own file, "" for none
	Time  time.Time
}

// Recent returns the newest n cases, newest first, without the open one.
func (s *Store) Recent(n int) []Recent {
	entries, err := os.ReadDir(filepath.Join(s.dir, "cases"))
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Recent
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		info, err := e.Info()
		if !ok || err != nil || id == s.id {
			continue
		}
		if p, waits := s.pending[id]; waits && p.s == nil {
			continue
		}
		l := s.index.Cases[id]
		list = append(list, Recent{ID: id, Title: l.Title, File: l.File, Time: info.ModTime()})
	}
	slices.SortFunc(list, func(a, b Recent) int { return b.Time.Compare(a.Time) })
	list = list[:min(n, len(list))]
	for i := range list {
		if list[i].Title == "" {
			list[i].Title = s.titleOf(list[i].ID)
		}
	}
	return list
}

// titleOf reads the title of a case that the index does not know.
func (s *Store) titleOf(id string) string {
	if c, err := s.load(id); err == nil {
		return c.Title()
	}
	return id
}

// OpenRecent opens one of the recent cases and keeps it from now on.
func (s *Store) OpenRecent(id string) (*Case, error) {
	if id != filepath.Base(id) {
		return nil, fmt.Errorf("open a recent case: %q is no name of one", id)
	}
	if err := s.Flush(); err != nil {
		return nil, err
	}
	c, err := s.load(id)
	if err != nil {
		return nil, err
	}
	s.leave()
	s.keep(id, c)
	return c, nil
}

// load reads a case of the store.
func (s *Store) load(id string) (*Case, error) {
	data, err := readFile(s.casePath(id))
	if err != nil {
		return nil, err
	}
	if data, err = s.withBlobs(data); err != nil {
		return nil, err
	}
	c, err := FromJSON(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.casePath(id), err)
	}
	l := s.index.Cases[id]
	c.path, c.sample = l.File, l.Sample
	if l.Edited {
		c.saved = nil
	}
	return c, nil
}
