package document

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"clefbar/engine"
)

// Extension is how case files end. A case file is a System One request with one
// more field, x_clefbar, so that any client can send it as it is.
const Extension = ".clefcase.json"

// File returns the case as a file: the request with everything that is not part
// of it in x_clefbar.
func (s Snapshot) File() []byte { return s.s.file(s.s.root) }

func (s *snapshot) file(root *node) []byte {
	e := entry{id: metaField, value: s.metaNode(), at: -1}
	root = root.insert(len(root.slots), e, styleOf(root))
	b := append([]byte(nil), s.lead...)
	b = appendNode(b, root)
	return append(b, s.tail...)
}

// FromFile opens a case file, or any file that holds a request.
func FromFile(path string) (*Case, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	c, err := FromJSON(data)
	if err != nil {
		return nil, &engine.Error{Reason: engine.Invalid, Message: fmt.Sprintf("%s is not a case: %v", filepath.Base(path), err), Err: err}
	}
	c.path = path
	if c.now.title == "" {
		name := filepath.Base(path)
		c.now.title = strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".clefcase")
	}
	return c, nil
}

// readFile reads a file up to the longest text that is parsed.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the case: %w", err)
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, maxSource+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return b.Bytes(), nil
}

// Save writes the case to a file and makes that its file. A file that is there is
// replaced in one step: after a crash either the old or the new one is whole.
func (c *Case) Save(path string) error {
	target, mode := path, os.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // a link stays a link
		if info, err := os.Stat(real); err == nil {
			mode = info.Mode().Perm()
		}
	}
	if err := writeFile(target, c.Snapshot().File(), mode); err != nil {
		return err
	}
	c.path, c.saved = path, c.now
	c.notify()
	return nil
}

// writeFile replaces a file atomically and waits until it is on the disk.
func writeFile(path string, data []byte, mode os.FileMode) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+tempMark+"*")
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	syncDir(dir)
	return nil
}

// tempMark stands in the name of a file that is being written.
const tempMark = ".tmp-"

// syncDir makes a rename last. Not every file system can; the file itself is safe
// either way.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
