package hub

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"strings"
)

const (
	// blockSize is what a kill can lose for each range in flight: the journal counts whole blocks.
	blockSize = 1 << 20
	// partSuffix names an unfinished blob. It is not the suffix of the Hub's Python library, which takes such a
	// file's length for the number of good bytes: here blocks arrive in any order.
	partSuffix    = ".clefbar-part"
	journalSuffix = ".clefbar-journal"
	hashEvery     = 64 // blocks between two saved states of the hash
)

// journal is what is known of an unfinished blob: which blocks are in the file, and the state of the hash
// over the first hashed ones. On disk it is a line for each event, appended after the bytes are
// written, so that a kill at any moment leaves it behind the truth, never ahead of it:
//
//	clefbar 1 SIZE BLOCKSIZE
//	b INDEX
//	h COUNT BASE64
type journal struct {
	size   int64
	done   []bool
	count  int // blocks done
	hashed int
	sum    hash.Hash
}

func newJournal(f File) *journal {
	return &journal{size: f.Size, done: make([]bool, blocks(f.Size)), sum: newHash(f)}
}

func blocks(size int64) int { return int((size + blockSize - 1) / blockSize) }

// newHash starts the hash that the Hub names blobs by: SHA-256, or git's SHA-1 with its header.
func newHash(f File) hash.Hash {
	if f.LFS {
		return sha256.New()
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", f.Size)
	return h
}

// length is the number of bytes of block i.
func (j *journal) length(i int) int64 {
	return min(blockSize, j.size-int64(i)*blockSize)
}

func (j *journal) bytes() (n int64) {
	for i, d := range j.done {
		if d {
			n += j.length(i)
		}
	}
	return n
}

func (j *journal) header() string { return fmt.Sprintf("clefbar 1 %d %d\n", j.size, blockSize) }

// readJournal reads what is known about the unfinished blob part. A journal that is damaged, or of a
// file with another size, is an error: nothing of it is believed.
func readJournal(part string, f File) (*journal, error) {
	st, err := os.Stat(part)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(strings.TrimSuffix(part, partSuffix) + journalSuffix)
	if err != nil {
		return nil, err
	}
	j := newJournal(f)
	head, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(head)+"\n" != j.header() {
		return nil, errors.New("the journal is of another file")
	}
	// A last line without its end was cut by a kill.
	rest = rest[:bytes.LastIndexByte(rest, '\n')+1]
	var state string
	for lines := bufio.NewScanner(bytes.NewReader(rest)); lines.Scan(); {
		var n int
		var s string
		if _, err := fmt.Sscanf(lines.Text(), "b %d", &n); err == nil {
			if n < 0 || n >= len(j.done) || int64(n)*blockSize+j.length(n) > st.Size() {
				return nil, errors.New("the journal is damaged")
			}
			if !j.done[n] {
				j.done[n] = true
				j.count++
			}
		} else if _, err := fmt.Sscanf(lines.Text(), "h %d %s", &n, &s); err == nil {
			j.hashed, state = n, s
		} else {
			return nil, errors.New("the journal is damaged")
		}
	}
	return j, j.restore(state, f)
}

// restore sets the hash to its saved state; without a usable one hashing starts at the beginning.
func (j *journal) restore(state string, f File) error {
	if j.hashed < 0 || j.hashed > len(j.done) {
		return errors.New("the journal is damaged")
	}
	for _, d := range j.done[:j.hashed] {
		if !d {
			return errors.New("the journal is damaged")
		}
	}
	if raw, err := base64.StdEncoding.DecodeString(state); j.hashed > 0 && err == nil {
		if j.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(raw) == nil {
			return nil
		}
	}
	j.hashed, j.sum = 0, newHash(f)
	return nil
}

func (j *journal) state() string {
	raw, err := j.sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("h %d %s\n", j.hashed, base64.StdEncoding.EncodeToString(raw))
}

// forget removes an unfinished blob and its journal.
func forget(part string) error {
	err := os.Remove(part)
	if e := os.Remove(strings.TrimSuffix(part, partSuffix) + journalSuffix); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = e
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
