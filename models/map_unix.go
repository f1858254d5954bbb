//go:build unix

package models

import (
	"os"

	"clefbar/models/fault"

	"golang.org/x/sys/unix"
)

// mapFile maps a whole file read-only. The file stays open, so that check can ask
// about the mapped file itself and not about a new one of the same name.
func mapFile(path, name string) (*blob, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := mapOpen(f, name)
	if err != nil {
		f.Close()
		return nil, err
	}
	return b, nil
}

func mapOpen(f *os.File, name string) (*blob, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fileError(Malformed, name, "this is not a regular file")
	}
	if info.Size() == 0 {
		return nil, fileError(Incomplete, name, "the file is empty: download it again")
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	b := &blob{name: name, data: data, size: info.Size(), modified: info.ModTime(), file: f, region: fault.Watch(data)}
	b.unmap = func() error {
		b.region.End()
		err := unix.Munmap(data)
		if e := f.Close(); err == nil {
			err = e
		}
		return err
	}
	return b, nil
}
