// Package worker runs decisions one at a time, in order of arrival, with the model
// that each of them asks for. It opens models when they are needed, keeps them,
// switches between them behind an open listener and refuses work that it cannot
// start soon. The window, the endpoint and the serve command share one Worker, so
// that one device never has two owners.
package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clefbar/engine"
)

// Model is an open model. Close is called once, when no decision runs any more.
type Model interface {
	engine.Decider
	Info() engine.ModelInfo
	Close() error
}

// Encoder is what a Model may also do: render a request without running it. A
// worker uses it to refuse a request that is too long before it waits in line.
type Encoder interface {
	Encode(r *engine.Request) (*engine.Encoding, error)
}

// Shelf finds and opens models. Its methods may be called at the same time.
type Shelf interface {
	// Resolve turns a name from a request into the key of a model. It is not asked
	// for names that mean the default model. Errors: engine.BadUsage for an unknown
	// name, engine.NoModel for a known model that is not here.
	Resolve(name string) (key string, err error)
	// Default reports whether name means whatever model is the default: "" and aliases.
	Default(name string) bool
	// Info describes the model of a key without opening it; ok is false if there is none.
	Info(key string) (info engine.ModelInfo, ok bool)
	// Open opens the model of a key. It calls progress now and then with bytes done
	// and bytes in all, from any goroutine.
	Open(ctx context.Context, key string, progress func(done, total int64)) (Model, error)
}

// Options are the limits of a Worker. The zero value of a field means its default.
type Options struct {
	Depth int           // most requests that wait while one runs; default 32
	Hold  time.Duration // how long a request waits for a model that is opening; default 6 s
	Run   time.Duration // most time for one decision; default 10 minutes
	Idle  time.Duration // close heavy models after so long without work; 0 keeps them
	// Ran is told of every answer, with the key of the model that gave it. It must return at once; nil is fine.
	Ran func(key string, r *engine.Response)
}

// The defaults of Options. Hold leaves room within the ten seconds after which the
// official clients give up on an attempt (endpoint.md 6).
const (
	DefaultDepth = 32
	DefaultHold  = 6 * time.Second
	DefaultRun   = 10 * time.Minute
)

// heavyBytes is the size of weights from which only one model is kept open.
const heavyBytes = 256 << 20

// ErrDeadline is the cause of the error of a decision that ran longer than Options.Run.
var ErrDeadline = errors.New("the decision took longer than the server allows")

// Worker is safe for concurrent use. Make one with New; stop it with Drain.
type Worker struct {
	shelf Shelf
	opt   Options
	line  line

	waits   context.Context // ends when requests must stop waiting
	endWait context.CancelCauseFunc
	works   context.Context // ends when running work must stop
	endWork context.CancelCauseFunc

	opening sync.Mutex // held while a model is made room for and opened

	mu       sync.Mutex
	changed  *sync.Cond // a reference or a place was given back
	slots    map[string]*slot
	lost     []*slot // open models whose files went away: nobody gets them any more, they are to be closed
	chosen   string  // key of the default model
	admitted int     // requests that wait or run
	draining bool
	recent   time.Duration // moving average of how long a decision runs
	failure  error         // why the last Choose failed
	watchers []func(Status)
	idle     *time.Timer
}

// New returns a worker whose default model is the one of key. Nothing is opened
// before the first request or Choose.
func New(shelf Shelf, key string, opt Options) *Worker {
	if opt.Depth <= 0 {
		opt.Depth = DefaultDepth
	}
	if opt.Hold <= 0 {
		opt.Hold = DefaultHold
	}
	if opt.Run <= 0 {
		opt.Run = DefaultRun
	}
	w := &Worker{shelf: shelf, opt: opt, chosen: key, slots: map[string]*slot{}}
	w.changed = sync.NewCond(&w.mu)
	w.waits, w.endWait = context.WithCancelCause(context.Background())
	w.works, w.endWork = context.WithCancelCause(context.Background())
	return w
}

