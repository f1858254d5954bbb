// Package local decides in this process: it opens a model folder on a device and
// answers requests one after the other.
//
//	request → prompt.Encode → qwen.Forward → head.Score → answer.Build → response
package local

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"clefbar/engine"
	"clefbar/engine/answer"
	"clefbar/engine/backend"
	"clefbar/engine/cpu"
	"clefbar/engine/head"
	"clefbar/engine/prompt"
	"clefbar/engine/qwen"
	"clefbar/engine/tokenizer"
	"clefbar/engine/vision"
	"clefbar/models"
)

// Limits of a request's tokens.
const (
	DefaultLimit = prompt.DefaultLimit
	MaxLimit     = 65536
)

// Device opens backends of one kind. The zero Device is the processor.
type Device struct {
	Name string // "cpu", "metal"
	Open func(precision string) (backend.Backend, error)
}

// CPU is the processor with the given number of threads; 0 means all.
func CPU(threads int) Device {
	return Device{"cpu", func(precision string) (backend.Backend, error) {
		return cpu.New(cpu.Options{Precision: precision, Threads: threads})
	}}
}

// Options chooses how a model runs. The zero value is right for most.
type Options struct {
	Device       Device
	Precision    string  // "" or "auto": the device's choice
	Uncalibrated bool    // ignore every temperature
	Temperature  float64 // a fitted one, in place of the card's; 0 keeps that
	Name         string  // what responses call the model; "" means as its card or folder does
	Limit        int     // most tokens of a request; 0: DefaultLimit, or what the model takes if that is less
	// Progress is told how many bytes of the weights have been taken in.
	Progress func(done, total int64)
}

// Model is an open model. It is safe for concurrent use: requests are encoded at
// once and run one at a time, first come first served.
type Model struct {
	folder *models.Folder
	tok    *tokenizer.Tokenizer
	b      backend.Backend
	qwen   *qwen.Model
	head   *head.Head
	vision *vision.Tower // nil for a text-only model
	info   engine.ModelInfo
	load   firstTime
	answer answer.Options

	jobs     chan *job     // taken in order by the goroutine that owns the device
	closing  chan struct{} // closed by Close
	ended    chan struct{} // closed when that goroutine is gone
	closed   sync.Once
	closeErr error
}

var _ engine.Decider = (*Model)(nil)

// Open opens the model in a folder. Errors are *engine.Error: NoModel when there is
// none, BadModel when its files are incomplete or contradict each other, BadUsage
// for options that cannot be had. Ending ctx stops it.
func Open(ctx context.Context, dir string, o Options) (*Model, error) {
	began := time.Now()
	f, err := models.Open(dir)
	if err != nil {
		return nil, modelError(dir, err)
	}
	return open(ctx, f, dir, began, o)
}

// OpenFS opens a model whose files are in a file system, such as the embedded one.
func OpenFS(ctx context.Context, fsys fs.FS, name string, o Options) (*Model, error) {
	began := time.Now()
	f, err := models.OpenFS(fsys, name)
	if err != nil {
		return nil, modelError(name, err)
	}
	return open(ctx, f, "", began, o)
}

func open(ctx context.Context, f *models.Folder, path string, began time.Time, o Options) (*Model, error) {
	f.Name = cmp.Or(o.Name, f.Name)
	m := &Model{folder: f, jobs: make(chan *job), closing: make(chan struct{}), ended: make(chan struct{})}
	if err := m.start(ctx, path, o); err != nil {
		close(m.ended)
		m.Close() //nolint:errcheck // the first error is the one to tell
		return nil, err
	}
	m.load.d = time.Since(began)
	go m.own()
	return m, nil
}

// start opens everything but the goroutine.
func (m *Model) start(ctx context.Context, path string, o Options) (err error) {
	if m.tok, err = tokenizer.Load(m.folder.Tokenizer); err != nil {
		return err
	}
	m.folder.Tokenizer = nil // 20 MB that nobody needs any more
	if err := m.checkTokens(); err != nil {
		return err
	}
	limit, err := tokenLimit(o.Limit, m.folder.Config.Positions)
	if err != nil {
		return err
	}
	if o.Device.Open == nil {
		o.Device = CPU(0)
	}
	if m.b, err = o.Device.Open(o.Precision); err != nil {
		return deviceError(o.Device.Name, err)
	}
	if err := m.reading(func() error { return m.loadWeights(ctx, o.Progress) }); err != nil {
		return err
	}
	if !o.Uncalibrated {
		t := cmp.Or(o.Temperature, m.folder.Card.Temperature)
		m.answer.Temperature = [3]float64{t, t, t}
	}
	m.describe(path, limit)
	return nil
}

