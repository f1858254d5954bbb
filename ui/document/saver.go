package document

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// retryDelay is how long the writer waits after a failure.
const retryDelay = 3 * time.Second

// write is the writer's goroutine: it gathers changes for saveDelay and writes the
// newest state of each case.
func (s *Store) write() {
	var due <-chan time.Time
	for {
		select {
		case <-s.notify:
			if due == nil {
				due = time.After(saveDelay)
			}
		case <-due:
			due = nil
			if err := s.writeAll(); err != nil {
				if s.fail != nil {
					s.fail(err)
				}
				due = time.After(retryDelay)
			}
		case <-s.quit:
			return
		}
	}
}

// writeAll writes what waits. What fails waits on, unless something newer does.
func (s *Store) writeAll() error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	batch, dirty := s.pending, s.dirty
	s.pending, s.dirty = map[string]pending{}, false
	var listing []byte
	var err error
	if dirty {
		listing, err = json.MarshalIndent(s.index, "", "  ")
	}
	s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(batch)) {
		if e := s.writeCase(id, batch[id]); e != nil {
			err = e
			s.mu.Lock()
			if _, newer := s.pending[id]; !newer {
				s.pending[id] = batch[id]
			}
			s.mu.Unlock()
		}
	}
	if listing != nil {
		if e := writeFile(s.indexPath(), listing, 0o600); e != nil {
			err = e
			s.mu.Lock()
			s.dirty = true
			s.mu.Unlock()
		}
	}
	return err
}

func (s *Store) writeCase(id string, p pending) error {
	if p.s == nil {
		if err := os.Remove(s.casePath(id)); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	root, err := s.splitBlobs(p.s.root)
	if err != nil {
		return err
	}
	return writeFile(s.casePath(id), p.s.file(root), 0o600)
}

// Flush writes what waits now. It returns the first failure; the writer goes on
// trying.
func (s *Store) Flush() error { return s.writeAll() }

// Close writes what waits, drops what nobody needs any more and stops the writer.
func (s *Store) Close() error {
	close(s.quit)
	s.work.Wait()
	err := s.writeAll()
	s.prune()
	return err
}

// prune removes the oldest cases past maxCases and the blobs that no case names.
func (s *Store) prune() {
	old := s.Recent(1 << 20)
	for _, r := range old[min(len(old), maxCases):] {
		_ = os.Remove(s.casePath(r.ID))
	}
	blobs, err := os.ReadDir(filepath.Join(s.dir, "blobs"))
	if err != nil || len(blobs) == 0 {
		return
	}
	cases, err := os.ReadDir(filepath.Join(s.dir, "cases"))
	if err != nil {
		return
	}
	used := map[string]bool{}
	for _, e := range cases {
		data, err := os.ReadFile(filepath.Join(s.dir, "cases", e.Name()))
		if err != nil {
			return // not knowing is no reason to delete
		}
		for _, part := range strings.Split(string(data), blobMark)[1:] {
			used[part[:min(len(part), 64)]] = true
		}
	}
	for _, b := range blobs {
		if !used[b.Name()] {
			_ = os.Remove(filepath.Join(s.dir, "blobs", b.Name()))
		}
	}
}
