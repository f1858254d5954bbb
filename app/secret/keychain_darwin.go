package secret

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// keychain keeps a key as a generic password in the login keychain, through the
// security tool, which owns the item: a newly signed Clefbar need not ask for access.
type keychain struct{ service, account string }

const (
	keychainTool    = "/usr/bin/security"
	keychainMissing = 44 // exit code of errSecItemNotFound
)

// Endpoint returns the place of the key that callers of our endpoint need.
func Endpoint(string) Store { return keychain{"org.clefbar.endpoint", "clefbar"} }

// Server returns the place of our key for another server.
func Server(_, address string) Store { return keychain{"org.clefbar.server", address} }

// Load asks the keychain for the key.
func (k keychain) Load() (string, error) {
	out, err := exec.Command(keychainTool, "find-generic-password", "-a", k.account, "-s", k.service, "-w").Output()
	if missing(err) {
		return "", ErrNone
	}
	if err != nil {
		return "", fmt.Errorf("read the key from the keychain: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Save stores the key. It goes to the tool on its input: arguments can be seen by
// every process.
func (k keychain) Save(key string) error {
	if err := Check(key); err != nil {
		return err
	}
	if strings.ContainsFunc(k.account, func(r rune) bool { return r < ' ' }) {
		return errors.New("the keychain takes no name with line breaks in it")
	}
	cmd := exec.Command(keychainTool, "-i")
	cmd.Stdin = strings.NewReader("add-generic-password -U -a " + quoted(k.account) + " -s " + k.service + " -w " + quoted(key) + "\n")
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("returned -")) {
		return errors.Join(errors.New("the keychain did not take the key"), err)
	}
	return nil
}

// quoted writes a word of the tool's command language.
func quoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}

// Delete removes the key.
func (k keychain) Delete() error {
	err := exec.Command(keychainTool, "delete-generic-password", "-a", k.account, "-s", k.service).Run()
	if err != nil && !missing(err) {
		return fmt.Errorf("remove the key from the keychain: %w", err)
	}
	return nil
}

func missing(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == keychainMissing
}