// Decide implements engine.Decider. It waits for its turn and, up to Options.Hold,
// for a model that is opening. Beside the errors of the model it returns
// engine.Busy, engine.Loading and engine.ShuttingDown, an error that wraps
// ErrDeadline, or one that wraps ctx.Err().
func (w *Worker) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	key, err := w.Key(r.Model)
	if err != nil {
		return nil, err
	}
	if err := w.admit(); err != nil {
		return nil, err
	}
	defer w.leave()
	ctx, done := tie(ctx, w.works)
	defer done()
	s, load, err := w.acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	defer w.release(s)
	resp, err := w.run(ctx, s.model, r)
	if err != nil {
		if engine.ReasonOf(err) == engine.NoModel && !s.model.Info().ServerSide {
			w.lose(s)
		}
		return nil, err
	}
	resp.Timing.Load = load
	resp.Timing.Total += load + resp.Timing.Queue
	if w.opt.Ran != nil {
		w.opt.Ran(key, resp)
	}
	return resp, nil
}

// Key returns the key of the model that a request's model field means.
func (w *Worker) Key(name string) (string, error) {
	if w.shelf.Default(name) {
		return w.Chosen(), nil
	}
	return w.shelf.Resolve(name)
}

// run waits for the device and decides. A model on another server has no device of
// ours and does not stand in line.
func (w *Worker) run(ctx context.Context, m Model, r *engine.Request) (*engine.Response, error) {
	var queued time.Duration
	if !m.Info().ServerSide {
		if err := w.refuseLong(m, r); err != nil {
			return nil, err
		}
		start := time.Now()
		if err := w.enter(ctx); err != nil {
			return nil, err
		}
		queued = time.Since(start)
		defer w.line.leave()
	}
	began := time.Now()
	timed, cancel := context.WithTimeoutCause(ctx, w.opt.Run, ErrDeadline)
	defer cancel()
	resp, err := m.Decide(timed, r)
	if err != nil {
		if timed.Err() != nil {
			return nil, stopped(timed, err)
		}
		return nil, err
	}
	w.ran(time.Since(began))
	resp.Timing.Queue = queued
	return resp, nil
}

// enter waits for the turn on the device.
func (w *Worker) enter(ctx context.Context) error {
	ctx, done := tie(ctx, w.waits)
	defer done()
	if err := w.line.enter(ctx); err != nil {
		return stopped(ctx, err)
	}
	return nil
}

// tie returns a context that ends with ctx or, with its cause, with other.
func tie(ctx, other context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	off := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() { off(); cancel(nil) }
}

// refuseLong says at once that a request is too long if it would have to wait
// before the model could say so.
func (w *Worker) refuseLong(m Model, r *engine.Request) error {
	e, ok := m.(Encoder)
	if !ok || !w.line.taken() {
		return nil
	}
	_, err := e.Encode(r)
	return err
}

// stopped explains why ctx ended: a shutdown, a deadline of ours, or the caller.
func stopped(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if shut, ok := errors.AsType[*engine.Error](cause); ok {
		return shut
	}
	if errors.Is(cause, ErrDeadline) {
		return &engine.Error{Reason: engine.Failed, Message: ErrDeadline.Error(), Err: ErrDeadline}
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("decide: %w", ctx.Err())
	}
	return err
}

// admit takes a place among the requests that wait or run.
func (w *Worker) admit() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.draining:
		return shuttingDown()
	case w.admitted > w.opt.Depth:
		return &engine.Error{
			Reason:  engine.Busy,
			Message: fmt.Sprintf("%d requests are waiting already; try again in a moment", w.opt.Depth),
		}
	}
	w.admitted++
	w.announceLocked()
	return nil
}

func (w *Worker) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.admitted--
	w.changed.Broadcast()
	w.announceLocked()
}

// ran notes how long a decision took, for the estimate behind RetryAfter.
func (w *Worker) ran(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.recent == 0 {
		w.recent = d
	}
	w.recent += (d - w.recent) / 4
}

func shuttingDown() *engine.Error {
	return &engine.Error{Reason: engine.ShuttingDown, Message: "the server is shutting down"}
}
