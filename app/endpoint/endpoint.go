// Package endpoint serves decisions over HTTP on this machine: TypeSafe's System One
// API (POST /v1/systemone, GET /v1/models), OpenAI's Decisions API (POST
// /v1/decisions), the paths of OpenRouter and the envelope of Workers AI, in front
// of one worker.
//
// It trusts nobody: only allowed hosts and origins are answered, bodies are capped
// before they are read, nothing that a request names is opened or fetched, and what a
// request says is never logged. Checks run in one order: host and origin, key, path
// and method, content type, size, JSON, schema, model, length, queue.
package endpoint

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
)

// Listing is one model name as GET /v1/models tells it.
type Listing struct {
	Name        string
	Description string
	Released    string // YYYY-MM-DD
}

// Options configure a Server. The zero value of a field means its default.
type Options struct {
	Version string           // of the program, for /health and the Server header
	List    func() []Listing // every name that requests may use, real names first
	Limits  engine.Limits    // of a request, and what it gets that has no x_ options

	Key     string   // bearer key; "" answers everybody
	Origins []string // allowed browser origins beside loopback; * stands for any host or port
	Hosts   []string // allowed host names beside the loopback ones, for a server on a network

	Observer Observer     // told about every request; may be nil
	Log      *slog.Logger // status lines and defects, never contents; nil logs nothing
}

// Server is an http.Handler. It is safe for concurrent use.
type Server struct {
	opt     Options
	work    *worker.Worker
	guard   guard
	keys    *keyCheck
	flights *flights
	routes  map[string]*route
	large   chan struct{} // places for large bodies
	log     *slog.Logger
}

// New returns a server in front of w.
func New(w *worker.Worker, opt Options) *Server {
	s := &Server{
		opt: opt, work: w, guard: newGuard(opt.Origins, opt.Hosts), keys: newKeyCheck(opt.Key),
		flights: newFlights(w), large: make(chan struct{}, largeAtOne), log: opt.Log,
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.routes = s.table()
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	defer x.end()
	if err := s.serve(x); err != nil {
		x.fail(err)
	}
}

// serve runs the checks that need no body, in their order, and then the route.
func (s *Server) serve(x *exchange) error {
	rt, found := s.find(x.r.URL.Path)
	if found {
		x.dialect = rt.dialect
	}
	if err := s.guard.check(x.r); err != nil {
		return err
	}
	s.guard.allow(x.w.Header(), x.r)
	if isPreflight(x.r) && found {
		x.preflight(rt)
		return nil
	}
	if !found || !rt.open {
		if err := s.keys.check(x.r); err != nil {
			return err
		}
	}
	if !found {
		return &refusal{status: http.StatusNotFound, kind: "not_found", message: "There is nothing at " + clip(x.r.URL.Path)}
	}
	if !rt.allows(x.r.Method) {
		return &refusal{
			status: http.StatusMethodNotAllowed, kind: "method_not_allowed", allow: rt.methods,
			message: clip(x.r.Method) + " is not allowed here; use " + rt.methods,
		}
	}
	return rt.handle(x)
}

// newID returns a request id in the official form: req_ and 24 hexadecimal digits.
func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return "req_" + hex.EncodeToString(b[:])
}

// clip shortens text from a request for a message.
func clip(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// since rounds the time since start to what is worth telling.
func since(start time.Time) time.Duration { return time.Since(start).Round(time.Microsecond) }
