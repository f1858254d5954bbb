package metal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// archive is where compiled kernels are kept between starts: a file that only the system
// reads, and beside it the file's hash, because the system may crash on a damaged one.
type archive struct{ path string }

// archiveEnding is of the files with kernels, sumEnding of their hashes.
const (
	archiveEnding = ".metalar"
	sumEnding     = ".sha256"
)

// newArchive names the file for a GPU, a system and our kernels.
func newArchive(i gpu.Info) (archive, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return archive{}, fmt.Errorf("find the folder for compiled kernels: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%s", i.Name, i.Architecture, i.OS, kernels.Hash())
	name := hex.EncodeToString(h.Sum(nil)[:12]) + archiveEnding
	return archive{filepath.Join(dir, "clefbar", "metal-kernels", name)}, nil
}

// usable returns the path if the file is whole, else "", and removes what is not.
func (a archive) usable() string {
	want, err := os.ReadFile(a.path + sumEnding)
	if err == nil {
		got, err := sum(a.path)
		if err == nil && got == strings.TrimSpace(string(want)) {
			return a.path
		}
	}
	_ = os.Remove(a.path) // what is not there needs no removing
	_ = os.Remove(a.path + sumEnding)
	return ""
}

// keep stores what write writes to a path, and removes the files of other GPUs, systems
// and kernels. A crash at any point leaves the old file, the new one, or one that usable
// throws away.
func (a archive) keep(write func(path string) error) error {
	dir := filepath.Dir(a.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("store compiled kernels: %w", err)
	}
	tmp, err := os.MkdirTemp(dir, "new")
	if err != nil {
		return fmt.Errorf("store compiled kernels: %w", err)
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "kernels")
	if err := write(file); err != nil {
		return err
	}
	got, err := sum(file)
	if err == nil {
		err = os.WriteFile(file+sumEnding, []byte(got+"\n"), 0o644)
	}
	if err == nil {
		err = errors.Join(os.Rename(file, a.path), os.Rename(file+sumEnding, a.path+sumEnding))
	}
	if err != nil {
		return fmt.Errorf("store compiled kernels: %w", err)
	}
	a.forgetOthers(dir)
	return nil
}

// forgetOthers removes archives that nothing asks for any more.
func (a archive) forgetOthers(dir string) {
	all, _ := filepath.Glob(filepath.Join(dir, "*"+archiveEnding+"*")) // the pattern is right
	for _, path := range all {
		if path != a.path && path != a.path+sumEnding {
			_ = os.Remove(path) // a cache: what stays does no harm
		}
	}
}

// sum is the hash of a file.
func sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
