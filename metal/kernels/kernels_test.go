package kernels_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"clefbar/metal/emu"
	"clefbar/metal/kernels"
)

// libraries is one of each kind, in the shapes that differ most.
func libraries() []kernels.Library {
	tile := kernels.Tile{BM: 64, BN: 64, BK: 32, WM: 2, WN: 2}
	return []kernels.Library{
		{Name: "norm"},
		{Name: "rows"},
		{Name: "conv"},
		{Name: "selftest"},
		{Name: "peak"},
		{Name: "rows", Wide: true},
		{Name: "gemm", Tile: tile},
		{Name: "gemm", Tile: kernels.Tile{BM: 64, BN: 64, BK: 32, WM: 2, WN: 2, Ahead: true}, Weights: 1},
		{Name: "gemm", Tile: tile, Weights: 2},
		{Name: "tensor", Tile: kernels.Tile{BM: 64, BN: 128, BK: 32, WM: 2, WN: 2}},
		{Name: "tensor", Tile: tile, Weights: 1},
		{Name: "tensor", Tile: tile, Weights: 2},
		{Name: "direct", Tile: kernels.Tile{BM: 32, BN: 32, BK: 8, WM: 1, WN: 1}},
		{Name: "direct", Tile: kernels.Tile{BM: 64, BN: 32, BK: 8, WM: 2, WN: 1}, Weights: 1},
		{Name: "expand"},
		{Name: "attention", Head: 256},
		{Name: "attention", Head: 72, Exact: true},
		{Name: "attention", Head: 64, Wide: true},
		{Name: "prepare", Head: 256},
		{Name: "prepare", Head: 64, Wide: true},
		{Name: "delta", KeyDim: 128, ValDim: 128},
	}
}

// TestStrict: every source type-checks with real address spaces.
func TestStrict(t *testing.T) {
	if err := emu.Available(); err != nil {
		t.Skip(err)
	}
	for _, l := range libraries() {
		problems, err := emu.Strict(l.Name+".metal", l.Source(), emu.Options{Define: l.Defines()})
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) > 0 {
			t.Errorf("%+v: got\n%s\nwant no problems", l, strings.Join(problems, "\n"))
		}
	}
}

// TestNamesAreSources: every library has a source.
func TestNamesAreSources(t *testing.T) {
	for _, name := range kernels.Names() {
		if s := (kernels.Library{Name: name}).Source(); !strings.Contains(s, "kernel void") {
			t.Errorf("library %s has no kernel", name)
		}
	}
}

// TestBools: every function constant of a source is found, with its type.
func TestBools(t *testing.T) {
	for _, name := range kernels.Names() {
		l := kernels.Library{Name: name}
		if got, want := len(l.Bools()), strings.Count(l.Source(), "[[function_constant("); name != "gemm" && name != "tensor" && name != "expand" && name != "direct" && name != "conv" && name != "attention" && name != "delta" && got != want {
			t.Errorf("%s: got %d function constants, want %d", name, got, want)
		}
	}
	if got := (kernels.Library{Name: "gemm"}).Bools(); len(got) != 7 || !got[3] || got[0] {
		t.Errorf("gemm: got %v, want 7 constants of which 3 is bool", got)
	}
	if got := (kernels.Library{Name: "conv"}).Bools(); len(got) != 4 || !got[0] || !got[3] {
		t.Errorf("conv: got %v, want 4 bools", got)
	}
}

var update = flag.Bool("update", false, "rewrite testdata/signatures.txt")

// TestSignatures holds the arguments of every kernel as compiled, so that a review
// sees what changes for the host.
func TestSignatures(t *testing.T) {
	if err := emu.Available(); err != nil {
		t.Skip(err)
	}
	var b strings.Builder
	for _, l := range libraries() {
		if l.Wide || l.Weights != 0 || l.Name == "attention" && l.Exact {
			continue // the same arguments
		}
		library, err := emu.Compile(l.Name+".metal", l.Source(), emu.Options{Define: l.Defines()})
		if err != nil {
			t.Fatal(err)
		}
		all, err := library.Signatures()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&b, "%s\n", name)
			for _, a := range all[name] {
				if a.Kind == "buffer" {
					fmt.Fprintf(&b, "\t%2d %-9s %s, %d bytes%s%s\n", a.Index, a.Name, a.Type, a.ElemSize,
						map[bool]string{true: "", false: ", written"}[a.Readonly], strings.TrimSuffix(", if "+a.OnlyIf, ", if "))
				}
			}
		}
	}
	const path = "testdata/signatures.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the arguments of the kernels have changed (go test ./metal/kernels -update rewrites them):\n%s", b.String())
	}
}
