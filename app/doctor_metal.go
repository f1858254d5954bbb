package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"clefbar/engine"
	"clefbar/metal"
)

// examineGPU tests the GPU itself before any model: it prints a report that can be
// pasted as it is, and keeps the fastest tiles for later starts. With --json the
// report goes to stderr.
func (c *common) examineGPU(ctx context.Context) error {
	var w io.Writer = os.Stdout
	if c.json {
		w = os.Stderr
	}
	if err := metal.Doctor(ctx, w); err != nil {
		return &engine.Error{Reason: engine.Device, Message: "The GPU cannot be used: " + err.Error(), Err: err}
	}
	fmt.Fprintln(w)
	return nil
}
