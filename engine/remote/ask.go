package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"clefbar/engine"
)

// What asking is bounded by.
const (
	attempts     = 3
	firstPause   = 500 * time.Millisecond // doubled each time, where the server names none
	longestPause = time.Minute            // a server that asks for more is not waited for
	maxReply     = 16 << 20
)

// reply is a server's answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a request until the server answers it, fails, or has said often enough
// that it is busy. It returns only answers of success.
func (d *Decider) ask(ctx context.Context, method string, to *url.URL, body []byte) (*reply, error) {
	for attempt, pause := 1, firstPause; ; attempt, pause = attempt+1, 2*pause {
		got, err := d.once(ctx, method, to, body)
		if err != nil {
			return nil, d.unreachable(ctx, err)
		}
		if got.status/100 == 2 {
			return got, nil
		}
		wait, known := retryAfter(got.header, time.Now())
		if !known {
			wait = pause
		}
		if !busy(got.status) || attempt == attempts || wait > longestPause {
			return nil, d.refusal(got)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", d.Host(), ctx.Err())
		}
	}
}

// once makes one attempt within its timeout.
func (d *Decider) once(ctx context.Context, method string, to *url.URL, body []byte) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, d.opt.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "clefbar")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if d.opt.Key != "" {
		request.Header.Set("Authorization", "Bearer "+d.opt.Key)
	}
	response, err := d.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxReply {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxReply)
	}
	return &reply{status: response.StatusCode, header: response.Header, body: data}, nil
}

// unreachable wraps a failure of the connection. The end of the caller's context
// stays what it is.
func (d *Decider) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask %s: %w", d.Host(), ctx.Err())
	}
	why := err
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		why = wrapped.Err // without the address, which may be long
	}
	message := fmt.Sprintf("The server at %s cannot be reached: %v", d.Host(), why)
	if errors.Is(err, context.DeadlineExceeded) {
		message = fmt.Sprintf("The server at %s did not answer within %v", d.Host(), d.opt.Timeout)
	}
	return &engine.Error{Reason: engine.Unreachable, Message: message, Err: err}
}

func busy(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == statusOverloaded
}

// statusOverloaded is what System One servers say while a model loads.
const statusOverloaded = 529

// retryAfter reads how long a server asks its clients to wait: milliseconds, or
// seconds, or a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("retry-after-ms")), 64); err == nil && ms >= 0 {
		return clampWait(ms / 1000), true
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 {
		return clampWait(s), true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// clampWait turns seconds into a duration; anything beyond a day is a day.
func clampWait(seconds float64) time.Duration {
	return time.Duration(min(seconds, 24*60*60) * float64(time.Second))
}