func tokenLimit(asked, positions int) (int, error) {
	switch {
	case asked == 0:
		return min(DefaultLimit, positions), nil
	case asked < 0 || asked > MaxLimit:
		return 0, &engine.Error{Reason: engine.BadUsage, Message: fmt.Sprintf("The token limit %d must be between 1 and %d", asked, MaxLimit)}
	case asked > positions:
		return 0, &engine.Error{Reason: engine.BadUsage, Message: fmt.Sprintf("The token limit %d is more than the %d tokens that the model was made for", asked, positions)}
	}
	return asked, nil
}

// checkTokens makes sure that every token has an embedding, and that the tokens for
// images are the same to the tokenizer and to the backbone.
func (m *Model) checkTokens() error {
	c := m.folder.Config
	if n := m.tok.Size(); n > c.Vocab {
		return &engine.Error{
			Reason:  engine.BadModel,
			Message: fmt.Sprintf("%s: tokenizer.json has %d tokens, but the embedding table has only %d rows: they belong to different models", m.folder.Name, n, c.Vocab),
		}
	}
	if !m.folder.Vision() {
		return nil
	}
	if id, ok := m.tok.ID("<|image_pad|>"); !ok || id != c.ImageToken {
		return &engine.Error{
			Reason:  engine.BadModel,
			Message: fmt.Sprintf("%s: config.json says that token %d stands for an image, tokenizer.json does not: they belong to different models", m.folder.Name, c.ImageToken),
		}
	}
	return nil
}

func (m *Model) loadWeights(ctx context.Context, progress func(done, total int64)) (err error) {
	total := m.folder.WeightBytes()
	tell := func(done int64) {
		if progress != nil {
			progress(min(done, total), total)
		}
	}
	tell(0)
	if m.qwen, err = qwen.Load(ctx, m.b, m.folder, tell); err != nil {
		return loadError(ctx, m.folder.Name, err)
	}
	if m.head, err = head.Load(m.b, m.folder); err != nil {
		return loadError(ctx, m.folder.Name, err)
	}
	if m.folder.Vision() {
		if m.vision, err = vision.Load(m.b, m.folder); err != nil {
			return loadError(ctx, m.folder.Name, err)
		}
	}
	tell(total)
	return nil
}

func (m *Model) describe(path string, limit int) {
	f, b := m.folder, m.b.Info()
	m.info = engine.ModelInfo{
		Name: f.Name, Path: path, Description: f.Card.Description, Released: f.Card.Released,
		Layout: f.Layout, Precision: b.Precision, Device: b.Device, Practice: f.Card.Practice, PracticeNote: f.Card.PracticeNote,
		Temperature: m.answer.Temperature[0], Vision: f.Vision(), Limit: limit, DiskBytes: f.DiskBytes, WeightBytes: f.WeightBytes(),
	}
	if w, ok := m.b.(interface{ WeightBytes() int64 }); ok {
		m.info.WeightBytes = w.WeightBytes()
	}
}

// Info describes the open model.
func (m *Model) Info() engine.ModelInfo { return m.info }

// DeviceInfo describes the device that the model runs on.
func (m *Model) DeviceInfo() backend.Info { return m.b.Info() }

// Close waits for the running decision, refuses those that wait with ShuttingDown and
// gives everything back. It may be called more than once.
func (m *Model) Close() error {
	m.closed.Do(func() {
		close(m.closing)
		<-m.ended
		if m.b != nil {
			m.closeErr = m.b.Close()
		}
		if err := m.folder.Close(); m.closeErr == nil {
			m.closeErr = err
		}
	})
	return m.closeErr
}

// firstTime is a duration that is told once.
type firstTime struct {
	mu sync.Mutex
	d  time.Duration
}

func (f *firstTime) take() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.d
	f.d = 0
	return d
}
