package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"clefbar/app/secret"
)

// serverKey is the place of our key for another server.
func serverKey(address string) secret.Store {
	return secret.Server(filepath.Dir(settingsFile()), address)
}

// keyOf returns the key that a server wants: the stored one, else CLEFBAR_SERVER_KEY, "" for none.
func (s settings) keyOf(address string) (string, error) {
	key, err := serverKey(address).Load()
	switch {
	case err == nil:
		return key, nil
	case !errors.Is(err, secret.ErrNone):
		return "", fmt.Errorf("the key of %s: %w", address, err)
	case s.OldKeys[address] != "":
		return s.OldKeys[address], nil
	}
	return os.Getenv("CLEFBAR_SERVER_KEY"), nil
}

// moveKeys takes the keys out of a settings file of an earlier version. One that cannot be stored stays where it is: it must
// not be lost.
func (s *settings) moveKeys() {
	for address, key := range s.OldKeys {
		if err := serverKey(address).Save(key); err != nil {
			slog.Warn("a server's key stays in the settings file", "server", address, "err", err)
			continue
		}
		delete(s.OldKeys, address)
	}
}
