package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"clefbar/app/history"
	"clefbar/models/shelf"

	"github.com/adrg/xdg"
)

// settings are what the person chose for good. The app writes them, every command
// reads them. A missing file means the defaults, which are the zero values.
type settings struct {
	Model   string   `json:"model,omitempty"`   // key of the chosen model; "" is Etude
	Folders []string `json:"folders,omitempty"` // with models in them
	Servers []string `json:"servers,omitempty"` // addresses of other servers
	Offline bool     `json:"offline,omitempty"` // nothing is fetched
	Cache   string   `json:"cache,omitempty"`   // folder for models; "" is that of the Hub's own tools

	Repos []shelf.Known `json:"repos,omitempty"` // of the Hub, that the person has added

	// OldKeys are keys of servers by address, in files of earlier versions: see moveKeys.
	OldKeys map[string]string `json:"server_keys,omitempty"`

	// Limits holds how many tokens a model reads at most, by its key, where a person has raised it.
	Limits map[string]int `json:"limits,omitempty"`

	Endpoint endpointSettings `json:"endpoint,omitzero"`
	History  historySettings  `json:"history,omitzero"`

	// Temperatures holds the fitted temperature of a model by its key (clefbar
	// calibrate --save). A model without one answers as it is.
	Temperatures map[string]temperature `json:"temperatures,omitempty"`
}

// endpointSettings configure the endpoint of the app and of serve.
type endpointSettings struct {
	Off     bool     `json:"off,omitempty"`
	Addr    string   `json:"addr,omitempty"`
	Origins []string `json:"origins,omitempty"`
	Neutral bool     `json:"neutral_ids,omitempty"` // hide the callers' question ids
	AnyJev  bool     `json:"any_jev,omitempty"`     // answer for every jev-* name
}

// historySettings bound what is kept. Zero means the default, less means no bound.
type historySettings struct {
	On        bool `json:"on,omitempty"` // the app keeps what programs ask
	Megabytes int  `json:"megabytes,omitempty"`
	Days      int  `json:"days,omitempty"`
}

func (h historySettings) limits() history.Limits {
	bound := history.DefaultLimits()
	if h.Megabytes != 0 {
		bound.Bytes = max(0, int64(h.Megabytes)<<20)
	}
	if h.Days != 0 {
		bound.Age = max(0, time.Duration(h.Days)*24*time.Hour)
	}
	return bound
}

// temperature is a fit and what it was fitted on.
type temperature struct {
	T       float64 `json:"t"`
	Records int     `json:"records"`
	Before  float64 `json:"ece_before"` // on held-out halves
	After   float64 `json:"ece_after"`
}

// settingsFile returns where the settings are. CLEFBAR_SETTINGS names another file.
func settingsFile() string {
	if name := os.Getenv("CLEFBAR_SETTINGS"); name != "" {
		return name
	}
	return filepath.Join(xdg.ConfigHome, "clefbar", "settings.json")
}

// loadSettings reads the settings.
func loadSettings() (settings, error) {
	var s settings
	b, err := os.ReadFile(settingsFile())
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a home that is no folder holds none
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the settings: %w", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return settings{}, unreadable(err)
	}
	return s, nil
}

// unreadable says where a settings file that somebody has edited is wrong, in the file's words and not in Go's.
func unreadable(err error) error {
	what := err.Error()
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what = fmt.Sprintf("%s has a value of the wrong type, %s (at byte %d)", cmp.Or(kind.Field, "the document"), kind.Value, kind.Offset)
	} else if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		what = fmt.Sprintf("not JSON at byte %d: %v", syntax.Offset, err)
	}
	return fmt.Errorf("the settings in %s cannot be read: %s; correct that, or move the file away to begin with the defaults", settingsFile(), what)
}

// save replaces the settings on disk.
func (s settings) save() error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = writeAtomically(settingsFile(), append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	return nil
}

// changing keeps two changes of the settings in this process apart.
var changing sync.Mutex

// changeSettings reads the settings, changes them and writes them back.
func changeSettings(change func(*settings)) error {
	changing.Lock()
	defer changing.Unlock()
	s, err := loadSettings()
	if err != nil {
		return err
	}
	s.moveKeys()
	change(&s)
	return s.save()
}

// writeAtomically writes a file beside the old one and then takes its place, so that a
// crash leaves one of the two whole. Only this user can read it.
func writeAtomically(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // nothing is left of it once it was renamed
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}
