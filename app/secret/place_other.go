//go:build !darwin

package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// Endpoint returns the place of the key that callers of our endpoint need. dir is the program's own folder.
func Endpoint(dir string) Store { return file{filepath.Join(dir, "endpoint-key")} }

// Server returns the place of our key for another server. dir is the program's own folder.
func Server(dir, address string) Store {
	sum := sha256.Sum256([]byte(address))
	return file{filepath.Join(dir, "server-keys", hex.EncodeToString(sum[:16]))}
}
