package endpoint

import (
	"time"

	"clefbar/engine"
)

// Event tells what happened to one request.
type Event struct {
	ID      string    // as in x-typesafe-request-id
	At      time.Time // when it arrived
	Client  string    // the product that the program calls itself
	Address string    // host:port of the client
	Method  string
	Path    string

	// The rest is set when the request is answered.
	Status    int
	Bytes     int // of the body as it arrived
	Sent      int // of the answer
	Questions int
	Took      time.Duration
	Error     string           // the message of an answer other than 200
	Response  *engine.Response // answers and timing of a 200; not to be changed
	Request   *engine.Request  // only if the observer keeps bodies; not to be changed
}

// Observer hears of every request. Its methods may be called at the same time and
// must return at once.
type Observer interface {
	Started(Event)
	Finished(Event)
	// KeepBodies reports whether the person chose to keep what requests say.
	KeepBodies() bool
}

func (s *Server) keepsBodies() bool {
	return s.opt.Observer != nil && s.opt.Observer.KeepBodies()
}
