//go:build unix

package models

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe, a device or a folder in place of any file is refused by name. Opening a pipe would never return.
func TestNotAFile(t *testing.T) {
	for name := range small {
		for what, place := range map[string]func(string) error{
			"pipe":   func(p string) error { return syscall.Mkfifo(p, 0o600) },
			"device": func(p string) error { return os.Symlink("/dev/zero", p) },
			"folder": func(p string) error { return os.Mkdir(p, 0o700) },
			"loop":   func(p string) error { return os.Symlink(p, p) },
		} {
			t.Run(what+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				for other, file := range small {
					if other == name {
						continue
					}
					if err := os.WriteFile(filepath.Join(dir, other), file.Data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if err := place(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
				if _, err := ReadTokenizer(dir); (err != nil) != (name == "tokenizer.json") {
					t.Errorf("ReadTokenizer: got %v", err)
				}
				f, err := Open(dir)
				if err == nil {
					_ = f.Close() // it should not have opened
				}
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("got %v, want an error that names %s", err, name)
				}
			})
		}
	}
}
