package hub

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// begunFolder holds what was announced for fetches that have not ended yet: one file a revision, beside the
// folders of the Hub's own tools, which pass over it. It is how a later start knows what is missing, without a network.
const begunFolder = ".clefbar"

func (c Cache) begunFile(id, commit string) string {
	return filepath.Join(c.folder(id), begunFolder, commit+".json")
}

// begin writes down what r consists of. Going on by the commit keeps the branch that was asked for at first, unless
// that branch means another commit by now.
func (c Cache) begin(r *Repo) (*Repo, error) {
	name := c.begunFile(r.ID, r.Commit)
	began := *r
	if old, err := readBegun(name); err == nil && r.Revision == r.Commit {
		if _, err := os.Stat(c.ref(r.ID, old.Revision)); err != nil {
			began.Revision = old.Revision
		}
	}
	data, err := json.Marshal(began)
	if err != nil {
		return nil, err
	}
	return &began, writeFile(name, data)
}

// end forgets it.
func (c Cache) end(id, commit string) {
	name := c.begunFile(id, commit)
	os.Remove(name)
	os.Remove(filepath.Dir(name)) // stays while another revision is under way
}

// Begun returns the revisions of a repository that a fetch of ours was started for and has not ended. A record that is
// damaged is passed over: fetching again asks the Hub.
func (c Cache) Begun(id string) (repos []*Repo) {
	if !repoID.MatchString(id) {
		return nil
	}
	names, _ := filepath.Glob(filepath.Join(c.folder(id), begunFolder, "*.json"))
	for _, name := range names {
		if r, err := readBegun(name); err == nil && r.ID == id && name == c.begunFile(id, r.Commit) {
			repos = append(repos, r)
		}
	}
	return repos
}

func readBegun(name string) (*Repo, error) {
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil, errors.Join(err, errors.New("not a file"))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxListing))
	if err != nil {
		return nil, err
	}
	r := &Repo{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, err
	}
	if !repoID.MatchString(r.ID) || !hex40.MatchString(r.Commit) || len(r.Files) > maxFiles {
		return nil, errors.New("not a record of a fetch")
	}
	for _, file := range r.Files {
		if err := file.check(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Wants returns the files of r that Fetch brings, their size together, and how much of that is on disk.
func (c Cache) Wants(r *Repo) (files []File, total, arrived int64) {
	for _, f := range r.Files {
		if Wanted(f) {
			files = append(files, f)
		}
	}
	for _, f := range distinct(files) {
		total += f.Size
		arrived += c.Arrived(r, f)
	}
	return files, total, arrived
}

// keepBegun adds the blobs that fetches of other revisions are waiting for.
func (c Cache) keepBegun(id, except string, keep map[string]bool) {
	for _, r := range c.Begun(id) {
		if r.Commit == except {
			continue
		}
		for _, f := range r.Files {
			keep[f.Hash] = true
		}
	}
}

// Partial returns how many bytes of unfinished blobs other tools have left in a repository's folder. One beside the finished
// blob of the same hash is an orphan and does not count.
func (c Cache) Partial(id string) (n int64) {
	blobs := filepath.Join(c.folder(id), "blobs")
	parts, _ := filepath.Glob(filepath.Join(blobs, "*.incomplete"))
	for _, p := range parts {
		hash, _, _ := strings.Cut(filepath.Base(p), ".")
		if _, err := os.Stat(filepath.Join(blobs, hash)); err == nil {
			continue
		}
		if st, err := os.Stat(p); err == nil {
			n += st.Size()
		}
	}
	return n
}
