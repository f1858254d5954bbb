package emu

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a compiled source. Function constants and findings are state of the
// library, so its methods run one at a time.
type Library struct {
	path string
	mode Mode

	mu          sync.Mutex
	dispatch    uintptr
	setConstant func(name *byte, index int32, value float64, defined int32) int32
	unset       func() *byte
	apply       func()
	log         func() *byte
	signatures  func() *byte
}

// load opens a compiled library. It stays open until the process ends: its workers keep their stacks.
func load(path string, mode Mode) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("open compiled kernels: %w", err)
	}
	l := &Library{path: path, mode: mode}
	purego.RegisterLibFunc(&l.setConstant, handle, "msl_set_const")
	purego.RegisterLibFunc(&l.apply, handle, "msl_apply_consts")
	purego.RegisterLibFunc(&l.log, handle, "msl_log")
	purego.RegisterLibFunc(&l.signatures, handle, "msl_signatures")
	purego.RegisterLibFunc(&l.unset, handle, "msl_unset_consts")
	if l.dispatch, err = purego.Dlsym(handle, "msl_dispatch"); err != nil {
		return nil, fmt.Errorf("open compiled kernels: %w", err)
	}
	return l, nil
}

// cString returns s with a terminating zero.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }

func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// SetConstants gives function constants their values by index, as
// MTLFunctionConstantValues does; booleans are 0 and 1. Values stay until set again.
func (l *Library) SetConstants(values map[int]float64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.setConstants(values)
}

func (l *Library) setConstants(values map[int]float64) error {
	for i, v := range values {
		if l.setConstant(nil, int32(i), v, 1) == 0 {
			return fmt.Errorf("no function constant with index %d", i)
		}
	}
	l.apply()
	return nil
}

// UnsetConstants lists the function constants that have no value. A Mac refuses to
// make a pipeline that uses one of them.
func (l *Library) UnsetConstants() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Fields(goString(l.unset()))
}

// Argument describes one kernel argument as compiled.
type Argument struct {
	Name      string
	Kind      string // "buffer", "threadgroup" or "builtin"
	Builtin   string // attribute of a builtin
	Space     string // address space
	Type      string
	OnlyIf    string `json:"only_if"` // function constant that enables it
	Index     int
	Ref       bool // a reference: one struct, not an array
	Readonly  bool
	ElemSize  int `json:"elem_size"`
	ElemAlign int `json:"elem_align"`
}

// Signatures returns the argument list of every kernel.
func (l *Library) Signatures() (map[string][]Argument, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string][]Argument{}
	for line := range strings.Lines(goString(l.signatures())) {
		var v struct {
			Kernel string
			Args   []Argument
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return nil, fmt.Errorf("read kernel signatures: %w in %s", err, line)
		}
		if v.Kernel != "" {
			all[v.Kernel] = v.Args
		}
	}
	return all, nil
}
