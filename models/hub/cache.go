package hub

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Cache is a folder in the layout of the Hub's own tools:
//
//	models--OWNER--NAME/blobs/HASH          the bytes
//	models--OWNER--NAME/snapshots/COMMIT/…  links to them under their names
//	models--OWNER--NAME/refs/REVISION       the commit that a branch had
//	.locks/models--OWNER--NAME/HASH.lock    one writer a blob
type Cache struct{ Dir string }

// DefaultCache follows HF_HUB_CACHE, HF_HOME and XDG_CACHE_HOME like the Hub's own tools.
func DefaultCache() Cache {
	if dir := NamedCache(); dir != "" {
		return Cache{dir}
	}
	return Cache{filepath.Join(home(), "hub")}
}

// NamedCache is the folder that HF_HUB_CACHE, or its older name, says; "" for none.
func NamedCache() string {
	return cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE"))
}

func (c Cache) folder(id string) string {
	return filepath.Join(c.Dir, "models--"+strings.ReplaceAll(id, "/", "--"))
}

// Snapshot is the folder that holds r's files under their names, whether they are there or not.
func (c Cache) Snapshot(r *Repo) string {
	return filepath.Join(c.folder(r.ID), "snapshots", r.Commit)
}

func (c Cache) blob(r *Repo, f File) string {
	return filepath.Join(c.folder(r.ID), "blobs", f.Hash)
}

// Has tells whether the bytes of f are there, complete and under their final name.
func (c Cache) Has(r *Repo, f File) bool {
	st, err := os.Stat(c.blob(r, f))
	return err == nil && st.Mode().IsRegular() && st.Size() == f.Size
}

// Arrived returns how many bytes of f are on disk, finished or not.
func (c Cache) Arrived(r *Repo, f File) int64 {
	if c.Has(r, f) {
		return f.Size
	}
	p, err := readJournal(c.blob(r, f)+partSuffix, f)
	if err != nil {
		return 0
	}
	return p.bytes()
}

// link makes f of r appear under its name in the snapshot, replacing whatever stands there.
func (c Cache) link(r *Repo, f File) error {
	name := filepath.Join(c.Snapshot(r), filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	target, err := filepath.Rel(filepath.Dir(name), c.blob(r, f))
	if err != nil {
		return err
	}
	if old, err := os.Readlink(name); err == nil && old == target {
		return nil
	}
	fresh := name + ".clefbar-link"
	os.Remove(fresh)
	if err := os.Symlink(target, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, name)
}

// pin writes down which commit the revision meant.
func (c Cache) pin(r *Repo) error {
	if r.Revision == r.Commit {
		return nil
	}
	ref := c.ref(r.ID, r.Revision)
	if !strings.HasPrefix(ref, filepath.Join(c.folder(r.ID), "refs")+string(filepath.Separator)) {
		return fmt.Errorf("revision %q is not allowed", r.Revision)
	}
	return writeFile(ref, []byte(r.Commit))
}

// ref is the file that says which commit a revision meant.
func (c Cache) ref(id, revision string) string {
	return filepath.Join(c.folder(id), "refs", filepath.FromSlash(revision))
}

// writeFile puts a file into its place at once, in a folder that is made if need be. Other programs may write the same
// file, or remove the folder, meanwhile.
func writeFile(name string, data []byte) (err error) {
	for range 5 {
		if err = os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err = replaceFile(name, data); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func replaceFile(name string, data []byte) error {
	fresh, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.new")
	if err != nil {
		return err
	}
	defer os.Remove(fresh.Name()) // nothing is left of it once it was renamed
	_, err = fresh.Write(data)
	if err = errors.Join(err, fresh.Chmod(0o644), fresh.Close()); err != nil {
		return err
	}
	return os.Rename(fresh.Name(), name)
}

// lock takes the blob's lock, as the Hub's Python library does (flock on the same file). busy is true when
// another program holds it.
func (c Cache) lock(r *Repo, f File) (unlock func(), busy bool, err error) {
	dir := filepath.Join(c.Dir, ".locks", filepath.Base(c.folder(r.ID)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, false, err
	}
	file, err := os.OpenFile(filepath.Join(dir, f.Hash+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, false, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, errors.Is(err, unix.EWOULDBLOCK), &fs.PathError{Op: "lock", Path: file.Name(), Err: err}
	}
	return func() { file.Close() }, false, nil
}

// Free returns how many bytes the volume of the cache can still take.
func (c Cache) Free() (int64, error) {
	dir := c.Dir
	for {
		var st unix.Statfs_t
		err := unix.Statfs(dir, &st)
		if err == nil {
			return int64(st.Bavail) * int64(st.Bsize), nil
		}
		up := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || up == dir {
			return 0, &fs.PathError{Op: "ask for free space", Path: dir, Err: err}
		}
		dir = up
	}
}

// Remove deletes the snapshot of commit and the blobs that no other snapshot of the repository uses; freed is their size.
func (c Cache) Remove(id, commit string) (freed int64, err error) {
	if !repoID.MatchString(id) || !hex40.MatchString(commit) {
		return 0, fmt.Errorf("%s at %s is not a revision", id, commit)
	}
	folder := c.folder(id)
	keep, err := blobsInUse(filepath.Join(folder, "snapshots"), commit)
	if err != nil {
		return 0, err
	}
	c.keepBegun(id, commit, keep)
	if err := os.RemoveAll(filepath.Join(folder, "snapshots", commit)); err != nil {
		return 0, err
	}
	c.end(id, commit)
	blobs, err := os.ReadDir(filepath.Join(folder, "blobs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, b := range blobs {
		name, _, _ := strings.Cut(b.Name(), ".")
		if keep[name] {
			continue
		}
		if st, err := b.Info(); err == nil {
			freed += st.Size()
		}
		if err := os.Remove(filepath.Join(folder, "blobs", b.Name())); err != nil {
			return freed, err
		}
	}
	dropRefs(filepath.Join(folder, "refs"), commit)
	if len(keep) == 0 {
		err = os.RemoveAll(folder)
	}
	return freed, err
}

// RemoveParts deletes what another tool left unfinished in a repository's folder, and the folder when nothing else is in it.
func (c Cache) RemoveParts(id string) error {
	if !repoID.MatchString(id) {
		return fmt.Errorf("%s is not a repository", id)
	}
	blobs := filepath.Join(c.folder(id), "blobs")
	parts, _ := filepath.Glob(filepath.Join(blobs, "*.incomplete"))
	for _, p := range parts {
		if err := os.Remove(p); err != nil {
			return err
		}
	}
	if left, err := os.ReadDir(blobs); err == nil && len(left) == 0 {
		return os.RemoveAll(c.folder(id))
	}
	return nil
}

// blobsInUse collects the blobs that snapshots other than except link to.
func blobsInUse(snapshots, except string) (map[string]bool, error) {
	used := map[string]bool{}
	err := filepath.WalkDir(snapshots, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if d.IsDir() && d.Name() == except && filepath.Dir(p) == snapshots {
			return filepath.SkipDir
		}
		if d.Type()&fs.ModeSymlink != 0 {
			if target, err := os.Readlink(p); err == nil {
				used[filepath.Base(target)] = true
			}
		}
		return nil
	})
	return used, err
}

func dropRefs(dir, commit string) {
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if b, err := os.ReadFile(p); err == nil && strings.TrimSpace(string(b)) == commit {
				os.Remove(p)
			}
		}
		return nil
	})
}
