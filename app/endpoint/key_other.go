//go:build !darwin

package endpoint

import (
	"path/filepath"

	"github.com/adrg/xdg"
)

// Keys returns the place where this system keeps the endpoint's key.
func Keys() KeyStore {
	return fileKeys{filepath.Join(xdg.ConfigHome, program, "endpoint-key")}
}
