package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"clefbar/engine"
)

// exchange is one request and its answer.
type exchange struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	dialect dialect
	event   Event
	written bool
	read    bool // the whole body was read
}

func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{s: s, w: w, r: r, dialect: systemOne}
	x.event = Event{
		ID: newID(), At: time.Now(), Client: clientName(r), Address: r.RemoteAddr,
		Method: clip(r.Method), Path: clip(r.URL.Path),
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Server", "clefbar/"+s.opt.Version)
	h.Set("x-typesafe-request-id", x.event.ID)
	if s.opt.Observer != nil {
		s.opt.Observer.Started(x.event)
	}
	return x
}

// clientName returns the product that a program calls itself.
func clientName(r *http.Request) string {
	name := r.Header.Get("X-TypeSafe-SDK")
	if name == "" {
		name = r.UserAgent()
	}
	return clip(strings.TrimSpace(name))
}

// end finishes the exchange: a panic becomes a 500 without detail, and the observer
// hears of the outcome.
func (x *exchange) end() {
	v := recover()
	aborted := v == http.ErrAbortHandler // the client has gone; the server wants the panic back
	if v != nil && !aborted {
		x.fail(panicked(v))
	}
	x.event.Took = since(x.event.At)
	if x.s.opt.Observer != nil {
		x.s.opt.Observer.Finished(x.event)
	}
	x.s.log.Info("request", "id", x.event.ID, "method", x.event.Method, "path", x.event.Path,
		"status", x.event.Status, "bytes", x.event.Bytes, "took", x.event.Took)
	if aborted {
		panic(v)
	}
}

// panicked describes a panic without its value, which may quote a request: the stack
// names functions, never contents.
func panicked(v any) error {
	return fmt.Errorf("panic of type %T at\n%s", v, debug.Stack())
}

// fail answers with what err means.
func (x *exchange) fail(err error) {
	r := x.s.refuse(err)
	x.event.Error = r.message
	if r.defect != nil {
		x.s.log.Error("defect", "id", x.event.ID, "error", redacted(r.defect))
	}
	if x.written {
		return
	}
	h := x.w.Header()
	for name, values := range r.header {
		h[name] = values
	}
	if r.allow != "" {
		h.Set("Allow", r.allow)
	}
	if r.after > 0 {
		retryAfter(h, r.after)
	}
	x.drain(r.status)
	status, body := x.dialect(r)
	x.write(status, encode(body))
}

// redacted returns the text of an error that is safe to log: errors of the contract
// may quote a request.
func redacted(err error) string {
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Reason == engine.Invalid {
		return "invalid request"
	}
	return err.Error()
}

// retryAfter announces when to try again, in both forms that clients read.
func retryAfter(h http.Header, d time.Duration) {
	h.Set("Retry-After", strconv.Itoa(int((d+time.Second-1)/time.Second)))
	h.Set("retry-after-ms", strconv.FormatInt(d.Milliseconds(), 10))
}

// How much of a body that nobody wants is read before the connection is closed, so
// that the client sees the answer and not a reset.
const (
	drainRefused  = 1 << 20
	drainTooLarge = 64 << 20
	drainTime     = 5 * time.Second
)

func (x *exchange) drain(status int) {
	if x.read || x.r.Body == nil || x.r.Header.Get("Expect") != "" || status == statusGone {
		return
	}
	most := int64(drainRefused)
	if status == http.StatusRequestEntityTooLarge {
		most = drainTooLarge
	}
	_ = http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(drainTime)) // best effort
	if n, err := io.CopyN(io.Discard, x.r.Body, most); n == most && err == nil {
		x.w.Header().Set("Connection", "close")
	}
}

// write sends the answer.
func (x *exchange) write(status int, body []byte) {
	x.written = true
	x.event.Status = status
	x.event.Sent = len(body)
	if status != http.StatusNoContent {
		x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(body) // a client that has left is no error of ours
	}
}

// decide runs a request and notes what the observer wants to know.
func (x *exchange) decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	x.event.Questions = len(r.Questions)
	if x.s.keepsBodies() {
		x.event.Request = r
	}
	resp, err := x.s.flights.do(ctx, r)
	if err != nil {
		return nil, err
	}
	x.event.Response = resp
	x.w.Header().Set("Server-Timing", serverTiming(resp.Timing))
	if resp.Practice {
		x.w.Header().Set(engine.PracticeHeader, "true")
	}
	return resp, nil
}

// serverTiming writes where the time went in milliseconds. load stands there only if
// this request made the model load.
func serverTiming(t engine.Timing) string {
	ms := func(d time.Duration) string {
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
	}
	line := "queue;dur=" + ms(t.Queue) + ", run;dur=" + ms(max(0, t.Total-t.Queue-t.Load))
	if t.Load > 0 {
		line = "load;dur=" + ms(t.Load) + ", " + line
	}
	return line
}
