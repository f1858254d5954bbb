package metal

import (
	"fmt"
	"strings"
	"testing"

	"clefbar/engine/backend/scalar"
	"clefbar/metal/emu"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// emulated opens a backend on an emulated device.
func emulated(t testing.TB, o emu.DeviceOptions) (*Backend, *emu.Device) {
	t.Helper()
	dev, err := emu.NewDevice(o)
	if err != nil {
		t.Skip(err)
	}
	b, err := New(dev, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, dev
}

// way is one way to compile and schedule kernels.
type way struct {
	name string
	emu.DeviceOptions
}

// ways are unchecked and checked, in every order, and the math modes that a Mac may choose.
func ways() []way {
	list := []way{
		{"fast forward", emu.DeviceOptions{}},
		{"fast reverse", emu.DeviceOptions{Order: emu.Reverse}},
		{"fast seeded", emu.DeviceOptions{Order: emu.Seeded, Seed: 11}},
		{"checked forward", emu.DeviceOptions{Options: emu.Options{Mode: emu.Checked}}},
		{"checked reverse", emu.DeviceOptions{Options: emu.Options{Mode: emu.Checked}, Order: emu.Reverse}},
	}
	if testing.Short() {
		return list[:3]
	}
	for seed := range uint32(3) {
		list = append(list, way{
			fmt.Sprintf("checked seed %d", seed+1),
			emu.DeviceOptions{Options: emu.Options{Mode: emu.Checked}, Order: emu.Seeded, Seed: seed + 1},
		})
	}
	return list
}

// TestOperations compares every operation with the scalar oracle, and all ways of
// running it with each other bit for bit.
func TestOperations(t *testing.T) {
	t.Parallel()
	for _, c := range scenarios() {
		t.Run(c.name, func(t *testing.T) {
			want, err := c.attempt(scalar.New())
			if err != nil {
				t.Fatal(err)
			}
			var first []float32
			for _, w := range ways() {
				b, _ := emulated(t, w.DeviceOptions)
				got, err := c.attempt(b)
				if err != nil {
					t.Fatalf("%s: %v", w.name, err)
				}
				if d := differ(got, want); d > c.within {
					t.Fatalf("%s: differs from the oracle by %g, want at most %g", w.name, d, c.within)
				}
				if first == nil {
					first = got
				} else if !sameBits(first, got) {
					t.Errorf("%s: other bits than the first way", w.name)
				}
			}
		})
	}
}

func skipInShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("kernels are compiled many times here; not with -short")
	}
}

// TestFastMath runs everything as Apple's compiler may: with fused multiply-adds and
// with fast math where the backend asks for it.
func TestFastMath(t *testing.T) {
	t.Parallel()
	skipInShort(t)
	for _, c := range scenarios() {
		want, err := c.attempt(scalar.New())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []emu.Math{emu.Contract, emu.FastMath} {
			b, _ := emulated(t, emu.DeviceOptions{Options: emu.Options{Math: m}})
			got, err := c.attempt(b)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if d := differ(got, want); d > c.within {
				t.Errorf("%s, math %d: differs from the oracle by %g, want at most %g", c.name, m, d, c.within)
			}
		}
	}
}

// TestWide runs everything with bfloat as the working type.
func TestWide(t *testing.T) {
	t.Parallel()
	for _, c := range scenarios() {
		want, err := c.attempt(scalar.New())
		if err != nil {
			t.Fatal(err)
		}
		b, _ := emulated(t, emu.DeviceOptions{})
		b.wide = true
		got, err := c.attempt(b)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d := differ(got, want); d > 10*c.within {
			t.Errorf("%s: differs from the oracle by %g, want at most %g", c.name, d, 10*c.within)
		}
	}
}

// TestEveryBarrierIsNeeded removes each barrier of each library in turn. Some
// scenario must notice.
func TestEveryBarrierIsNeeded(t *testing.T) {
	t.Parallel()
	skipInShort(t)
	if err := emu.Available(); err != nil {
		t.Skip(err)
	}
	for _, name := range kernels.Names() {
		source := kernels.Library{Name: name}.Source()
		for i := range len(barriers(source)) {
			if !noticed(t, name, i) {
				t.Errorf("%s: barrier %d of %d removed, not noticed", name, i+1, len(barriers(source)))
			}
		}
	}
}

// barriers returns where the barriers of a source are.
func barriers(source string) (at []int) {
	for i := range source {
		if strings.HasPrefix(source[i:], "threadgroup_barrier(") || strings.HasPrefix(source[i:], "simdgroup_barrier(") {
			at = append(at, i)
		}
	}
	return at
}

// noticed runs the scenarios of a library without its i-th barrier.
func noticed(t *testing.T, library string, i int) bool {
	o := emu.DeviceOptions{Options: emu.Options{Mode: emu.Checked}}
	o.Mutate = func(l kernels.Library, source string) string {
		if l.Name != library {
			return source
		}
		at := barriers(source)[i]
		end := at + strings.Index(source[at:], ";")
		return source[:at] + source[end:]
	}
	scene := library
	if library == "tensor" { // the products, on a GPU with tensor units
		scene, o.Family = "gemm", gpu.Apple10
	}
	for _, c := range scenarios() {
		if c.library != scene {
			continue
		}
		for _, order := range []emu.Order{emu.Forward, emu.Reverse, emu.Seeded} {
			o.Order, o.Seed = order, 3
			b, _ := emulated(t, o)
			if library == "tensor" { // the test at start has noticed something and given them up
				b.noTensor, b.table = nil, ShippedTensor()
			}
			if _, err := c.attempt(b); err != nil {
				return true
			}
		}
	}
	return false
}
