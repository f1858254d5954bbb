package ui

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"clefbar/engine"
)

// Requests is what the endpoint saw since the program started. Methods may be
// called from any goroutine and return at once.
type Requests interface {
	Seen() []Seen // newest first
	KeepsBodies() bool
	KeepBodies(on bool) // off forgets what was kept
	Clear()
	Watch(changed func()) // called from any goroutine; nil ends it
}

// Seen is one request at the endpoint.
type Seen struct {
	ID        string
	At        time.Time
	Client    string // what the program calls itself
	Address   string
	Method    string
	Path      string
	Status    int // 0 while it runs
	Bytes     int
	Questions int
	Took      time.Duration
	Error     string           // why it was refused
	Response  *engine.Response // of a 200; without names unless bodies are kept
	Request   *engine.Request  // only where bodies are kept
}

// seenMost is how many requests a log remembers.
const seenMost = 500

// RequestLog is the usual Requests: the newest requests in memory, gone when the
// program ends. The zero value is ready and keeps no bodies.
type RequestLog struct {
	mu      sync.Mutex
	list    []Seen // oldest first
	keep    bool
	changed func()
}

var _ Requests = (*RequestLog)(nil)

// Started notes a request that has arrived.
func (l *RequestLog) Started(s Seen) {
	l.mu.Lock()
	l.list = append(l.list, s)
	if over := len(l.list) - seenMost; over > 0 {
		l.list = slices.Delete(l.list, 0, over)
	}
	l.mu.Unlock()
	l.tell()
}

// Finished notes what became of a request. Unless bodies are kept, names and texts
// are dropped here: only kinds and numbers stay.
func (l *RequestLog) Finished(s Seen) {
	l.mu.Lock()
	if !l.keep {
		s = nameless(s)
	}
	i := slices.IndexFunc(l.list, func(old Seen) bool { return old.ID == s.ID })
	if i >= 0 {
		l.list[i] = s
	}
	l.mu.Unlock()
	l.tell()
}

// nameless drops what a request said: ids, options, levels and the text.
func nameless(s Seen) Seen {
	s.Request = nil
	if s.Status == http.StatusUnprocessableEntity {
		s.Error = "" // it names ids and options
	}
	if s.Response == nil {
		return s
	}
	r := *s.Response
	r.Answers = slices.Clone(r.Answers)
	for i := range r.Answers {
		a := &r.Answers[i]
		a.ID, a.Legend, a.Logits, a.Raw = "Question "+strconv.Itoa(i+1), nil, nil, nil
		names := make([]string, len(a.Options))
		for j := range names {
			names[j] = strconv.Itoa(j + 1)
		}
		a.Options = names
	}
	s.Response = &r
	return s
}

// Seen returns the requests, newest first.
func (l *RequestLog) Seen() []Seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.list)
	slices.Reverse(list)
	return list
}

// KeepsBodies reports whether what requests say is kept.
func (l *RequestLog) KeepsBodies() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keep
}

// KeepBodies chooses whether what requests say is kept from now on.
func (l *RequestLog) KeepBodies(on bool) {
	l.mu.Lock()
	l.keep = on
	if !on {
		for i := range l.list {
			l.list[i] = nameless(l.list[i])
		}
	}
	l.mu.Unlock()
	l.tell()
}

// Clear forgets all that have been answered.
func (l *RequestLog) Clear() {
	l.mu.Lock()
	l.list = slices.DeleteFunc(l.list, func(s Seen) bool { return s.Status != 0 })
	l.mu.Unlock()
	l.tell()
}

// Watch has changed called after every change.
func (l *RequestLog) Watch(changed func()) {
	l.mu.Lock()
	l.changed = changed
	l.mu.Unlock()
}

func (l *RequestLog) tell() {
	l.mu.Lock()
	f := l.changed
	l.mu.Unlock()
	if f != nil {
		f()
	}
}
