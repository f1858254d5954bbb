package hub

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// part is an unfinished blob that several ranges write into at once. Its hash follows the blocks in order as they
// arrive, so that the file is judged a moment after its last byte.
type part struct {
	file File
	path string

	data *os.File
	log  *os.File

	mu      sync.Mutex
	ready   *sync.Cond // a block arrived, or the part failed
	j       *journal
	claimed []bool
	alone   bool // the server ignores ranges: one stream brings everything
	failed  error
	buffer  []byte // of the hasher

	flushing atomic.Bool
	flushes  sync.WaitGroup
}

// openPart opens or starts the unfinished blob for f at path. What its journal says is kept.
func openPart(path string, f File) (*part, error) {
	j, err := readJournal(path, f)
	fresh := err != nil
	if fresh {
		if err := forget(path); err != nil {
			return nil, err
		}
		j = newJournal(f)
	}
	p := &part{file: f, path: path, j: j, claimed: append([]bool(nil), j.done...), buffer: make([]byte, blockSize)}
	p.ready = sync.NewCond(&p.mu)
	if p.data, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644); err != nil {
		return nil, err
	}
	p.log, err = os.OpenFile(strings.TrimSuffix(path, partSuffix)+journalSuffix, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err == nil && fresh {
		_, err = p.log.WriteString(j.header())
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *part) close() {
	p.flushes.Wait()
	if p.data != nil {
		p.data.Close()
	}
	if p.log != nil {
		p.log.Close()
	}
}

// claim takes the next run of missing blocks, at most run of them. ok is false when nothing is left to ask
// for: all is there or in flight.
func (p *part) claim(run int) (from, to int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alone || p.failed != nil {
		return 0, 0, false
	}
	for from = 0; from < len(p.claimed) && p.claimed[from]; {
		from++
	}
	for to = from; to < len(p.claimed) && to-from < run && !p.claimed[to]; to++ {
		p.claimed[to] = true
	}
	return from, to, from < to
}

// release gives blocks that did not arrive back to be claimed.
func (p *part) release(from, to int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := from; i < to; i++ {
		p.claimed[i] = p.j.done[i]
	}
}

func (p *part) has(i int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.j.done[i]
}

// store writes block i and then notes it down.
func (p *part) store(i int, b []byte) error {
	if _, err := p.data.WriteAt(b, int64(i)*blockSize); err != nil {
		return final{fmt.Errorf("write %s: %w", p.file.Path, err)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.j.done[i] {
		return nil
	}
	if _, err := fmt.Fprintf(p.log, "b %d\n", i); err != nil {
		return final{fmt.Errorf("write the journal of %s: %w", p.file.Path, err)}
	}
	p.j.done[i], p.claimed[i] = true, true
	p.j.count++
	p.ready.Broadcast()
	return nil
}

// fail ends the hasher.
func (p *part) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == nil {
		p.failed = err
	}
	p.ready.Broadcast()
}

// arrived is the number of blocks that are in the file.
func (p *part) arrived() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.j.count
}

func (p *part) complete() bool { return p.arrived() == len(p.j.done) }

// follow hashes blocks in order until all are in or the part failed.
func (p *part) follow() error {
	for {
		p.mu.Lock()
		for p.failed == nil && p.j.hashed < len(p.j.done) && !p.j.done[p.j.hashed] {
			p.ready.Wait()
		}
		i, err := p.j.hashed, p.failed
		p.mu.Unlock()
		if err != nil || i == len(p.j.done) {
			return err
		}
		b := p.buffer[:p.j.length(i)]
		if _, err := p.data.ReadAt(b, int64(i)*blockSize); err != nil {
			return final{fmt.Errorf("read %s back: %w", p.file.Path, err)}
		}
		p.j.sum.Write(b)
		p.mu.Lock()
		p.j.hashed++
		if p.j.hashed%hashEvery == 0 {
			io.WriteString(p.log, p.j.state())
			p.flush()
		}
		p.mu.Unlock()
	}
}

// flush lets the disk write what has come so far while more arrives, so that the last sync is short.
func (p *part) flush() {
	if p.flushing.CompareAndSwap(false, true) {
		p.flushes.Go(func() {
			p.data.Sync()
			p.flushing.Store(false)
		})
	}
}

// errHash is wrapped by the error for a file that arrived whole and is not what was announced.
var errHash = errors.New("the bytes are not the ones the Hub announced")

// finish gives a complete part its final name if its hash is right. A wrong one is thrown away: no one can say which
// block is bad.
func (p *part) finish(name string) error {
	if got := hex.EncodeToString(p.j.sum.Sum(nil)); got != p.file.Hash {
		return errors.Join(fmt.Errorf("%s: %w (hash %.12s…, want %.12s…)", p.file.Path, errHash, got, p.file.Hash), forget(p.path))
	}
	if err := p.data.Truncate(p.file.Size); err != nil {
		return err
	}
	if err := p.data.Sync(); err != nil {
		return err
	}
	if err := os.Rename(p.path, name); err != nil {
		return err
	}
	return forget(p.path)
}
