package emu

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// engine is the runtime that all libraries of the process share. It runs one
// dispatch at a time and keeps its findings until the next one.
type engine struct {
	mu          sync.Mutex
	dispatch    uintptr
	setConstant func(module uintptr, index int32, value float64) int32
	unset       func(module uintptr) *byte
	apply       func(module uintptr)
	signatures  func(module uintptr) *byte
	log         func() *byte
}

var (
	engines   = map[string]*engine{}
	enginesMu sync.Mutex
)

// engineAt opens the runtime once.
func engineAt(path string) (*engine, error) {
	enginesMu.Lock()
	defer enginesMu.Unlock()
	if e := engines[path]; e != nil {
		return e, nil
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("open the emulator's runtime: %w", err)
	}
	e := &engine{}
	purego.RegisterLibFunc(&e.setConstant, handle, "msl_set_const")
	purego.RegisterLibFunc(&e.apply, handle, "msl_apply_consts")
	purego.RegisterLibFunc(&e.log, handle, "msl_log")
	purego.RegisterLibFunc(&e.signatures, handle, "msl_signatures")
	purego.RegisterLibFunc(&e.unset, handle, "msl_unset_consts")
	if e.dispatch, err = purego.Dlsym(handle, "msl_dispatch"); err != nil {
		return nil, fmt.Errorf("open the emulator's runtime: %w", err)
	}
	engines[path] = e
	return e, nil
}

// Library is a compiled source. It may be used by several goroutines; dispatches of
// all libraries run one after the other.
type Library struct {
	path   string
	mode   Mode
	module uintptr
	*engine
}

// load opens a compiled library. It stays open until the process ends.
func load(runtime, path string, mode Mode) (*Library, error) {
	e, err := engineAt(runtime)
	if err != nil {
		return nil, err
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("open compiled kernels: %w", err)
	}
	module, err := purego.Dlsym(handle, "msl_this_module")
	if err != nil {
		return nil, fmt.Errorf("open compiled kernels: %w", err)
	}
	this, _, _ := purego.SyscallN(module)
	return &Library{path, mode, this, e}, nil
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
		if l.setConstant(l.module, int32(i), v) == 0 {
			return fmt.Errorf("no function constant with index %d", i)
		}
	}
	l.apply(l.module)
	return nil
}

// UnsetConstants lists the function constants that have no value. A Mac refuses to
// make a pipeline that uses one of them.
func (l *Library) UnsetConstants() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Fields(goString(l.unset(l.module)))
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
	for line := range strings.Lines(goString(l.signatures(l.module))) {
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

// address returns where b starts.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
