package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"clefbar/app/worker"
	"clefbar/engine"
	"clefbar/models"
	"clefbar/models/hub"
	"clefbar/models/shelf"

	"github.com/mattn/go-isatty"
)

// library returns the models of this machine as the settings and flags say.
func (c *common) library() (*library, error) {
	set, err := loadSettings()
	if err != nil {
		return nil, err
	}
	return newLibrary(set, howToRun{device: c.device, precision: c.precision, uncalibrated: c.uncalibrated, force: c.force}), nil
}

// key returns the model that a command runs: --model, else the one that the request
// names, else the chosen one.
func (c *common) key(l *library, fromRequest string) (string, error) {
	if c.model != "" {
		return l.locate(c.model)
	}
	if l.Default(fromRequest) {
		return l.chosen(), nil
	}
	key, err := l.Resolve(fromRequest)
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Reason == engine.BadUsage {
		return "", &engine.Error{Reason: engine.NoModel, Message: e.Message + "; --model names another one"}
	}
	return key, err
}

// here returns the library and the model that a command looks at. A server's model is refused, in the words of refusal,
// whose %s is the server's address.
func (c *common) here(refusal string) (*library, string, error) {
	l, err := c.library()
	if err != nil {
		return nil, "", err
	}
	key, err := c.key(l, "")
	if err == nil && isURL(key) {
		err = usage(refusal, key)
	}
	return l, key, err
}

// open opens the model that a command runs, with progress on a terminal.
func (c *common) open(ctx context.Context, fromRequest string) (worker.Model, error) {
	l, err := c.library()
	if err != nil {
		return nil, err
	}
	key, err := c.key(l, fromRequest)
	if err != nil {
		return nil, err
	}
	return l.Open(ctx, key, c.openProgress())
}

// openProgress draws how far opening has come, on a terminal.
func (c *common) openProgress() func(done, total int64) { return c.percent("opening") }

// percent draws how far something long has come, on a terminal.
func (c *common) percent(doing string) func(done, total int64) {
	if c.quiet || !isatty.IsTerminal(os.Stderr.Fd()) {
		return func(int64, int64) {}
	}
	return func(done, total int64) {
		if total <= 0 {
			return
		}
		fmt.Fprintf(os.Stderr, "\r\x1b[K%s %d %%", doing, 100*done/total)
		if done >= total {
			fmt.Fprint(os.Stderr, "\r\x1b[K")
		}
	}
}

// Open opens the model of a key.
func (l *library) Open(ctx context.Context, key string, progress func(done, total int64)) (worker.Model, error) {
	if isURL(key) {
		return l.openServer(key)
	}
	if err := l.fits(ctx, key); err != nil {
		return nil, err
	}
	return l.openLocal(ctx, key, progress)
}

// fits refuses a model of the disk whose weights and working set are more than the
// machine can give, unless the person insists.
func (l *library) fits(ctx context.Context, key string) error {
	if l.how.force || key == etudeKey || l.insisted(key) {
		return nil
	}
	items, err := shelf.Scan(ctx, hub.Cache{}, []string{key})
	if err != nil || len(items) != 1 {
		return nil // it cannot be measured: opening it will say why
	}
	fit, err := l.fit(items[0].Memory(l.tokens(key)), 0)
	if err != nil || fit.Verdict() != shelf.TooMuch {
		return nil
	}
	return &engine.Error{Reason: engine.NoMemory, Message: fmt.Sprintf(
		"the model needs %s of memory and this machine can give %s: take a smaller one, or add --force to try",
		size(fit.Need), size(fit.Have))}
}

// modelError gives an error of package models its reason.
func modelError(what string, err error) error {
	e, ok := errors.AsType[*models.Error](err)
	if !ok {
		return err
	}
	reason := engine.BadModel
	if e.Kind == models.NotFound {
		reason = engine.NoModel
	}
	return &engine.Error{Reason: reason, Message: fmt.Sprintf("the model %s: %v", what, err), Err: err}
}

// deviceFound names what computes on this machine.
func deviceFound() string { return fmt.Sprintf("CPU, %d threads", runtime.NumCPU()) }
