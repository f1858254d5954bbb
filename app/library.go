package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/models"
	"clefbar/models/shelf"
)

// etudeKey is the key of the embedded practice model. Other keys are folders and
// addresses of servers.
const etudeKey = "etude"

// library knows the models that this program can open, under every name that they
// have. It implements worker.Shelf; the command line, serve and the app share it.
type library struct {
	set settings
	how howToRun

	looking sync.Mutex // held while the disk is looked at; taken before mu

	mu      sync.Mutex
	entries []entry   // Etude first, then ready models, then the rest
	scanned time.Time // when the disk was last looked at
	trouble error     // why the Hub's cache could not be read then
	insist  map[string]bool

	measure sync.Once
	gpu     int64 // bytes, once measured
}

// howToRun says how models are opened.
type howToRun struct {
	device, precision string
	maxTokens         int  // most tokens of a request; 0 means the model's own limit
	force             bool // also open what seems not to fit into memory
	uncalibrated      bool // answer without any fitted temperature
}

// entry is one model and its names.
type entry struct {
	key   string
	info  engine.ModelInfo
	names []string // beside info.Name, all lower case
	item  *shelf.Item
}

// rescan is how old a look at the disk may be before an unknown name makes us look again.
const rescan = 10 * time.Second

func newLibrary(set settings, how howToRun) *library {
	return &library{set: set, how: how, entries: []entry{{key: etudeKey, info: etudeInfo()}}}
}

// chosen returns the key of the model that the person chose, Etude if there is none.
func (l *library) chosen() string {
	if l.set.Model == "" {
		return etudeKey
	}
	return l.set.Model
}

// Default reports whether a request's model name means the default model.
func (l *library) Default(name string) bool {
	switch name = strings.ToLower(name); name {
	case "", "jev-latest", "jev-preview", "clef-latest":
		return true
	}
	return l.set.Endpoint.AnyJev && strings.HasPrefix(name, "jev-")
}

// Resolve finds a model by a name from a request. Paths and addresses are no names:
// a request cannot make us open them.
func (l *library) Resolve(name string) (string, error) {
	if e, ok := l.find(name); ok {
		if e.item != nil && e.item.State != shelf.Ready {
			return "", &engine.Error{Reason: engine.NoModel, Message: fmt.Sprintf("the model %s is %s: %v", e.info.Name, e.item.State, e.item.Problem)}
		}
		return e.key, nil
	}
	if family := familyOf(name); slices.Contains(familyNames(family), strings.ToLower(name)) || l.isKnown(name) {
		return "", &engine.Error{Reason: engine.NoModel, Message: fmt.Sprintf("the model %s is not on this machine; get it with clefbar models get", short(name))}
	}
	return "", &engine.Error{Reason: engine.BadUsage, Message: "Unknown model: " + short(name)}
}

// longestName is how much of a name from a request an answer repeats.
const longestName = 100

// short cuts a name for a message.
func short(name string) string {
	if r := []rune(name); len(r) > longestName {
		return string(r[:longestName]) + "…"
	}
	return name
}

// isKnown reports whether name is a repository that can be fetched.
func (l *library) isKnown(name string) bool {
	_, known := l.inCatalog(name)
	return known
}

// find looks name up, and looks at the disk before it says no if that was long ago.
func (l *library) find(name string) (entry, bool) {
	if e, ok := l.known(name); ok {
		return e, true
	}
	l.refresh(context.Background(), rescan, isOurs)
	return l.known(name)
}

func (l *library) known(name string) (entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name = strings.ToLower(name)
	for _, e := range l.entries {
		if strings.ToLower(e.info.Name) == name || slices.Contains(e.names, name) {
			return e, true
		}
	}
	return entry{}, false
}

// Info describes the model of a key.
func (l *library) Info(key string) (engine.ModelInfo, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.key == key {
			return e.info, true
		}
	}
	return engine.ModelInfo{Name: filepath.Base(key), Path: key, ServerSide: isURL(key)}, false
}

// locate turns what a person wrote after --model into a key: a name, a folder or the
// address of a server.
func (l *library) locate(what string) (string, error) {
	if isURL(what) {
		return strings.TrimRight(what, "/"), nil
	}
	if l.Default(what) {
		return l.chosen(), nil
	}
	isPath := strings.ContainsRune(what, filepath.Separator) || what == "." || what == ".."
	if _, named := l.find(what); isPath && !named {
		if _, err := os.Stat(what); err == nil {
			return l.addFolder(what)
		}
		if !l.isKnown(what) {
			return "", &engine.Error{Reason: engine.NoModel, Message: "there is no folder " + what}
		}
	}
	key, err := l.Resolve(what)
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Reason == engine.BadUsage {
		if _, err := os.Stat(what); err == nil { // a file is told to be one when it is opened
			return l.addFolder(what)
		}
		return "", &engine.Error{Reason: engine.NoModel, Message: e.Message + "; clefbar models lists what is here"}
	}
	return key, err
}

