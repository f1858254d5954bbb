package models

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Listing is what the files of a folder hold, for people. It is made even when the
// folder cannot be run; Problem then says why.
type Listing struct {
	Name    string
	Layout  string
	Tensors []Listed
	Problem error
}

// Listed is one stored tensor.
type Listed struct {
	File, Name, DType string
	Shape             []int
	Bytes             int64
	Quant             string // "4-bit, group 64", or ""
}

// Inspect lists every tensor of a model folder, in file order.
func Inspect(dir string) (*Listing, error) {
	if st, err := os.Stat(dir); err == nil && !st.IsDir() {
		return nil, notAFolder(dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, systemError(filepath.Base(dir), err)
	}
	return inspect(dirSource(dir), filepath.Base(abs))
}

// InspectFS lists every tensor of a model whose files are in a file system, such as the embedded one.
func InspectFS(fsys fs.FS, name string) (*Listing, error) { return inspect(fsSource{fsys}, name) }

func inspect(src source, name string) (*Listing, error) {
	names, err := src.names()
	if err != nil {
		return nil, err
	}
	l := &Listing{}
	quant := map[string]string{}
	f, err := open(src, name)
	if err != nil {
		l.Problem = err
	} else {
		l.Name, l.Layout = f.Name, f.Layout
		for _, t := range f.tensors {
			if t.Quant != nil {
				quant[t.Name] = t.Quant.String()
			}
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	for _, n := range names {
		// "._x" files are what macOS leaves beside x on foreign disks.
		if !strings.HasSuffix(n, ".safetensors") || strings.HasPrefix(n, ".") {
			continue
		}
		if err := l.add(src, n, quant); err != nil && l.Problem == nil {
			l.Problem = err
		}
	}
	if len(l.Tensors) == 0 && l.Problem != nil {
		return nil, l.Problem
	}
	return l, nil
}

func (l *Listing) add(src source, name string, quant map[string]string) (err error) {
	b, err := src.weights(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	entries, _, err := b.header()
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.from, b.from) })
	for _, e := range entries {
		l.Tensors = append(l.Tensors, Listed{name, e.name, e.dtype, e.shape, e.to - e.from, quant[e.name]})
	}
	return err
}

// String returns "4-bit, group 64".
func (q *Quant) String() string { return fmt.Sprintf("%d-bit, group %d", q.Bits, q.Group) }
