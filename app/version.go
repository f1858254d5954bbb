package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for a release: -X main.version=v1.2.3.
var version string

// build describes this binary.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	System  string `json:"system"`
	Device  string `json:"device"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Device: deviceFound()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	b.Commit += dirty
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "dev"
	}
	return b
}

func newVersion(c *common) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, the commit and the device that computes",
		Example: "  clefbar version --json",
		Args:    exactly(0),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if c.json {
				return printJSON(b)
			}
			commit := b.Commit
			if commit == "" {
				commit = "unknown"
			}
			fmt.Fprintf(&stdout, "clefbar %s\ncommit  %s\ngo      %s %s\ndevice  %s\n", b.Version, commit, b.Go, b.System, b.Device)
			return nil
		},
	}
}
