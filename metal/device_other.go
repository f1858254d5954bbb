//go:build !darwin

package metal

import (
	"errors"

	"clefbar/metal/gpu"
)

// OpenDevice opens the Mac's GPU; elsewhere there is none.
func OpenDevice() (gpu.Device, error) { return nil, errors.New("the GPU backend needs macOS") }

func systemVersion() string { return "" }

func hot() bool { return false }
