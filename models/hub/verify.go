package hub

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Damaged reads the files of r that are complete and returns those whose bytes are not what the Hub announced. tell, which
// may be nil, hears how many bytes were read. Drop makes a later Fetch bring them again.
func (c Cache) Damaged(ctx context.Context, r *Repo, tell func(read int64)) (bad []File, err error) {
	files, _, _ := c.Wants(r)
	var before int64
	for _, f := range distinct(files) {
		if !c.Has(r, f) {
			continue
		}
		good, err := c.intact(ctx, r, f, func(n int64) {
			if tell != nil {
				tell(before + n)
			}
		})
		if err != nil {
			return bad, fmt.Errorf("check %s: %w", f.Path, err)
		}
		if !good {
			bad = append(bad, f)
		}
		before += f.Size
	}
	return bad, nil
}

// DropDamaged deletes the files that Damaged finds, so that a Fetch brings them again, and returns them.
func (c Cache) DropDamaged(ctx context.Context, r *Repo, tell func(read int64)) ([]File, error) {
	bad, err := c.Damaged(ctx, r, tell)
	if err != nil {
		return nil, err
	}
	for _, f := range bad {
		if err := c.Drop(r, f); err != nil {
			return nil, fmt.Errorf("delete the damaged %s: %w", f.Path, err)
		}
	}
	return bad, nil
}

func (c Cache) intact(ctx context.Context, r *Repo, f File, tell func(int64)) (bool, error) {
	sum, err := HashFile(ctx, c.blob(r, f), f.LFS, tell)
	return sum == f.Hash, err
}

// HashFile returns the hash by which the Hub names a file's blob: SHA-256 for large files, git's SHA-1 else. tell, which
// may be nil, hears how many bytes were read.
func HashFile(ctx context.Context, name string, lfs bool, tell func(read int64)) (string, error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return "", err
	}
	sum := newHash(File{Size: st.Size(), LFS: lfs})
	buffer := make([]byte, blockSize)
	for read := int64(0); ; {
		n, err := in.Read(buffer)
		sum.Write(buffer[:n])
		read += int64(n)
		if tell != nil && n > 0 {
			tell(read)
		}
		if err == io.EOF {
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
	}
}

// BlobName returns the hash that a file of a snapshot should have, from the blob that it links to; ok is false for a
// file that is not a link into a cache.
func BlobName(file string) (hash string, lfs, ok bool) {
	target, err := os.Readlink(file)
	if err != nil || filepath.Base(filepath.Dir(target)) != "blobs" {
		return "", false, false
	}
	hash = filepath.Base(target)
	return hash, hex64.MatchString(hash), hex64.MatchString(hash) || hex40.MatchString(hash)
}

// Drop deletes the bytes of f.
func (c Cache) Drop(r *Repo, f File) error {
	if err := os.Remove(c.blob(r, f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
