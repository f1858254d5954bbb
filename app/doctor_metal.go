package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"clefbar/engine"
	"clefbar/metal"
	"clefbar/metal/gpu"
)

// The GPU that doctor --metal tests, under its word for --device. The emulator build has another.
var (
	gpuWord   = "metal"
	gpuDevice = metal.OpenDevice
	gpuSizes  = metal.TuneSizes
)

// examineGPU tests the GPU itself before any model: it prints a report that can be
// pasted as it is, and keeps the fastest tiles for later starts. With --json the
// report goes to stderr.
func (c *common) examineGPU(ctx context.Context) error {
	dev, err := gpuDevice()
	if err == nil {
		err = c.reportGPU(ctx, dev)
		if e := dev.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return &engine.Error{Reason: engine.Device, Message: "The GPU cannot be used: " + err.Error(), Err: err}
	}
	return nil
}

func (c *common) reportGPU(ctx context.Context, dev gpu.Device) error {
	var w io.Writer = os.Stdout
	if c.json {
		w = os.Stderr
	}
	err := metal.Doctor(ctx, w, dev, gpuSizes())
	fmt.Fprintln(w)
	return err
}
