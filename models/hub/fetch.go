package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Progress is how far a fetch has come. Rate is bytes a second over the last seconds, 0 when nothing is known yet.
type Progress struct {
	File            string // the file that is arriving
	Done, Total     int64  // bytes of all files
	Fetched         int64  // bytes that came over the network in this call
	Rate            float64
	FileDone, Files int // files complete, and all
}

// Left estimates the time that is left; 0 when nothing is known yet.
func (p Progress) Left() time.Duration {
	if p.Rate <= 0 {
		return 0
	}
	return time.Duration(float64(p.Total-p.Done) / p.Rate * float64(time.Second))
}

// ErrInUse is returned when another program is fetching the same file.
var ErrInUse = errors.New("another program is fetching this file: wait for it or stop it")

// SpaceError says that the disk cannot take what is missing.
type SpaceError struct {
	Dir        string
	Need, Free int64
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s has %.1f GB free and %.1f GB are still to come: free %.1f GB or choose another folder",
		e.Dir, float64(e.Free)/1e9, float64(e.Need)/1e9, float64(e.Need-e.Free)/1e9)
}

// keepFree is left free on the disk.
const keepFree = 256 << 20

// Wanted tells whether a file of a model repository is worth fetching: configuration, tokenizer, weights and licence.
func Wanted(f File) bool {
	if strings.Contains(f.Path, "/") {
		return false
	}
	switch base := strings.ToUpper(path.Base(f.Path)); {
	case strings.HasPrefix(base, "LICENSE"), strings.HasPrefix(base, "NOTICE"), base == "README.MD":
		return true
	case strings.HasPrefix(base, "."):
		return false
	}
	switch path.Ext(f.Path) {
	case ".json", ".safetensors":
		return true
	}
	return false
}

// Fetch brings the wanted files of r into the cache and returns the snapshot's folder. Cancelling ctx pauses: what
// arrived stays and a later Fetch goes on from there. report, which may be nil, is called from one
// goroutine at a time, some ten times a second.
func (c *Client) Fetch(ctx context.Context, cache Cache, r *Repo, report func(Progress)) (string, error) {
	files, total, arrived := cache.Wants(r)
	missing := total - arrived
	if len(files) == 0 {
		return "", fmt.Errorf("%s holds no model files", r.ID)
	}
	if free, err := cache.Free(); err != nil {
		return "", cache.explain(err, missing)
	} else if missing > 0 && free < missing+c.spare {
		return "", &SpaceError{cache.Dir, missing + c.spare, free}
	}
	began, err := cache.begin(r)
	if err != nil {
		return "", cache.explain(err, missing)
	}
	m := newMeter(cache, r, files, report)
	defer m.stop()
	for _, f := range files {
		m.start(f)
		if err := c.fetchFile(ctx, cache, r, f, m); err != nil {
			return "", cache.explain(err, m.left())
		}
		m.end()
	}
	if err := cache.pin(began); err != nil {
		return "", cache.explain(err, 0)
	}
	cache.end(r.ID, r.Commit)
	return cache.Snapshot(r), nil
}

// fetchFile brings one file. A wrong hash is tried a second time from the start, because a proxy may have been
// at fault once.
func (c *Client) fetchFile(ctx context.Context, cache Cache, r *Repo, f File, m *meter) error {
	blob := cache.blob(r, f)
	if err := os.MkdirAll(filepath.Dir(blob), 0o755); err != nil {
		return err
	}
	unlock, busy, err := cache.lock(r, f)
	if busy {
		return fmt.Errorf("%s: %w", f.Path, ErrInUse)
	} else if err != nil {
		return err
	}
	defer unlock()
	for try := 0; !cache.Has(r, f); try++ {
		err := c.arrive(ctx, r, f, blob, m)
		if errors.Is(err, errHash) && try == 0 {
			m.restart()
			continue
		}
		if err != nil {
			return err
		}
	}
	return cache.link(r, f)
}

// arrive opens the unfinished blob, lets the ranges in and gives it its name.
func (c *Client) arrive(ctx context.Context, r *Repo, f File, blob string, m *meter) error {
	p, err := openPart(blob+partSuffix, f)
	if err != nil {
		return err
	}
	defer p.close()
	hashed := make(chan error, 1)
	go func() { hashed <- p.follow() }()
	err = c.ranges(ctx, r, p, m)
	if err != nil {
		p.fail(err)
	}
	if herr := <-hashed; err == nil {
		err = herr
	}
	if err != nil {
		return err
	}
	return p.finish(blob)
}

// ranges runs the workers until the file is complete. The first lasting error ends all of them.
func (c *Client) ranges(ctx context.Context, r *Repo, p *part, m *meter) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	for range max(1, c.Workers) {
		workers.Go(func() {
			if err := c.work(ctx, r, p, m); err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	if p.complete() {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return c.whole(ctx, r, p, m)
}

// whole is the way of servers that ignore ranges: one stream from the first byte, of which blocks that are there
// already are passed over.
func (c *Client) whole(ctx context.Context, r *Repo, p *part, m *meter) error {
	return c.patiently(ctx, maxTries, func() (bool, error) {
		before := p.arrived()
		resp, err := c.get(ctx, c.fileURL(r, p.file), "")
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if err := refusal(resp, p.file.Path); err != nil {
			return false, err
		}
		if err := webPage(resp, p.file); err != nil {
			return false, err
		}
		if resp.StatusCode != http.StatusOK {
			return false, final{fmt.Errorf("%s: the server says %s to a plain request", p.file.Path, resp.Status)}
		}
		if n := resp.ContentLength; n >= 0 && n != p.file.Size {
			return false, final{fmt.Errorf("%s: the server has %d bytes, the listing says %d: ask again later", p.file.Path, n, p.file.Size)}
		}
		err = c.stream(ctx, resp, p, 0, len(p.j.done), m)
		return p.arrived() > before, err
	})
}
