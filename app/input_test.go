package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A command that waits for its input ends at the first interrupt.
func TestInterruptWhileReading(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("skipped: no named pipes here: %v", err)
	}
	for name, args := range map[string][]string{
		"stdin": {"decide", "-"},
		"state": {"decide", "--state", "@" + pipe, "--noul", "q"},
		"eval":  {"eval", pipe},
		"zero":  {"eval", "/dev/zero"},
		"image": {"decide", "--state", "x", "--noul", "q", "--image", pipe},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := program(t, args...)
			silent, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(500 * time.Millisecond) // until it reads
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code says how it ended
			if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
				t.Errorf("got exit code %d, want %d", got, exitInterrupted)
			}
		})
	}
}

// An answer that could not be written is no success.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("skipped: no /dev/full here: %v", err)
	}
	defer full.Close()
	question := []string{"--state", "x", "--noul", "q"}
	for _, args := range [][]string{
		append([]string{"decide"}, question...),
		append([]string{"decide", "--json=false"}, question...),
		append([]string{"encode", "--json=false"}, question...),
		{"models", "--json=false"},
		{"models", "path"},
		{"version", "--json=false"},
		{"--help"},
	} {
		cmd := program(t, args...)
		var errs strings.Builder
		cmd.Stdout, cmd.Stderr = full, &errs
		_ = cmd.Run() // the exit code says how it ended
		if got := cmd.ProcessState.ExitCode(); got != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: got exit code %d and %q, want %d and the reason", args, got, errs.String(), exitFailed)
		}
	}
}
