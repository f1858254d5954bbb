package main

import (
	"errors"
	"runtime"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/engine/local"
	"clefbar/metal"
)

func init() {
	deviceFor["metal"] = func() (local.Device, error) { return local.Device{Name: "metal", Open: openMetal}, nil }
	if runtime.GOOS == "darwin" {
		deviceFor["auto"] = func() (local.Device, error) { return local.Device{Name: "auto", Open: openBest}, nil }
	}
}

// openMetal opens the GPU, which chooses its precision itself.
func openMetal(precision string) (backend.Backend, error) {
	if precision != "" && precision != "auto" {
		return nil, &engine.Error{
			Reason:  engine.BadUsage,
			Message: "--precision is for the processor: the GPU computes in float32, with half only where nothing is lost",
		}
	}
	b, err := metal.Open()
	if err != nil {
		return nil, err
	}
	return b, nil
}

// openBest opens the GPU, or the processor where there is no usable GPU or a precision was asked for.
func openBest(precision string) (backend.Backend, error) {
	if b, err := openMetal(precision); err == nil {
		return b, nil
	} else if errors.Is(err, backend.ErrMemory) {
		return nil, err
	}
	return local.CPU(0).Open(precision)
}
