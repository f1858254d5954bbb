package main

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clefbar/app/endpoint"
)

// appHistory is the history of the app: off until the person switches it on, then what programs ask and hear is kept on this
// disk within the limits of the settings (clefbar history lists it). The zero value is off.
type appHistory struct {
	mu     sync.Mutex
	limits historySettings
	keeper *keeper
}

// newAppHistory opens the history if the settings say so.
func newAppHistory(set historySettings) *appHistory {
	h := &appHistory{limits: set}
	if set.On {
		h.open()
	}
	return h
}

func (h *appHistory) open() {
	store, err := openHistory()
	if err != nil {
		slog.Error("the history is not kept", "err", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keeper = newKeeper(store)
}

// close writes what waits.
func (h *appHistory) close() {
	h.mu.Lock()
	k := h.keeper
	h.keeper = nil
	h.mu.Unlock()
	if k == nil {
		return
	}
	if err := k.Close(); err != nil {
		slog.Error("close the history", "err", err)
	}
}

// On implements ui.History.
func (h *appHistory) On() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keeper != nil
}

// SetOn implements ui.History. Switching it off keeps what is there; clefbar history removes it.
func (h *appHistory) SetOn(on bool) {
	if on == h.On() {
		return
	}
	if on {
		h.open()
	} else {
		h.close()
	}
	if err := changeSettings(func(s *settings) { s.History.On = on }); err != nil {
		slog.Error("keep the settings", "err", err)
	}
}

// Note implements ui.History.
func (h *appHistory) Note() string {
	bound := h.limits.limits()
	return fmt.Sprintf("Keep what programs ask and hear on this disk, at most %d days and %s", bound.Age/(24*time.Hour), size(bound.Bytes))
}

// keep takes a finished request while the history is on. It holds the lock, so that close waits for it.
func (h *appHistory) keep(ev endpoint.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keeper != nil {
		h.keeper.keep(ev)
	}
}
