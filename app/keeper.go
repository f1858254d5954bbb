package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"

	"clefbar/app/endpoint"
	"clefbar/app/history"

	"github.com/adrg/xdg"
)

// historyFile is where decisions are kept that a person chose to keep.
func historyFile() string { return filepath.Join(xdg.DataHome, "clefbar", "history.db") }

// openHistory opens the history with the person's limits. A damaged file was put
// aside, which is said and is no reason to stop.
func openHistory() (*history.Store, error) {
	set, err := loadSettings()
	if err != nil {
		return nil, err
	}
	s, err := history.Open(historyFile(), set.History.limits())
	if damaged, ok := errors.AsType[*history.Damaged](err); ok {
		slog.Warn(damaged.Error())
		return s, nil
	}
	return s, err
}

// keeper puts finished requests into the history. It never holds a request up: when
// the disk is too slow, entries are dropped.
type keeper struct {
	store   *history.Store
	entries chan history.Entry
	done    sync.WaitGroup
}

// mostUnwritten is how many entries may wait for the disk.
const mostUnwritten = 256

func newKeeper(s *history.Store) *keeper {
	k := &keeper{store: s, entries: make(chan history.Entry, mostUnwritten)}
	k.done.Go(func() {
		for e := range k.entries {
			if _, err := k.store.Add(context.Background(), e); err != nil {
				slog.Error("keep a decision", "err", err)
			}
		}
	})
	return k
}

// keep takes an event whose request is known.
func (k *keeper) keep(ev endpoint.Event) {
	if ev.Request == nil {
		return
	}
	e := history.Entry{
		At: ev.At, Source: "endpoint", Client: ev.Client, Status: ev.Status, Took: ev.Took, Request: ev.Request.JSON(),
	}
	if ev.Response != nil {
		e.Model, e.Tokens, e.Response = ev.Response.Model, ev.Response.Usage.InputTokens, ev.Response.JSON()
	}
	select {
	case k.entries <- e:
	default:
		slog.Warn("the history cannot keep up: an entry was dropped")
	}
}

// Close writes what waits and closes the history. keep must not be called any more.
func (k *keeper) Close() error {
	close(k.entries)
	k.done.Wait()
	return k.store.Close()
}

// keepAll is the observer of serve --keep: the person has chosen on the command line.
type keepAll struct{ *keeper }

// Started implements endpoint.Observer.
func (keepAll) Started(endpoint.Event) {}

// Finished implements endpoint.Observer.
func (k keepAll) Finished(ev endpoint.Event) { k.keep(ev) }

// KeepBodies implements endpoint.Observer.
func (keepAll) KeepBodies() bool { return true }
