package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"clefbar/engine"
)

// The exit codes of every command.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInvalid     = 3
	exitModel       = 4
	exitTooLong     = 5
	exitInterrupted = 130
)

// exits maps reasons to exit codes. A reason that is not here is exitFailed.
var exits = map[engine.Reason]int{
	engine.Invalid:  exitInvalid,
	engine.BadUsage: exitInvalid,
	engine.NoModel:  exitModel,
	engine.BadModel: exitModel,
	engine.TooLong:  exitTooLong,
}

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	if isUsage(err) {
		return exitUsage
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	if code, ok := exits[engine.ReasonOf(err)]; ok {
		return code
	}
	return exitFailed
}

// exitError is an exit code without a message: the command has said all there is.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report prints err for a person and returns the exit code.
func report(w io.Writer, err error) int {
	code := exitCode(err)
	if _, silent := errors.AsType[exitError](err); err == nil || silent {
		return code
	}
	if code == exitInterrupted {
		fmt.Fprintln(w, "clefbar: interrupted")
		return code
	}
	e, ok := errors.AsType[*engine.Error](err)
	switch {
	case ok && e.Reason == engine.Invalid && len(e.Details) > 0:
		for _, d := range e.Details {
			fmt.Fprintf(w, "clefbar: %s: %s\n", clean(d.Path()), clean(d.Msg))
		}
	default:
		fmt.Fprintf(w, "clefbar: %s\n", clean(err.Error()))
	}
	return code
}
