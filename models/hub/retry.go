package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// final marks an error that trying again would not cure.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// later is a refusal for now, with the server's own wish for a pause (0 for none).
type later struct {
	error
	pause time.Duration
}

const (
	maxTries     = 8                // failures in a row without one new byte
	listingTries = 3                // of a question that a person waits for
	maxPause     = 60 * time.Second // between two tries
)

// refusal turns a status that is not a success into an error: final for what will not change, later
// for what may.
func refusal(resp *http.Response, what string) error {
	if resp.StatusCode < 300 {
		return nil
	}
	io.CopyN(io.Discard, resp.Body, 64<<10)
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized: // also what the Hub says for a repository that does not exist
		return final{fmt.Errorf("%s: the Hub asks for a token, or there is no such repository (put a token into HF_TOKEN or log in with hf auth login)", what)}
	case code == http.StatusForbidden:
		return final{fmt.Errorf("%s: this token may not read it; a gated repository has to be agreed to on its page first", what)}
	case code == http.StatusNotFound:
		return final{fmt.Errorf("%s: not found on %s", what, resp.Request.URL.Host)}
	case code == http.StatusRequestedRangeNotSatisfiable:
		return final{fmt.Errorf("%s: the file on the server is shorter than announced", what)}
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code >= 500:
		return later{fmt.Errorf("%s: the server says %s", what, resp.Status), retryAfter(resp)}
	default:
		return final{fmt.Errorf("%s: the server says %s", what, resp.Status)}
	}
}

// retryAfter reads the server's wish: seconds, or a date, which counts from the server's own.
func retryAfter(resp *http.Response) time.Duration {
	wish := resp.Header.Get("Retry-After")
	if s, err := strconv.Atoi(wish); err == nil {
		return min(max(0, time.Duration(min(s, 3600))*time.Second), maxPause)
	}
	at, err := http.ParseTime(wish)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(0, at.Sub(now)), maxPause)
}

// patiently runs try until it succeeds, fails for good, or fails so many tries in a row without having gained
// anything.
func (c *Client) patiently(ctx context.Context, tries int, try func() (gained bool, err error)) error {
	for fails := 0; ; {
		gained, err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if gained {
			fails = 0
		}
		if fails++; fails >= tries {
			return err
		}
		if _, ok := errors.AsType[final](err); ok {
			return err
		}
		if err := c.pause(ctx, fails-1, err); err != nil {
			return err
		}
	}
}

// pause waits after n+1 failures: the server's wish, else a doubling pause.
func (c *Client) pause(ctx context.Context, n int, err error) error {
	d := min(c.firstPause<<min(n, 10), maxPause)
	if l, ok := errors.AsType[later](err); ok && l.pause > d {
		d = l.pause
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
