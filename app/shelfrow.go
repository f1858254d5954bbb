package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"clefbar/models"
	"clefbar/models/shelf"
	"clefbar/ui"
)

// row describes a model that is on this machine, or on a server.
func (s *appShelf) row(e entry, open bool) ui.Shelved {
	r := ui.Shelved{ID: e.key, Name: e.info.Name, Layout: e.info.Layout, Stage: ui.StageReady, Disk: e.info.DiskBytes, Practice: e.info.Practice}
	switch {
	case e.info.ServerSide:
		r.Server, r.Layout, r.Disk = e.info.Path, "", 0
		r.Name, _, _ = strings.Cut(e.info.Name, " at ")
		r.Note = "Your cases go to this server when you use it."
	case e.info.Practice:
		r.Name, r.Layout, r.Known = "Etude", "", true
		r.Note = "Comes with Clefbar. For learning the window, not for decisions."
	case e.item != nil:
		s.describe(&r, e.item)
	default:
		r.Note = e.info.Path
	}
	if r.Known {
		r.Memory = e.memory(s.lib.tokens(e.key))
		r.Ticket, r.Measured = s.pace.ticket(e.key, e.info.Layout, e.operations())
	}
	if open && r.Stage == ui.StageReady {
		r.Stage = ui.StageOpen
	}
	return r
}

func (e entry) operations() float64 {
	if e.item == nil {
		return 0
	}
	return e.item.Operations(ticketTokens)
}

// describe fills a row for a model on the disk.
func (s *appShelf) describe(r *ui.Shelved, i *shelf.Item) {
	r.Layout, r.Note, r.Loose, r.Revision = i.Layout, i.Dir, i.Repo == "", i.Commit
	if i.Repo != "" {
		r.Note = "From " + owner(i.Repo) + ". " + revisionNote(i)
	}
	if k, ok := s.lib.inCatalog(i.Repo); ok {
		r.Name, r.Note = k.Name+strings.TrimPrefix(r.Name, i.Name), strings.TrimSpace(k.Note+" "+revisionNote(i))
	}
	r.Known = i.Memory(0) > 0
	switch i.State {
	case shelf.Ready:
	case shelf.Incomplete:
		r.Stage, r.Why = ui.StageIncomplete, incompleteWhy(i)
		if i.Repo == "" { // nowhere to get the rest from
			r.Stage, r.Known = ui.StageUnsupported, false
		}
	case shelf.NoHead:
		r.Stage, r.Known = ui.StageNoHead, false
		r.Why = "A chat backbone without Clef’s decision head: it can only produce text."
	case shelf.Away:
		r.Stage, r.Why = ui.StageAway, sentence(i.Problem)
	default:
		r.Stage, r.Known = ui.StageUnsupported, false
		r.Why = sentence(i.Problem)
	}
}

// revisionNote says which revision of a repository it is.
func revisionNote(i *shelf.Item) string {
	if len(i.Commit) < 7 {
		return ""
	}
	note := "Revision " + i.Commit[:7]
	if len(i.Refs) > 0 {
		note += " (" + strings.Join(i.Refs, ", ") + ")"
	}
	return note + "."
}

// owner is who published a repository.
func owner(repo string) string {
	name, _, _ := strings.Cut(repo, "/")
	return name
}

// incompleteWhy counts what is missing, as far as the files say.
func incompleteWhy(i *shelf.Item) string {
	get := "."
	if i.Missing > 0 {
		get = ": " + size(i.Missing) + " to get."
	}
	e, ok := errors.AsType[*models.Error](i.Problem)
	switch {
	case ok && len(e.Missing) == 1:
		return e.Missing[0] + " is missing" + get
	case ok && len(e.Missing) > 1:
		return fmt.Sprintf("%d files are missing or unfinished%s", len(e.Missing), get)
	case i.Missing > 0:
		return strings.TrimSuffix(sentence(i.Problem), ".") + get
	}
	return sentence(i.Problem)
}

// knownRow describes a model that can be fetched; gives is what the machine has for models, 0 for unknown.
func (s *appShelf) knownRow(k shelf.Known, gives int64) ui.Shelved {
	r := ui.Shelved{
		ID: k.Repo, Name: k.Name, Layout: k.Layout, Note: k.Size() + k.Note + " From " + owner(k.Repo) + ".", Known: true,
		Disk: k.Bytes, Memory: k.Memory(fitTokens),
	}
	if gives > 0 && r.Memory > gives {
		r.Note = k.Size() + "Runs on " + machineFor(r.Memory) + ", or on a server. From " + owner(k.Repo) + "."
	}
	_, r.Given = shelf.InCatalog(k.Repo)
	r.Ticket, r.Measured = s.pace.ticket(k.Repo, k.Layout, k.Operations(ticketTokens))
	return r
}

// memories are the sizes in GB that Macs are sold with.
var memories = []int64{16, 24, 32, 36, 48, 64, 96, 128, 192, 256, 512}

// machineFor says which machine has so much for models: about three quarters of its memory.
func machineFor(need int64) string {
	kind := "a machine"
	if runtime.GOOS == "darwin" {
		kind = "a Mac"
	}
	for _, gb := range memories {
		if need <= gb*1_000_000_000/4*3 {
			return fmt.Sprintf("%s with %d GB", kind, gb)
		}
	}
	return kind + " with more memory than Macs have"
}

// Reveal implements ui.Shelf.
func (s *appShelf) Reveal(id string) {
	if isURL(id) || id == etudeKey {
		return
	}
	dir := id
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Dir(dir)
	}
	s.work.Go(func() {
		if err := reveal(dir); err != nil {
			s.changed(id, fmt.Errorf("show %s: %w", dir, err))
		}
	})
}
