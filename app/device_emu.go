//go:build emu

package main

import (
	"clefbar/engine/backend"
	"clefbar/engine/local"
	"clefbar/metal"
	"clefbar/metal/emu"
)

// The emulator build runs the GPU's kernels on the processor: slow, and without a Mac.
func init() {
	devices = append(devices, "emu")
	deviceFor["emu"] = func() (local.Device, error) {
		return local.Device{Name: "emu", Open: func(string) (backend.Backend, error) {
			dev, err := emu.NewDevice(emu.DeviceOptions{})
			if err != nil {
				return nil, err
			}
			return metal.New(dev, metal.Options{})
		}}, nil
	}
}
