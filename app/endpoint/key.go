package endpoint

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoKey says that no key is stored.
var ErrNoKey = errors.New("no key is stored")

// KeyStore keeps the endpoint's key between starts: in the Keychain on macOS, in a
// file that only its owner can read elsewhere.
type KeyStore interface {
	Load() (string, error) // ErrNoKey if there is none
	Save(key string) error
	Delete() error // no error if there is none
}

// NewKey returns a fresh key of 192 random bits.
func NewKey() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	return "clef_" + base64.RawURLEncoding.EncodeToString(b[:])
}

// CheckKey returns an error unless clients can send key: the official ones insist on
// ASCII without spaces.
func CheckKey(key string) error {
	if key == "" {
		return errors.New("the key is empty")
	}
	if len(key) > 1024 {
		return errors.New("the key is longer than 1024 characters")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the key may hold only visible ASCII characters and no spaces")
	}
	return nil
}

// ReadKeyFile reads a key from a file: its first line, without white space around it.
func ReadKeyFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 64<<10)) // a device may never end
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	key := strings.TrimSpace(first)
	if err := CheckKey(key); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}

// fileKeys keeps the key in a file of mode 0600.
type fileKeys struct{ path string }

// Load reads the key. A file that others can read is closed to them first.
func (f fileKeys) Load() (string, error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return "", ErrNoKey
	}
	if err != nil {
		return "", fmt.Errorf("read the key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(f.path, 0o600); err != nil {
			return "", fmt.Errorf("the key file can be read by others: %w", err)
		}
	}
	return ReadKeyFile(f.path)
}

// Save writes the key to a file beside the old one and then takes its place, so that
// a crash leaves one of the two.
func (f fileKeys) Save(key string) error {
	if err := CheckKey(key); err != nil {
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
func (f fileKeys) Delete() error {
	if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the key: %w", err)
	}
	return nil
}
