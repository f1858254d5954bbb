package hub

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// runBlocks is how much one request asks for: long enough that the round trip does not count.
const runBlocks = 64

// work asks for run after run of missing blocks until none is left to claim.
func (c *Client) work(ctx context.Context, r *Repo, p *part, m *meter) error {
	return c.patiently(ctx, maxTries, func() (gained bool, err error) {
		for {
			from, to, ok := p.claim(runBlocks)
			if !ok {
				return gained, nil
			}
			got, err := c.fetchRun(ctx, r, p, from, to, m)
			p.release(from, to)
			gained = gained || got
			if err != nil {
				return gained, err
			}
		}
	})
}

// fetchRun asks for blocks [from, to). got tells whether at least one whole block arrived.
func (c *Client) fetchRun(ctx context.Context, r *Repo, p *part, from, to int, m *meter) (got bool, err error) {
	first := int64(from) * blockSize
	last := min(int64(to)*blockSize, p.file.Size) - 1
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := c.get(ctx, c.fileURL(r, p.file), fmt.Sprintf("bytes=%d-%d", first, last))
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
	if resp.StatusCode == http.StatusOK {
		return false, p.giveUpRanges()
	}
	var a, b, size int64
	if n, _ := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &a, &b, &size); n != 3 || a != first || b != last {
		return false, later{fmt.Errorf("%s: the server sent range %q for bytes %d-%d", p.file.Path, resp.Header.Get("Content-Range"), first, last), 0}
	}
	if size != p.file.Size {
		return false, final{fmt.Errorf("%s: the server has %d bytes, the listing says %d: ask again later", p.file.Path, size, p.file.Size)}
	}
	err = c.stream(ctx, resp, p, from, to, m)
	return p.has(from), err
}

// webPage tells that a page came where a file was asked for: from a proxy, or from the sign-in page of a network.
func webPage(resp *http.Response, f File) error {
	if !strings.HasPrefix(strings.ToLower(resp.Header.Get("Content-Type")), "text/html") {
		return nil
	}
	return final{fmt.Errorf("%s: a web page came instead (is a proxy or a sign-in page in between?)", f.Path)}
}

// giveUpRanges notes that the server sends whole files; no further range is claimed.
func (p *part) giveUpRanges() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alone = true
	return nil
}

// stream stores blocks [from, to) as they come. A connection that brings nothing for a while is cut.
func (c *Client) stream(ctx context.Context, resp *http.Response, p *part, from, to int, m *meter) error {
	cut := time.AfterFunc(c.stall, func() { resp.Body.Close() })
	defer cut.Stop()
	body := &watched{resp.Body, cut, c.stall}
	buffer := make([]byte, blockSize)
	for i := from; i < to; i++ {
		b := buffer[:p.j.length(i)]
		if _, err := io.ReadFull(body, b); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return later{fmt.Errorf("%s: the connection broke: %w", p.file.Path, err), 0}
		}
		known := p.has(i)
		if !known {
			if err := p.store(i, b); err != nil {
				return err
			}
		}
		m.add(int64(len(b)), known)
	}
	return nil
}

// watched pushes the moment of the cut away with every byte that comes.
type watched struct {
	io.Reader
	cut   *time.Timer
	stall time.Duration
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.cut.Reset(w.stall)
	}
	return n, err
}