// addFolder makes a folder known under the name that it gives itself.
func (l *library) addFolder(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the folder %s: %w", dir, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.key == abs {
			return abs, nil
		}
	}
	info := engine.ModelInfo{Name: filepath.Base(abs), Path: abs}
	if f, err := models.Open(abs); err == nil {
		info = folderInfo(f, abs)
		_ = f.Close() // it was only looked at
	}
	l.entries = append(l.entries, entry{key: abs, info: info})
	return abs, nil
}

// refresh looks at the disk if the last look is older than age. The look itself holds
// no lock that a request needs: it may take a second. Entries that are not of the
// disk stay if keep says so.
func (l *library) refresh(ctx context.Context, age time.Duration, keep func(entry) bool) {
	l.looking.Lock()
	defer l.looking.Unlock()
	l.mu.Lock()
	fresh := !l.scanned.IsZero() && time.Since(l.scanned) <= age
	folders := slices.Clone(l.set.Folders)
	l.mu.Unlock()
	if fresh {
		return
	}
	items, trouble := shelf.Scan(ctx, modelCache(), folders)
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scanned, l.trouble = time.Now(), trouble
	l.takeLocked(items, keep)
}

// isOurs reports whether an entry was not found by looking at the disk.
func isOurs(e entry) bool { return e.item == nil }

// takeLocked puts what was found on the disk in the place of what was found before.
func (l *library) takeLocked(items []shelf.Item, keep func(entry) bool) {
	var kept []entry
	for _, e := range l.entries {
		if keep(e) {
			kept = append(kept, e)
		}
	}
	for _, i := range items {
		if !slices.ContainsFunc(kept, func(e entry) bool { return e.key == i.Dir }) {
			kept = append(kept, itemEntry(i, kept))
		}
	}
	for _, s := range l.set.Servers {
		if !slices.ContainsFunc(kept, func(e entry) bool { return e.key == s }) {
			kept = append(kept, serverEntry(s))
		}
	}
	nameFamilies(kept, l.chosen())
	l.entries = kept
}

// serverEntry names a model of another server: "clef at studio.local:2533".
func serverEntry(key string) entry {
	address, model, _ := strings.Cut(key, "#")
	name := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		name = u.Host
	}
	if model != "" {
		name = model + " at " + name
	}
	return entry{key: key, info: engine.ModelInfo{Name: name, Path: address, ServerSide: true}}
}

// insistOn lets a model be opened although it does not seem to fit into memory.
func (l *library) insistOn(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.insist == nil {
		l.insist = map[string]bool{}
	}
	l.insist[key] = true
}

func (l *library) insisted(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.insist[key]
}

// change changes which folders and servers there are, on disk too, and looks at the disk again.
func (l *library) change(ctx context.Context, f func(*settings)) error {
	if err := changeSettings(f); err != nil {
		return err
	}
	l.mu.Lock()
	f(&l.set)
	l.mu.Unlock()
	l.refresh(ctx, 0, func(e entry) bool { return e.key == etudeKey })
	return nil
}

// look looks at the disk now.
func (l *library) look(ctx context.Context) { l.refresh(ctx, 0, isOurs) }

// cacheTrouble tells why the Hub's cache could not be read at the last look, nil when it could.
func (l *library) cacheTrouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble
}

// opened returns the models of this machine that are in memory, as of the last look at the disk.
func (l *library) opened(w *worker.Worker) (list []entry) {
	open := w.Status().Open
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if !e.info.ServerSide && slices.Contains(open, e.key) {
			list = append(list, e)
		}
	}
	return list
}

// itemEntry names a model on the disk. A second one of the same name gets its
// revision or folder behind it.
func itemEntry(i shelf.Item, others []entry) entry {
	e := entry{key: i.Dir, item: &i, info: engine.ModelInfo{
		Name: i.Name, Path: i.Dir, Layout: i.Layout, Vision: i.Vision, DiskBytes: i.DiskBytes, WeightBytes: i.WeightBytes,
		Description: i.Repo,
	}}
	taken := func(name string) bool {
		return slices.ContainsFunc(others, func(o entry) bool { return strings.EqualFold(o.info.Name, name) })
	}
	if taken(e.info.Name) {
		mark := i.Commit
		if len(mark) > 7 {
			mark = mark[:7]
		}
		if mark == "" {
			mark = filepath.Base(filepath.Dir(i.Dir))
		}
		e.info.Name += "@" + mark
	}
	if i.Repo != "" && !slices.ContainsFunc(others, func(o entry) bool { return o.item != nil && o.item.Repo == i.Repo }) {
		e.names = append(e.names, strings.ToLower(i.Repo))
	}
	return e
}

// firstIn returns the first model in a folder that can be used, or why there is none.
func (l *library) firstIn(dir string) (key string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = fmt.Errorf("%s holds no model", dir)
	for _, e := range l.entries {
		if e.item == nil || e.key != dir && filepath.Dir(e.key) != dir {
			continue
		}
		if e.item.State == shelf.Ready {
			return e.key, nil
		}
		err = fmt.Errorf("%s: %w", filepath.Base(e.key), e.item.Problem)
	}
	return "", err
}

// list returns every model, after a look at the disk.
func (l *library) list(ctx context.Context) []entry {
	l.refresh(ctx, rescan, isOurs)
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}
