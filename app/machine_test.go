package main

import (
	"runtime"
	"strings"
	"testing"

	"clefbar/engine/bench"
)

// TestShortName: a machine's memory reads as its owner knows it, and nowhere smaller than the part that models may have.
func TestShortName(t *testing.T) {
	for _, c := range []struct {
		memory   int64
		mac, any string
	}{
		{0, "M2 Max", "M2 Max"},
		{34359738368, "M2 Max, 32 GB", "M2 Max, 34 GB"},
		{25_275_604_992, "M2 Max, 24 GB", "M2 Max, 25 GB"},
	} {
		m := machineFacts{Machine: bench.Machine{Processor: "M2 Max"}, Memory: c.memory}
		want := c.any
		if runtime.GOOS == "darwin" {
			want = c.mac
		}
		if got := m.short(); !strings.HasSuffix(got, want) {
			t.Errorf("%d bytes: got %q, want %q", c.memory, got, want)
		}
	}
}
