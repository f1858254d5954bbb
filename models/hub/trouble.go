package hub

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
)

// FolderError says that the cache's folder cannot be used.
type FolderError struct {
	Path string // the file or folder that failed
	Err  error
}

func (e *FolderError) Error() string {
	what := "cannot be used: " + e.Err.Error()
	switch {
	case errors.Is(e.Err, fs.ErrPermission):
		what = "belongs to another user or may not be used (" + e.Err.Error() + "): change its owner"
	case errors.Is(e.Err, syscall.EROFS):
		what = "is on a read-only disk"
	case errors.Is(e.Err, syscall.ENOTDIR):
		what = "cannot be used: a file stands where a folder should be (" + e.Err.Error() + "): move it away"
	case errors.Is(e.Err, fs.ErrNotExist):
		what = "is gone: is its disk still connected? Connect it and go on"
	case errors.Is(e.Err, syscall.EFBIG):
		what = "cannot grow any further: its disk, or a limit of your account, takes no larger file"
	}
	return fmt.Sprintf("%s %s, or name another folder in HF_HUB_CACHE", e.Path, what)
}

// Unwrap returns the system's error.
func (e *FolderError) Unwrap() error { return e.Err }

// explain gives a failure to write a sentence that names the path; a full disk is a SpaceError with need bytes still to
// come. Failures of the network get their sentence too; other errors pass.
func (c Cache) explain(err error, need int64) error {
	var path string
	var cause error
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		path, cause = p.Path, p.Err
	} else if l, ok := errors.AsType[*os.LinkError](err); ok {
		path, cause = l.New, l.Err
	} else {
		return reached(err)
	}
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EDQUOT) {
		free, _ := c.Free()
		return &SpaceError{c.Dir, max(need, free+1), free}
	}
	return &FolderError{filepath.Clean(path), cause}
}

// reached gives failures of the network a sentence. Others pass.
func reached(err error) error {
	u, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err
	}
	host := u.URL
	if at, perr := url.Parse(u.URL); perr == nil {
		host = at.Host
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("%s cannot be found: is this machine connected to the network? (%w)", dns.Name, u.Err)
	}
	if c, ok := errors.AsType[x509.CertificateInvalidError](err); ok && c.Reason == x509.Expired {
		return fmt.Errorf("%s is not trusted now: is this machine's clock right? (%w)", host, u.Err)
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s cannot be reached: is this machine connected to the network? (%w)", host, u.Err)
	}
	return fmt.Errorf("%s: %w", host, u.Err)
}
