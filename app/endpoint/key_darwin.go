package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// keychain keeps the key as a generic password in the login keychain, through the
// security tool, which owns the item: a newly signed Clefbar need not ask for access.
type keychain struct{}

const (
	keychainTool    = "/usr/bin/security"
	keychainService = "org.clefbar.endpoint"
	keychainMissing = 44 // exit code of errSecItemNotFound
)

// Keys returns the place where this system keeps the endpoint's key.
func Keys() KeyStore { return keychain{} }

// Load asks the keychain for the key.
func (keychain) Load() (string, error) {
	out, err := exec.Command(keychainTool, "find-generic-password", "-a", program, "-s", keychainService, "-w").Output()
	if missing(err) {
		return "", ErrNoKey
	}
	if err != nil {
		return "", fmt.Errorf("read the key from the keychain: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Save stores the key. It goes to the tool on its input: arguments can be seen by
// every process.
func (keychain) Save(key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	cmd := exec.Command(keychainTool, "-i")
	cmd.Stdin = strings.NewReader("add-generic-password -U -a " + program + " -s " + keychainService + " -w " + quoted + "\n")
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("returned -")) {
		return errors.Join(errors.New("the keychain did not take the key"), err)
	}
	return nil
}

// Delete removes the key.
func (keychain) Delete() error {
	err := exec.Command(keychainTool, "delete-generic-password", "-a", program, "-s", keychainService).Run()
	if err != nil && !missing(err) {
		return fmt.Errorf("remove the key from the keychain: %w", err)
	}
	return nil
}

func missing(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == keychainMissing
}
