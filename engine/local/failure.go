package local

import (
	"context"
	"errors"
	"fmt"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/models"
)

// reasons says what each problem of a model folder means to a caller.
var reasons = map[models.Kind]engine.Reason{
	models.NotFound:    engine.NoModel,
	models.Unreadable:  engine.NoModel,
	models.Vanished:    engine.NoModel,
	models.Incomplete:  engine.BadModel,
	models.Malformed:   engine.BadModel,
	models.Mismatch:    engine.BadModel,
	models.Unsupported: engine.BadModel,
	models.NoHead:      engine.BadModel,
}

// modelError turns an error of package models into one that crosses rooms.
func modelError(name string, err error) error {
	reason := engine.Failed
	if e, ok := errors.AsType[*models.Error](err); ok {
		reason = reasons[e.Kind]
	}
	return &engine.Error{Reason: reason, Message: fmt.Sprintf("The model %s cannot be used: %v", name, err), Err: err}
}

// loadError is a failure to take weights in.
func loadError(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	if errors.Is(err, backend.ErrMemory) {
		return &engine.Error{Reason: engine.NoMemory, Message: fmt.Sprintf("The model %s does not fit: %v", name, err), Err: err}
	}
	return &engine.Error{Reason: engine.BadModel, Message: fmt.Sprintf("The model %s cannot be used: %v", name, err), Err: err}
}

// deviceError is a failure to open a device.
func deviceError(name string, err error) error {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e
	}
	return &engine.Error{Reason: engine.Device, Message: fmt.Sprintf("The device %s cannot be opened: %v", name, err), Err: err}
}

// runError is a failure of a decision. broken is what the device says about the run:
// without it the failure is a defect of ours.
func runError(err, broken error) error {
	if _, ok := errors.AsType[*engine.Error](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	switch {
	case errors.Is(err, backend.ErrMemory):
		return &engine.Error{Reason: engine.NoMemory, Message: fmt.Sprintf("The request does not fit into memory: %v. Shorten it or choose a smaller model", err), Err: err}
	case broken != nil:
		return &engine.Error{Reason: engine.Device, Message: fmt.Sprintf("The device failed: %v", err), Err: err}
	}
	return &engine.Error{Reason: engine.Failed, Message: fmt.Sprintf("The decision failed: %v", err), Err: err}
}

// stopped wraps the end of a context, and its cause where there is one.
func stopped(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("the decision was stopped: %w (%w)", ctx.Err(), cause)
	}
	return fmt.Errorf("the decision was stopped: %w", ctx.Err())
}
