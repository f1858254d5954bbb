package endpoint

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
)

// flights runs identical requests once. The official clients give up after ten
// seconds and send the same request again: the second attempt joins the run of the
// first, or finds its answer (endpoint.md 6).
//
// A run that everybody has left goes on for a moment, unless another request wants
// the model, and then stops.
type flights struct {
	work *worker.Worker

	mu  sync.Mutex
	all map[[sha256.Size]byte]*flight
}

// flight is one run. Its fields are guarded by flights.mu, except resp and err,
// which never change once done is closed.
type flight struct {
	done    chan struct{}
	resp    *engine.Response
	err     error
	waiting int // requests that want the answer
	stop    context.CancelFunc
	timer   *time.Timer // ends a run or an answer that nobody wants
	landed  bool
}

const (
	linger  = 3 * time.Second  // a deserted run goes on: the clients' first pause is half a second
	keep    = 30 * time.Second // an answer that nobody received is kept
	mostOld = 64               // answers kept
)

func newFlights(w *worker.Worker) *flights {
	return &flights{work: w, all: map[[sha256.Size]byte]*flight{}}
}

// do decides r, together with everybody who asks the same of the same model.
func (fs *flights) do(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	key, err := fs.work.Key(r.Model)
	if err != nil {
		return nil, err
	}
	id := fingerprint(key, r)
	f := fs.join(ctx, id, r)
	select {
	case <-f.done:
	case <-ctx.Done():
		fs.leave(id, f)
		return nil, ctx.Err()
	}
	fs.leave(id, f)
	return f.resp, f.err
}

// fingerprint identifies a request and the model that answers it.
func fingerprint(key string, r *engine.Request) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(key))
	h.Write([]byte{0})
	plain := *r
	plain.Model = ""
	h.Write(plain.JSON())
	return [sha256.Size]byte(h.Sum(nil))
}

// join returns the flight of id and starts it if there is none.
func (fs *flights) join(ctx context.Context, id [sha256.Size]byte, r *engine.Request) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.all[id]; f != nil {
		f.waiting++
		if f.timer != nil {
			f.timer.Stop()
			f.timer = nil
		}
		return f
	}
	fs.clearLocked()
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{done: make(chan struct{}), waiting: 1, stop: stop}
	fs.all[id] = f
	go fs.run(run, id, f, r)
	return f
}

func (fs *flights) run(ctx context.Context, id [sha256.Size]byte, f *flight, r *engine.Request) {
	defer f.stop()
	resp, err := fs.decide(ctx, r)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.resp, f.err, f.landed = resp, err, true
	close(f.done)
	switch {
	case f.waiting > 0 || err != nil:
		fs.dropLocked(id, f)
	default:
		if f.timer != nil {
			f.timer.Stop()
		}
		f.timer = time.AfterFunc(keep, func() { fs.drop(id, f) })
	}
}

// decide keeps a panic of the engine inside this run: it becomes a defect that
// every waiting request hears of.
func (fs *flights) decide(ctx context.Context, r *engine.Request) (resp *engine.Response, err error) {
	defer func() {
		if v := recover(); v != nil {
			resp, err = nil, panicked(v)
		}
	}()
	return fs.work.Decide(ctx, r)
}

// leave takes a request away from its flight.
func (fs *flights) leave(id [sha256.Size]byte, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.waiting--
	switch {
	case f.waiting > 0:
	case f.landed:
		fs.dropLocked(id, f)
	case fs.work.Status().Waiting > 0:
		fs.abandonLocked(id, f)
	default:
		f.timer = time.AfterFunc(linger, func() {
			fs.mu.Lock()
			defer fs.mu.Unlock()
			if f.waiting == 0 && !f.landed {
				fs.abandonLocked(id, f)
			}
		})
	}
}

// clearLocked stops runs that nobody wants, for a new request, and forgets old
// answers when there are too many.
func (fs *flights) clearLocked() {
	old := 0
	for id, f := range fs.all {
		switch {
		case f.waiting > 0:
		case !f.landed:
			fs.abandonLocked(id, f)
		default:
			if old++; old > mostOld {
				fs.dropLocked(id, f)
			}
		}
	}
}

// abandonLocked cancels a run. A later equal request starts anew.
func (fs *flights) abandonLocked(id [sha256.Size]byte, f *flight) {
	f.stop()
	fs.dropLocked(id, f)
}

func (fs *flights) drop(id [sha256.Size]byte, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.waiting == 0 {
		fs.dropLocked(id, f)
	}
}

func (fs *flights) dropLocked(id [sha256.Size]byte, f *flight) {
	if fs.all[id] == f {
		delete(fs.all, id)
	}
	if f.timer != nil {
		f.timer.Stop()
	}
}
