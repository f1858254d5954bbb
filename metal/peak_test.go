package metal

import (
	"testing"
	"time"

	"clefbar/engine/bench"
	"clefbar/metal/emu"
)

var _ bench.Meter = (*Backend)(nil)

// TestPeakKernel: the launch that measures the peak does the arithmetic that is counted.
func TestPeakKernel(t *testing.T) {
	for _, mode := range []emu.Mode{emu.Fast, emu.Checked} {
		dev, err := emu.NewDevice(emu.DeviceOptions{Options: emu.Options{Mode: mode}, Order: emu.Seeded, Seed: 1})
		if err != nil {
			t.Skip(err)
		}
		if took, err := runPeak(dev, 2); err != nil || took <= 0 {
			t.Errorf("got %v, %v, want some time", took, err)
		}
	}
}

// TestMeter: operations are those of the products, without padding; on an emulated GPU
// there is no peak to compare them with.
func TestMeter(t *testing.T) {
	const n = 70
	m, b, _ := backbone(t, "tiny-9b-shape-mlx-4bit", emu.DeviceOptions{})
	before := b.Operations()
	hidden(t, m, b, tokens(n), nil)
	const (
		hid, mlp         = 64, 192
		qkv, values      = 2*2*64 + 4*64, 4 * 64
		queries, keys    = 8 * 64, 2 * 64
		delta, attention = hid*(qkv+values+2*4) + values*hid, hid*(2*queries+2*keys) + queries*hid
	)
	if got, want := b.Operations()-before, 2.0*n*(6*delta+2*attention+8*3*hid*mlp); got != want {
		t.Errorf("got %g operations, want %g", got, want)
	}
	if got := b.Peak("f16", time.Millisecond); got != 0 {
		t.Errorf("got a peak of %g operations a second on an emulated GPU, want none", got)
	}
}
