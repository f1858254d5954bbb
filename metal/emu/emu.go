// Package emu runs Metal compute kernels on the CPU, so that the sources that a Mac
// compiles can be tested without one. It compiles a .metal source with clang, runs
// dispatches with one fiber per GPU thread, and reports the mistakes that a GPU
// would hide: races, barriers that some threads miss, accesses out of bounds,
// uninitialised threadgroup memory, arguments that do not match.
//
// A source goes through up to three compilations of the same text: Strict checks
// the types with real address spaces and generates nothing, Fast is for numbers,
// Checked instruments every memory access. What it cannot prove: that Apple's
// compiler accepts the source, speed, register pressure.
//
// It needs Linux on x86-64 with clang 15 or later; elsewhere Available says what is
// missing. Only tests and the emulator build link it.
package emu

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// Mode selects how a source is compiled.
type Mode int

// The modes.
const (
	Fast    Mode = iota // optimised, unchecked: numbers and whole forward passes
	Checked             // every memory access is checked: bounds, races, uninitialised reads
)

// Math selects how freely the compiler may treat floating point. Metal's default is
// FastMath; results that differ between the modes depend on exact rounding or on
// infinities.
type Math int

// The math modes.
const (
	SafeMath Math = iota
	Contract      // multiply-add may be fused
	FastMath      // -ffast-math
)

// Options describe one compilation.
type Options struct {
	Mode   Mode
	Math   Math
	Define map[string]string // preprocessor macros
}

// oldestClang is the first release whose _Float16 can be told to round every operation on x86-64.
const oldestClang = 15

// clang finds the newest installed compiler once.
var clang = sync.OnceValues(func() (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("the Metal emulator runs on Linux x86-64 only, not on %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	names := []string{}
	for v := 25; v >= oldestClang; v-- {
		names = append(names, "clang++-"+strconv.Itoa(v))
	}
	for _, n := range append(names, "clang++") {
		path, err := exec.LookPath(n)
		if err == nil && clangVersion(path) >= oldestClang {
			return path, nil
		}
	}
	return "", fmt.Errorf("the Metal emulator needs clang %d or later (Debian: apt-get install clang-19 g++)", oldestClang)
})

// clangVersion returns the major version of a compiler, 0 if it does not say.
func clangVersion(path string) int {
	out, err := exec.Command(path, "-dumpversion").Output()
	if err != nil {
		return 0
	}
	major, _, _ := strings.Cut(string(out), ".")
	v, _ := strconv.Atoi(strings.TrimSpace(major))
	return v
}

// Available returns nil if kernels can be compiled and run here, else the reason.
func Available() error {
	_, err := clang()
	return err
}

// workers is the number of OS threads a dispatch runs on.
func workers() int { return max(1, min(runtime.NumCPU(), 16)) }

// cacheRoot is where compiled kernels are kept between runs.
func cacheRoot() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	dir += "/clefbar/metal-emulator"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder of the emulator: %w", err)
	}
	return dir, nil
}
