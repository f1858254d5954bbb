//go:build !darwin

package metal

import (
	"errors"

	"clefbar/metal/gpu"
)

// OpenDevice opens the Mac's GPU; elsewhere there is none.
func OpenDevice() (gpu.Device, error) { return nil, errors.New("the GPU backend needs macOS") }

// Footprint is the memory that the system charges this process with, 0 if unknown.
func Footprint() int64 { return 0 }

func systemVersion() string { return "" }

func hot() bool { return false }
