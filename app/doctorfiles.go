package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"clefbar/engine/probe"
	"clefbar/engine/tokenizer"
	"clefbar/models"
	"clefbar/models/hub"
)

// The checks of a model's files, in the order in which they are told.
var fileChecks = []string{"files", "headers", "shapes", "head", "tokenizer", "hashes"}

// checkFiles looks at everything that can be checked without computing, and finds out which model it is. ok is false when
// going on makes no sense. tell hears how many bytes were hashed.
func (l *library) checkFiles(ctx context.Context, d *diagnosis, key string, tell func(done, total int64)) (ok bool) {
	f, err := openFiles(key)
	if err != nil {
		d.refuse(err)
		return false
	}
	c := f.Config
	d.Model = f.Name
	d.model = probe.Model{Name: f.Name, Layout: f.Layout}
	d.note("files", nil, "%s, %s, nothing is missing", f.Layout, size(f.DiskBytes))
	d.note("headers", nil, "every weight file says what it holds")
	d.note("shapes", nil, "all tensors of %d layers of width %d, as config.json has them", c.Layers(), c.Hidden)
	d.note("head", nil, "width %d, made for a backbone of width %d", f.Head.Width, f.Head.Hidden)
	good := d.note("tokenizer", checkTokenizer(f), "texts come back as they were, every token has a row")
	total := f.DiskBytes
	_ = f.Close() // it was only looked at
	detail, err := d.checkHashes(ctx, key, func(done int64) { tell(min(done, total), total) })
	tell(total, total)
	if ctx.Err() != nil {
		return false
	}
	if !d.note("hashes", err, "%s", detail) {
		d.code, d.damaged = exitModel, true
		return false
	}
	return good
}

// refuse tells which check a folder failed that could not be opened. What was not reached is named too.
func (d *diagnosis) refuse(err error) {
	failed := "files"
	e, ok := errors.AsType[*models.Error](err)
	if ok {
		switch e.Kind {
		case models.NotFound, models.Incomplete, models.NoHead:
			d.code = exitModel
		case models.Malformed:
			failed = "headers"
		case models.Mismatch:
			failed = "shapes"
		}
		switch {
		case e.Kind == models.NoHead || strings.HasPrefix(e.File, "joint_head") && failed != "files":
			failed = "head"
		case e.File == "tokenizer.json":
			failed = "tokenizer"
		}
	}
	for _, name := range fileChecks {
		if name == failed {
			d.note(name, err, "")
		} else {
			d.Checks = append(d.Checks, check{Name: name, Skipped: true, Detail: "not reached"})
		}
	}
}

// openFiles opens a model's files: every header, shape and table is checked.
func openFiles(key string) (*models.Folder, error) {
	if key == etudeKey {
		return models.OpenFS(etudeFiles(), etudeKey)
	}
	return models.Open(key)
}

// spoken are texts that a tokenizer has to give back as they are.
var spoken = []string{
	"The lamp is on and the door is closed.", "Ünïcödé — naïve café", "日本語のテキスト 한국어 العربية", "👍🏽 👩‍👩‍👧 🇩🇪",
	"\t tabs\n\n  and   spaces  ", `{"json":[1.5e-07,"<b>"]}`, "x = f(y) // 12345",
}

func checkTokenizer(f *models.Folder) error {
	tok, err := tokenizer.Load(f.Tokenizer)
	if err != nil {
		return err
	}
	if tok.Size() > f.Config.Vocab {
		return fmt.Errorf("it has %d tokens, but the embedding table only %d rows", tok.Size(), f.Config.Vocab)
	}
	for _, text := range spoken {
		if got := tok.Decode(tok.Encode(nil, text, true)); got != text {
			return fmt.Errorf("%q comes back as %q", text, got)
		}
	}
	return nil
}

// checkHashes reads every file once. Files of the Hub's cache are named by their hash, which has to be right; for others
// there is nothing to compare with. What it finds of the weights says which model it is.
func (d *diagnosis) checkHashes(ctx context.Context, key string, tell func(done int64)) (detail string, err error) {
	names, err := modelFiles(key)
	if err != nil {
		return "", err
	}
	r := reader{ctx: ctx, key: key, tell: tell}
	sums, checked := map[string]string{}, 0
	var damaged []string
	for _, name := range names {
		if want, lfs, linked := hub.BlobName(filepath.Join(key, name)); linked && key != etudeKey {
			checked++
			if r.hash(name, lfs) != want {
				damaged = append(damaged, name)
			}
		}
		if strings.HasSuffix(name, ".safetensors") {
			sums[name] = r.hash(name, true)
		}
	}
	d.model.Head, d.model.Weights = sums["joint_head.safetensors"], probe.WeightsSum(sums)
	switch {
	case r.err != nil:
		return "", r.err
	case len(damaged) > 0:
		return "", fmt.Errorf("damaged: %s", strings.Join(damaged, ", "))
	case checked == 0:
		return fmt.Sprintf("%d weight files were read whole; there is nothing to compare them with", len(sums)), nil
	}
	return fmt.Sprintf("%d files have the hash that the Hub announced", checked), nil
}

// reader hashes the files of a model, each one once, and keeps the first failure.
type reader struct {
	ctx  context.Context
	key  string
	tell func(done int64)
	read int64
	last struct {
		name, sum string
		large     bool
	}
	err error
}

// hash returns the SHA-256 of a file, or git's SHA-1 when it is not large.
func (r *reader) hash(name string, large bool) string {
	if r.err != nil {
		return ""
	}
	if r.last.name == name && r.last.large == large {
		return r.last.sum
	}
	sum, n, err := hashOf(r.ctx, r.key, name, large, func(n int64) { r.tell(r.read + n) })
	if err != nil {
		r.err = fmt.Errorf("read %s: %w", name, err)
	}
	r.read += n
	r.last.name, r.last.sum, r.last.large = name, sum, large
	return sum
}

// modelFiles lists the files of a model that count.
func modelFiles(key string) ([]string, error) {
	var all []string
	files := etudeFiles()
	if key != etudeKey {
		files = os.DirFS(key)
	}
	entries, err := fs.ReadDir(files, ".")
	for _, e := range entries {
		if hub.Wanted(hub.File{Path: e.Name()}) {
			all = append(all, e.Name())
		}
	}
	slices.Sort(all)
	return all, err
}

// hashOf hashes one file, of a folder or of the embedded model, and returns its size.
func hashOf(ctx context.Context, key, name string, large bool, tell func(int64)) (sum string, n int64, err error) {
	if key == etudeKey {
		data, err := fs.ReadFile(etudeFiles(), name)
		h := sha256.Sum256(data)
		return hex.EncodeToString(h[:]), int64(len(data)), err
	}
	file := filepath.Join(key, name)
	sum, err = hub.HashFile(ctx, file, large, func(read int64) { n = read; tell(read) })
	return sum, n, err
}

// hashProgress draws how far reading has come, on a terminal.
func (c *common) hashProgress() func(done, total int64) {
	return c.percent("reading")
}
