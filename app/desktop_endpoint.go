package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"clefbar/app/endpoint"
	"clefbar/app/secret"
	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/ui"

	"github.com/adrg/xdg"
)

// glyphTime is how long the menu-bar glyph shows a request at least: most are over before an eye could see them.
const glyphTime = 400 * time.Millisecond

// appEndpoint is the endpoint of the app: on from the first start, one click to stop it for good.
type appEndpoint struct {
	lib    *library
	worker *worker.Worker
	*bell

	requests ui.RequestLog // for the list of requests in the window
	history  *appHistory

	changing sync.Mutex // held while the service starts or stops

	mu      sync.Mutex
	service *endpoint.Service
	state   ui.EndpointState
	day     int       // day of the year that state.Today counts
	running int       // requests that are being answered
	last    time.Time // when one was answered
}

func newAppEndpoint(lib *library, w *worker.Worker) *appEndpoint {
	e := &appEndpoint{lib: lib, worker: w, bell: newBell(), history: newAppHistory(lib.set.History)}
	e.state.On = !lib.set.Endpoint.Off
	e.state.Port = portOf(lib.set.Endpoint.Addr)
	return e
}

func portOf(addr string) int {
	_, port, _ := net.SplitHostPort(addr)
	if n, err := strconv.Atoi(port); err == nil {
		return n
	}
	_, port, _ = net.SplitHostPort(endpoint.DefaultAddr)
	n, _ := strconv.Atoi(port)
	return n
}

// start listens if the endpoint is on.
func (e *appEndpoint) start() { go e.apply() }

// apply makes the service what the state says.
func (e *appEndpoint) apply() {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.stopService()
	e.mu.Lock()
	on, port := e.state.On, e.state.Port
	e.mu.Unlock()
	var service *endpoint.Service
	var key string
	var err error
	if on {
		// Without a key everybody on this machine is answered. A key that cannot be read is no such permission.
		if key, err = e.Key(); err == nil {
			service, err = endpoint.Start(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), e.server(key))
		}
	}
	e.mu.Lock()
	e.service, e.state.Err, e.state.Key = service, err, key != ""
	e.mu.Unlock()
	e.ring()
}

func (e *appEndpoint) server(key string) *endpoint.Server {
	set := e.lib.set.Endpoint
	return endpoint.New(e.worker, endpoint.Options{
		Version: thisBuild().Version,
		List:    func() []endpoint.Listing { return e.lib.listings(e.worker) },
		Limits:  engine.Limits{NeutralIDs: set.Neutral},
		Key:     key,
		Origins: slices.Concat(set.Origins, strings.Split(os.Getenv("CLEFBAR_ORIGINS"), ",")),
		Log:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),

		Observer: e,
	})
}

// stopService lets running answers finish for a moment and closes the port.
func (e *appEndpoint) stopService() {
	e.mu.Lock()
	service := e.service
	e.service = nil
	e.mu.Unlock()
	if service != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		service.Stop(ctx)
	}
}

// stop closes the port at the end of the app.
func (e *appEndpoint) stop() {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.stopService()
	e.history.close()
}

// State implements ui.Endpoint.
func (e *appEndpoint) State() ui.EndpointState {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.state
	s.Busy = e.running > 0 || time.Since(e.last) < glyphTime
	if s.Today > 0 && e.day != time.Now().YearDay() {
		s.Today = 0
	}
	return s
}

// SetOn implements ui.Endpoint.
func (e *appEndpoint) SetOn(on bool) {
	e.set(func(s *ui.EndpointState) { s.On = on }, func(s *settings) { s.Endpoint.Off = !on })
}

// SetPort implements ui.Endpoint.
func (e *appEndpoint) SetPort(port int) {
	e.set(func(s *ui.EndpointState) { s.Port = port }, func(s *settings) {
		s.Endpoint.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	})
}

// endpointKey is the place of the key that callers have to send.
func endpointKey() secret.Store { return secret.Endpoint(filepath.Join(xdg.ConfigHome, "clefbar")) }

// Key implements ui.Endpoint.
func (e *appEndpoint) Key() (string, error) {
	key, err := endpointKey().Load()
	if errors.Is(err, secret.ErrNone) {
		return "", nil
	}
	return key, err
}

// SetKey implements ui.Endpoint. The endpoint starts anew only once the key is kept: it is never open by mistake.
func (e *appEndpoint) SetKey(on bool) {
	go func() {
		change := endpointKey().Delete
		if on {
			change = func() error { return endpointKey().Save(secret.New()) }
		}
		if err := change(); err != nil {
			e.refuse(err)
			return
		}
		e.apply()
	}()
}

// refuse stops answering: whoever asked for a key must not be answered without one.
func (e *appEndpoint) refuse(err error) {
	e.changing.Lock()
	defer e.changing.Unlock()
	e.stopService()
	e.mu.Lock()
	e.state.Err = err
	e.mu.Unlock()
	e.ring()
}

func (e *appEndpoint) set(state func(*ui.EndpointState), kept func(*settings)) {
	e.mu.Lock()
	state(&e.state)
	e.state.Err = nil
	e.mu.Unlock()
	e.ring()
	go func() {
		if err := changeSettings(kept); err != nil {
			slog.Error("keep the settings", "err", err)
		}
		e.apply()
	}()
}

// Started implements endpoint.Observer.
func (e *appEndpoint) Started(ev endpoint.Event) {
	e.mu.Lock()
	e.running++
	e.mu.Unlock()
	e.requests.Started(seen(ev))
	e.ring()
}

// seen is an event as the list of requests shows it.
func seen(ev endpoint.Event) ui.Seen {
	return ui.Seen{
		ID: ev.ID, At: ev.At, Client: ev.Client, Address: ev.Address, Method: ev.Method, Path: ev.Path,
		Status: ev.Status, Bytes: ev.Bytes, Questions: ev.Questions, Took: ev.Took, Error: ev.Error,
		Response: ev.Response, Request: ev.Request,
	}
}

// Finished implements endpoint.Observer. What a request says is kept only if the person chose so.
func (e *appEndpoint) Finished(ev endpoint.Event) {
	e.mu.Lock()
	if day := time.Now().YearDay(); day != e.day {
		e.day, e.state.Today = day, 0
	}
	e.running--
	e.last = time.Now()
	time.AfterFunc(glyphTime+bellPause, e.ring)
	e.state.Today++
	e.mu.Unlock()
	e.history.keep(ev)
	e.requests.Finished(seen(ev))
	e.ring()
}

// KeepBodies implements endpoint.Observer.
func (e *appEndpoint) KeepBodies() bool { return e.requests.KeepsBodies() || e.history.On() }
