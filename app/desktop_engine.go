package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/ui"

	"github.com/adrg/xdg"
)

// appEngine answers the window. The model chosen there answers, whatever the case's own model field says.
type appEngine struct{ worker *worker.Worker }

func (e appEngine) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	return e.worker.Decide(ctx, forChosen(r))
}

func (e appEngine) Encode(r *engine.Request) (*engine.Encoding, error) { return e.worker.Encode(r) }

func forChosen(r *engine.Request) *engine.Request {
	mine := *r
	mine.Model = ""
	return &mine
}

// lookFile keeps what the window was set to. A missing file means that nothing was ever saved.
func lookFile() string {
	return filepath.Join(filepath.Dir(settingsFile()), "window.json")
}

// loadLook reads the window's settings; first is true when there are none yet. Sizes of an unreadable file are
// not worth a message.
func loadLook() (s ui.Settings, first bool) {
	s = ui.DefaultSettings()
	b, err := os.ReadFile(lookFile())
	if errors.Is(err, fs.ErrNotExist) {
		return s, !exists(filepath.Join(xdg.StateHome, "clefbar", "cases"))
	}
	if err != nil || json.Unmarshal(b, &s) != nil {
		return ui.DefaultSettings(), false
	}
	return s, false
}

// idleTime is when a model that nobody asks is unloaded.
func idleTime(s ui.Settings) time.Duration { return time.Duration(s.IdleMinutes) * time.Minute }

// saveLook keeps the window's settings and lets those that concern the worker work at once.
func (d *desktopApp) saveLook(s ui.Settings) {
	d.worker.SetIdle(idleTime(s))
	saveLook(s)
}

func saveLook(s ui.Settings) {
	b, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = writeAtomically(lookFile(), append(b, '\n'))
	}
	if err != nil {
		slog.Error("keep the window's settings", "err", err)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
