package secret

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// file keeps a key in a file of mode 0600.
type file struct{ path string }

// Load reads the key. A file that others can read is closed to them first.
func (f file) Load() (string, error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return "", ErrNone
	}
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(f.path, 0o600); err != nil {
			return "", fmt.Errorf("the key file can be read by others: %w", err)
		}
	}
	return ReadFile(f.path)
}

// Save writes the key to a file beside the old one and then takes its place, so that
// a crash leaves one of the two.
func (f file) Save(key string) error {
	if err := Check(key); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("store the key: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.path), ".key-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("store the key: %w", err)
	}
	defer os.Remove(tmp.Name()) // nothing is left of it once it was renamed
	_, err = tmp.WriteString(key + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("store the key: %w", err)
	}
	if err := os.Rename(tmp.Name(), f.path); err != nil {
		return fmt.Errorf("store the key: %w", err)
	}
	return nil
}

// Delete removes the file.
func (f file) Delete() error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the key: %w", err)
	}
	return nil
}
