//go:build emu

package main

import (
	"clefbar/engine/backend"
	"clefbar/engine/local"
	"clefbar/metal"
	"clefbar/metal/emu"
	"clefbar/metal/gpu"
)

// The emulator build runs the GPU's kernels on the processor: slow, and without a Mac.
func init() {
	devices = append(devices, "emu")
	deviceFor["emu"] = func() (local.Device, error) { return local.Device{Name: "emu", Open: openEmulator}, nil }
	gpuWord, gpuSizes = "emu", func() []metal.TuneSize { return nil }
	gpuDevice = func() (gpu.Device, error) { return emu.NewDevice(emu.DeviceOptions{}) }
}

func openEmulator(string) (backend.Backend, error) {
	dev, err := gpuDevice()
	if err != nil {
		return nil, err
	}
	return metal.New(dev, metal.Options{})
}
