// Package secret keeps keys between starts: in the Keychain on macOS, in files that only their owner can read
// elsewhere. They are in no settings file, which people copy and show.
package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ErrNone says that no key is stored.
var ErrNone = errors.New("no key is stored")

// Store keeps one key.
type Store interface {
	Load() (string, error) // ErrNone if there is none
	Save(key string) error
	Delete() error // no error if there is none
}

// New returns a fresh key of 192 random bits.
func New() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	return "clef_" + base64.RawURLEncoding.EncodeToString(b[:])
}

// Check returns an error unless clients can send key: the official ones insist on
// ASCII without spaces.
func Check(key string) error {
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

// ReadFile reads a key from a file: its first line, without white space around it.
func ReadFile(name string) (string, error) {
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
	if err := Check(key); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return key, nil
}
