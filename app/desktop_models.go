package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/models/shelf"
	"clefbar/ui"
)

// appModels is the window's view of the models: which there are, and which one is open or on its way.
type appModels struct {
	lib    *library
	worker *worker.Worker
	*bell

	mu      sync.Mutex
	entries []entry
	opening string // key that Open was last called with, "" when that has ended
	stop    context.CancelFunc
	failed  string // key that could not be opened
	err     error
}

func newAppModels(lib *library, w *worker.Worker) *appModels {
	m := &appModels{lib: lib, worker: w, bell: newBell(), stop: func() {}}
	m.entries = lib.entries
	w.Watch(func(worker.Status) { m.ring() })
	go m.look()
	return m
}

// look reads the disk, which may take a while, and tells the window.
func (m *appModels) look() {
	m.lib.room() // asks the GPU once, here and not while the window draws
	entries := m.lib.list(context.Background())
	m.mu.Lock()
	m.entries = entries
	m.mu.Unlock()
	m.ring()
}

// List implements ui.Models.
func (m *appModels) List() []ui.Model {
	m.mu.Lock()
	entries, lib := m.entries, m.lib
	m.mu.Unlock()
	have, err := m.lib.room().Gives(m.lib.held(m.lib.opened(m.worker)))
	list := make([]ui.Model, 0, len(entries))
	for _, e := range entries {
		m := ui.Model{
			ID: e.key, Name: e.info.Name, Layout: e.info.Layout, Usable: true, Practice: e.info.Practice,
		}
		switch {
		case e.info.Practice:
			m.Note = "practice model"
		case e.info.ServerSide:
			m.Note = "on another server"
		case e.item != nil && e.item.State != shelf.Ready:
			m.Usable, m.Note = false, e.item.State.String()+": "+e.item.Problem.Error()
		case e.item != nil:
			fit := shelf.Fit{Need: e.item.Memory(lib.tokens(e.key)), Have: have}
			m.Note = size(fit.Need)
			if err == nil {
				m.Note += ", " + string(fit.Verdict())
			}
		}
		list = append(list, m)
	}
	return list
}

// State implements ui.Models.
func (m *appModels) State() ui.ModelState {
	st := m.worker.Status()
	chosen := m.worker.Chosen()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := ui.ModelState{ID: chosen, Info: st.Chosen, Longer: m.lib.longer(chosen)}
	switch {
	case m.opening != "":
		s.Phase, s.ID = ui.PhaseOpening, m.opening
		s.Info, _ = m.lib.Info(m.opening)
		s.Done, s.Total, s.Left = st.Done, st.Total, st.Left
	case m.err != nil:
		s.Phase, s.ID, s.Err = ui.PhaseFailed, m.failed, m.err
		s.Info, _ = m.lib.Info(m.failed)
	case st.Ready:
		s.Phase = ui.PhaseReady
	case st.Loading != "":
		s.Phase, s.Done, s.Total, s.Left = ui.PhaseOpening, st.Done, st.Total, st.Left
	}
	return s
}

// Open implements ui.Models. A model that opens is the chosen one from now on, also after a restart.
func (m *appModels) Open(id string) {
	ctx, cancel := context.WithCancel(context.Background())
	m.mu.Lock()
	m.stop()
	m.opening, m.err, m.stop = id, nil, cancel
	m.mu.Unlock()
	m.ring()
	go func() {
		defer cancel()
		err := m.worker.Choose(ctx, id)
		m.mu.Lock()
		if m.opening == id && ctx.Err() == nil {
			m.opening = ""
			m.failed, m.err = id, err
		}
		m.mu.Unlock()
		if err == nil {
			m.keep(func(s *settings) { s.Model = chosenName(id) })
		}
		m.ring()
	}()
}

// chosenName is how the settings write a key: Etude is what stands for nothing chosen.
func chosenName(key string) string {
	if key == etudeKey {
		return ""
	}
	return key
}

// Stop implements ui.Models.
func (m *appModels) Stop() {
	m.mu.Lock()
	m.stop()
	m.opening = ""
	m.mu.Unlock()
	m.ring()
}

// Unload implements ui.Models.
func (m *appModels) Unload() { go m.worker.Unload() }

// AddFolder implements ui.Models. The first model in the folder that can be used is opened.
func (m *appModels) AddFolder(path string) {
	go func() {
		abs, err := filepath.Abs(path)
		if err == nil {
			err = m.lib.change(context.Background(), func(s *settings) {
				if !slices.Contains(s.Folders, abs) {
					s.Folders = append(s.Folders, abs)
				}
			})
		}
		key, why := m.lib.firstIn(abs)
		if err == nil {
			err = why
		}
		m.look()
		if err != nil {
			m.mu.Lock()
			m.failed, m.err = abs, &engine.Error{Reason: engine.BadModel, Message: err.Error(), Err: err}
			m.mu.Unlock()
			m.ring()
			return
		}
		m.Open(key)
	}()
}

// keep changes the settings on disk.
func (m *appModels) keep(change func(*settings)) {
	if err := changeSettings(change); err != nil {
		slog.Error("keep the settings", "err", err)
	}
}
