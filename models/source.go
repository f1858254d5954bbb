package models

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"clefbar/models/fault"
)

// Caps for files that are read whole.
const (
	maxConfigBytes    = 4 << 20
	maxIndexBytes     = 64 << 20
	maxTokenizerBytes = 256 << 20
)

// source is where a model's files come from: a directory whose weights are
// mapped, or a file system (the embedded model) whose files are read.
type source interface {
	names() ([]string, error)
	read(name string, limit int64) ([]byte, error)
	// weights returns the bytes of a whole weight file, mapped where the system can.
	weights(name string) (*blob, error)
}

// blob is the bytes of an opened weight file. A mapped file stays open for check, and region is what becomes of it.
type blob struct {
	name     string
	data     []byte
	file     *os.File // nil when the bytes were read, not mapped
	region   *fault.Region
	size     int64
	modified time.Time
	unmap    func() error
}

func (b *blob) close() error {
	b.data = nil
	if b.unmap == nil {
		return nil
	}
	unmap := b.unmap
	b.unmap = nil
	return unmap()
}

// check reports a mapped file that was cut or rewritten in place, or whose disk went
// away, before its pages are read or since: they are not, or were not, what they should
// be. A file that was merely deleted or replaced by another stays readable and is no problem.
func (b *blob) check() error {
	if b.file == nil {
		return nil
	}
	info, err := b.file.Stat()
	if err == nil {
		var one [1]byte
		_, err = b.file.ReadAt(one[:], b.size-1)
	}
	switch {
	case info != nil && info.Size() < b.size:
		return fileError(Vanished, b.name, "the file was cut from %d bytes to %d while it was in use: download it again", b.size, info.Size())
	case err != nil || b.region.Lost():
		return &Error{Kind: Vanished, File: b.name, Message: "the file can no longer be read: is its disk still connected? If it is, download the file again", Err: err}
	case info.Size() != b.size || !info.ModTime().Equal(b.modified):
		return fileError(Vanished, b.name, "the file changed while it was in use: open the model again")
	}
	return nil
}

// header parses the file as safetensors and looks whether it was written to its end. It survives a file that is cut
// meanwhile.
func (b *blob) header() (entries []entry, body []byte, err error) {
	err = fault.Guard(func() (err error) {
		if entries, body, err = parseHeader(b.name, b.data); err == nil {
			err = unwritten(b.name, entries, body)
		}
		return err
	})
	if b.region != nil && b.region.Lost() {
		return nil, nil, b.check()
	}
	return entries, body, err
}

type dirSource string

func (d dirSource) names() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, systemError("", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// regular returns where a file is. Opening a pipe would wait for its other end, without end, and a device may
// never be read to its end.
func (d dirSource) regular(name string) (string, error) {
	file := filepath.Join(string(d), name)
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isLink(file):
		return "", &Error{
			Kind: Incomplete, File: name, Missing: []string{name}, Err: err,
			Message: "its link leads nowhere: the download is not complete, or the cache was cleaned up",
		}
	case err != nil:
		return "", systemError(name, err)
	case info.IsDir():
		return "", fileError(Malformed, name, "this is a folder, not a file")
	case !info.Mode().IsRegular():
		return "", fileError(Malformed, name, "this is a pipe, a socket or a device, not a file")
	}
	return file, nil
}

func isLink(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func (d dirSource) read(name string, limit int64) ([]byte, error) {
	file, err := d.regular(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, systemError(name, err)
	}
	defer f.Close()
	return readCapped(f, name, limit)
}

func (d dirSource) weights(name string) (*blob, error) {
	file, err := d.regular(name)
	if err != nil {
		return nil, err
	}
	b, err := mapFile(file, name)
	if err != nil {
		return nil, systemError(name, err)
	}
	return b, nil
}

type fsSource struct{ fsys fs.FS }

func (s fsSource) names() ([]string, error) {
	entries, err := fs.ReadDir(s.fsys, ".")
	if err != nil {
		return nil, systemError("", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	sort.Strings(names)
	return names, nil
}

func (s fsSource) read(name string, limit int64) ([]byte, error) {
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, systemError(name, err)
	}
	defer f.Close()
	return readCapped(f, name, limit)
}

// weights gives the bytes of a file that has them in memory, such as an embedded one, without a copy.
func (s fsSource) weights(name string) (*blob, error) {
	f, err := s.fsys.Open(name)
	if err != nil {
		return nil, systemError(name, err)
	}
	defer f.Close()
	if here, ok := f.(interface{ Bytes() []byte }); ok {
		return &blob{name: name, data: here.Bytes()}, nil
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, systemError(name, err)
	}
	return &blob{name: name, data: data}, nil
}

func readCapped(f fs.File, name string, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, systemError(name, err)
	}
	if info.IsDir() {
		return nil, fileError(Malformed, name, "this is a folder, not a file")
	}
	if info.Size() > limit {
		return nil, fileError(Malformed, name, "%d bytes are too many (at most %d)", info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, systemError(name, err)
	}
	if int64(len(data)) > limit {
		return nil, fileError(Malformed, name, "more than %d bytes", limit)
	}
	return data, nil
}

// systemError turns a failure of the file system into an Error; errors that
// already are one pass.
func systemError(name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Kind: NotFound, File: name, Message: "no such file", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Kind: Unreadable, File: name, Message: fmt.Sprintf("no permission to read it (%v): choose another folder or change its permissions", err), Err: err}
	}
	return &Error{Kind: Unreadable, File: name, Message: fmt.Sprintf("cannot be read: %v", err), Err: err}
}
