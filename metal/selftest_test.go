package metal

import (
	"context"
	"strings"
	"testing"

	"clefbar/metal/emu"
	"clefbar/metal/kernels"
)

// TestSelfTest runs what a Mac owner runs, on the emulator, and with a kernel that is wrong.
func TestSelfTest(t *testing.T) {
	dev, err := emu.NewDevice(emu.DeviceOptions{})
	if err != nil {
		t.Skip(err)
	}
	r := SelfTest(context.Background(), dev)
	if !r.OK() || !strings.Contains(r.String(), " 0 failed") {
		t.Errorf("got\n%s\nwant every check to pass", r)
	}
	if got, want := len(r.Checks), len(scenarios())+5; got != want {
		t.Errorf("got %d checks, want %d", got, want)
	}
	dev, err = emu.NewDevice(emu.DeviceOptions{Mutate: func(l kernels.Library, source string) string {
		if l.Name == "conv" {
			return strings.Replace(source, "return x / (1.0f + exp(-x));", "return x / (1.0f + exp(x));", 1)
		}
		return source
	}})
	if err != nil {
		t.Fatal(err)
	}
	r = SelfTest(context.Background(), dev)
	failed := ""
	for _, c := range r.Checks {
		if !c.OK {
			failed += c.Name + ";"
		}
	}
	if failed != "convolution;norm gate;" {
		t.Errorf("a wrong SiLU: got failures %q, want the convolution and the norm gate", failed)
	}
}

// TestLanes: another arrangement of fragments is noticed.
func TestLanes(t *testing.T) {
	dev, err := emu.NewDevice(emu.DeviceOptions{Mutate: func(l kernels.Library, source string) string {
		return strings.Replace(source, "out[lane * 2] = m", "out[(lane ^ 1) * 2] = m", 1)
	}})
	if err != nil {
		t.Skip(err)
	}
	if _, err := New(dev, Options{}); err == nil || !strings.Contains(err.Error(), "lane") {
		t.Errorf("got %v, want an error about lanes", err)
	}
}
