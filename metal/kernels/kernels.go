// Package kernels holds the Metal sources of the GPU backend and says how they are
// put together: a library is the prelude and one or more sources, compiled at run
// time with a few macros that fix element types and tile shapes. What varies more
// finely is a function constant.
package kernels

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.metal
var sources embed.FS

// Library names a compiled unit: sources and the macros they are compiled with. It
// is comparable, so that it can be a map key.
type Library struct {
	Name string // "gemm", "tensor", "norm", …
	Wide bool   // Work is bfloat, not half

	Exact          bool // attention of float queries and keys
	Weights        int  // operands of a matrix product that weights become: 0 half, 1 bfloat, 2 float
	Head           int  // head size (attention, prepare)
	KeyDim, ValDim int  // head sizes of the delta rule
	Tile           Tile // of a matrix product
}

// Tile is the shape of a matrix product: BM x BN outputs of a threadgroup of WM x WN
// simdgroups, BK of the depth at a time. Ahead reads the next BK while these are multiplied.
type Tile struct {
	BM, BN, BK, WM, WN int
	Ahead              bool `json:",omitempty"`
}

// Threads returns the threads of a threadgroup.
func (t Tile) Threads() int { return t.WM * t.WN * 32 }

// String returns the tile as "64x64x32 2x2", with "ahead" if it reads ahead.
func (t Tile) String() string {
	s := fmt.Sprintf("%dx%dx%d %dx%d", t.BM, t.BN, t.BK, t.WM, t.WN)
	if t.Ahead {
		s += " ahead"
	}
	return s
}

// files are the sources of a library after the prelude.
var files = map[string][]string{
	"gemm": {"weights", "gemm"}, "tensor": {"weights", "tensor"}, "direct": {"weights", "direct"}, "expand": {"weights", "expand"}, "norm": {"norm"}, "rows": {"rows"}, "conv": {"conv"}, "prepare": {"prepare"},
	"attention": {"attention"}, "delta": {"delta", "chunk"}, "selftest": {"selftest"}, "peak": {"peak"},
}

// Names returns the names of all libraries, sorted.
func Names() []string { return slices.Sorted(maps.Keys(files)) }

// Source returns the text to compile. Line directives keep the file names, so that
// messages of a compiler point into the files of this folder.
func (l Library) Source() string {
	var b strings.Builder
	for _, name := range append([]string{"prelude"}, files[l.Name]...) {
		text, err := sources.ReadFile(name + ".metal")
		if err != nil {
			panic("kernels: no source " + name) // the table above names embedded files only
		}
		fmt.Fprintf(&b, "#line 1 %q\n%s\n", name+".metal", text)
	}
	return b.String()
}

// Hash identifies the text of all sources.
func Hash() string {
	h := sha256.New()
	for _, name := range Names() {
		fmt.Fprintf(h, "%s\x00%s\x00", name, Library{Name: name}.Source())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Defines returns the macros of the library.
func (l Library) Defines() map[string]string {
	flag := func(v bool) string { return map[bool]string{false: "0", true: "1"}[v] }
	d := map[string]string{"WIDE": flag(l.Wide)}
	switch l.Name {
	case "gemm", "direct", "tensor":
		d["WEIGHTS"], d["AHEAD"] = strconv.Itoa(l.Weights), flag(l.Tile.Ahead)
		for k, v := range map[string]int{"BM": l.Tile.BM, "BN": l.Tile.BN, "BK": l.Tile.BK, "WM": l.Tile.WM, "WN": l.Tile.WN} {
			d[k] = strconv.Itoa(v)
		}
	case "attention":
		d["EXACT"], d["D"] = flag(l.Exact), strconv.Itoa(l.Head)
	case "prepare":
		d["D"] = strconv.Itoa(l.Head)
	case "delta":
		d["KD"], d["VD"] = strconv.Itoa(l.KeyDim), strconv.Itoa(l.ValDim)
	}
	return d
}

// Fast reports whether the library may be compiled with fast math: where infinities
// and exact rounding play no part.
func (l Library) Fast() bool { return l.Name == "gemm" || l.Name == "direct" || l.Name == "tensor" }

// Tensor reports whether the library is for tensor units, which need Metal 4 (macOS 26.2).
func (l Library) Tensor() bool { return l.Name == "tensor" }

// Kernel is a function of a library with its function constants by index. Booleans
// are 0 and 1. It is comparable.
type Kernel struct {
	Library
	Function  string
	Constants [8]uint32
	Count     int // constants in use
}

var declaration = regexp.MustCompile(`(?m)^constant (bool|uint) \w+ \[\[function_constant\((\d+)\)\]\];`)

// Bools says which function constants of the library are declared bool, by index;
// the others are uint. Metal wants to know when it is given their values.
func (l Library) Bools() map[int]bool {
	all := map[int]bool{}
	for _, m := range declaration.FindAllStringSubmatch(l.Source(), -1) {
		i, _ := strconv.Atoi(m[2]) // digits, by the expression
		all[i] = m[1] == "bool"
	}
	return all
}

// Threads returns the threads of a threadgroup where the library decides them, else 0.
func (l Library) Threads() int { return l.Tile.Threads() }

// Text returns the source with the macros in front, for a compiler that takes one string.
func (l Library) Text() string {
	var b strings.Builder
	d := l.Defines()
	for _, k := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&b, "#define %s %s\n", k, d[k])
	}
	return b.String() + l.Source()
}
