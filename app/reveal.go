package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
)

// reveal shows a folder in the file manager. The path is an argument of its own: no shell reads it.
func reveal(dir string) error {
	args := revealCommand(runtime.GOOS, dir)
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// revealCommand selects the folder in the Finder, and opens it elsewhere: no tool that is everywhere can select.
func revealCommand(system, dir string) []string {
	if system == "darwin" {
		return []string{"/usr/bin/open", "-R", dir}
	}
	return []string{"xdg-open", dir}
}
