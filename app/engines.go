package main

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/engine/local"
	"clefbar/engine/prompt"
	"clefbar/engine/remote"
	"clefbar/engine/tokenizer"
	"clefbar/models"
	"clefbar/models/etude"
)

// deviceFor returns the device of a word that --device takes. Other files add theirs.
var deviceFor = map[string]func() (local.Device, error){
	"auto": func() (local.Device, error) { return local.CPU(0), nil },
	"cpu":  func() (local.Device, error) { return local.CPU(0), nil },
}

// options returns how this library's models run.
func (h howToRun) options(progress func(done, total int64)) (local.Options, error) {
	open, ok := deviceFor[h.device]
	if !ok {
		return local.Options{}, &engine.Error{Reason: engine.Device, Message: "this build cannot compute on " + h.device}
	}
	device, err := open()
	if err != nil {
		return local.Options{}, err
	}
	return local.Options{
		Device: device, Precision: h.precision, Progress: progress,
		Uncalibrated: h.uncalibrated,
	}, nil
}

// openLocal opens the embedded model or a folder in this process.
func (l *library) openLocal(ctx context.Context, key string, progress func(done, total int64)) (worker.Model, error) {
	opt, err := l.how.options(progress)
	if err != nil {
		return nil, err
	}
	opt.Temperature, opt.Limit = l.set.Temperatures[key].T, l.limit(key)
	if info, known := l.Info(key); known {
		opt.Name = info.Name // a folder of the Hub's cache is named by its commit
	}
	if key == etudeKey {
		return local.OpenFS(ctx, etudeFiles(), etudeKey, opt)
	}
	m, err := local.Open(ctx, key, opt)
	if engine.ReasonOf(err) == engine.BadUsage && opt.Limit > l.how.maxTokens {
		opt.Limit = 0 // it was raised for another model that stood in this folder
		m, err = local.Open(ctx, key, opt)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// etudeFiles are the files of the embedded practice model.
func etudeFiles() fs.FS { return etude.FS() }

// etudeInfo describes the embedded model without opening it.
func etudeInfo() engine.ModelInfo {
	info := engine.ModelInfo{Name: etudeKey, Practice: true}
	f, err := models.OpenFS(etudeFiles(), etudeKey)
	if err != nil {
		return info
	}
	defer f.Close()
	return folderInfo(f, "")
}

// folderInfo describes a folder's model.
func folderInfo(f *models.Folder, path string) engine.ModelInfo {
	return engine.ModelInfo{
		Name: f.Name, Path: path, Description: f.Card.Description, Released: f.Card.Released, Layout: f.Layout,
		Practice: f.Card.Practice, PracticeNote: f.Card.PracticeNote, Vision: f.Vision(), DiskBytes: f.DiskBytes,
		WeightBytes: f.WeightBytes(),
	}
}

// encoding renders a request as the model of a command reads it. A folder that holds
// nothing but a tokenizer is enough, unless the request has images.
func (c *common) encoding(ctx context.Context, r *engine.Request) (*engine.Encoding, error) {
	l, err := c.library()
	if err != nil {
		return nil, err
	}
	key, err := c.key(l, r.Model)
	if err != nil {
		return nil, err
	}
	if isURL(key) {
		return nil, usage("only a model of this machine can be looked into, not %s", key)
	}
	if len(r.Images) > 0 {
		return encodeWhole(ctx, l, key, r)
	}
	name, data, err := tokenizerOf(key)
	if err != nil {
		return nil, err
	}
	tok, err := tokenizer.Load(data)
	if err != nil {
		return nil, err
	}
	e, err := prompt.Encode(tok, r, prompt.Options{})
	if err != nil {
		return nil, err
	}
	if info, ok := l.Info(key); ok {
		name = info.Name
	}
	e.Model = name
	return e, nil
}

// tokenizerOf reads the tokenizer.json of a model and tells the model's name.
func tokenizerOf(key string) (name string, data []byte, err error) {
	if key == etudeKey {
		data, err = fs.ReadFile(etudeFiles(), "tokenizer.json")
		return etudeKey, data, err
	}
	name = filepath.Base(key)
	if data, err = models.ReadTokenizer(key); err != nil {
		return name, nil, modelError(name, err)
	}
	return name, data, nil
}

// encodeWhole opens the model: how many tokens an image takes is a matter of its
// vision tower.
func encodeWhole(ctx context.Context, l *library, key string, r *engine.Request) (*engine.Encoding, error) {
	m, err := l.openLocal(ctx, key, func(int64, int64) {})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	e, ok := m.(worker.Encoder)
	if !ok {
		return nil, &engine.Error{Reason: engine.BadUsage, Message: "this model does not show what it reads"}
	}
	return e.Encode(r)
}

// served is a model that another server answers for. There is nothing to close.
type served struct{ *remote.Decider }

// Close implements worker.Model.
func (served) Close() error { return nil }

// openServer asks another server. The key of a model there is the server's address, "#" and the name of the model;
// without a name the server's default answers. The server's own key is the stored one, else CLEFBAR_SERVER_KEY.
func (l *library) openServer(name string) (worker.Model, error) {
	address, model, _ := strings.Cut(name, "#")
	l.mu.Lock()
	set := l.set
	l.mu.Unlock()
	key, err := set.keyOf(address)
	if err != nil {
		return nil, err
	}
	d, err := remote.New(remote.Options{URL: address, Key: key, Model: model})
	if err != nil {
		return nil, err
	}
	return served{d}, nil
}
