package emu

import (
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Order is the order in which threads, simdgroups and threadgroups run. A right
// kernel gives the same bits in every order.
type Order int

// The orders. Seeded is random, by Dispatch.Seed.
const (
	Forward Order = iota
	Reverse
	Seeded
)

// maxArguments is the number of buffer indices that Metal has.
const maxArguments = 31

// Dispatch is one compute dispatch in Metal's terms.
type Dispatch struct {
	Kernel    string
	Groups    [3]uint32       // threadgroups per grid (dispatchThreadgroups)
	Group     [3]uint32       // threads per threadgroup
	Buffers   map[int][]byte  // by [[buffer(n)]]; a subslice is a binding with an offset
	Memory    map[int]uint32  // threadgroup memory lengths by [[threadgroup(n)]]
	Constants map[int]float64 // function constants to set first
	Order     Order
	Seed      uint32
}

// Finding is one problem that the emulator found.
type Finding struct{ Severity, Kernel, Thread, Message, Source string }

func (f Finding) String() string {
	return strings.Join(strings.Fields(f.Severity+" "+f.Kernel+" "+f.Thread+": "+f.Message+" "+f.Source), " ")
}

// Run executes a dispatch and returns everything the emulator complained about. Any
// finding means that the kernel or its arguments are wrong.
func (l *Library) Run(d Dispatch) []Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.setConstants(d.Constants); err != nil {
		return []Finding{{Severity: "ERROR", Kernel: d.Kernel, Message: err.Error()}}
	}
	var a arguments
	defer a.pin.Unpin()
	if err := a.fill(d); err != nil {
		return []Finding{{Severity: "ERROR", Kernel: d.Kernel, Message: err.Error()}}
	}
	checked := uintptr(0)
	if l.mode == Checked {
		checked = 1
	}
	name := cString(d.Kernel)
	purego.SyscallN(l.dispatch, l.module, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&a.threads)), uintptr(unsafe.Pointer(&d.Group)),
		uintptr(unsafe.Pointer(&a.buffers)), uintptr(unsafe.Pointer(&a.lengths)), uintptr(len(a.buffers)),
		uintptr(unsafe.Pointer(&a.memory)), uintptr(len(a.memory)), checked, uintptr(d.Order), uintptr(d.Seed), uintptr(workers()))
	runtime.KeepAlive(name)
	runtime.KeepAlive(d.Buffers)
	return l.findings()
}

// arguments is a dispatch in the form the runtime takes.
type arguments struct {
	threads [3]uint32
	buffers [maxArguments]uintptr
	lengths [maxArguments]uint64
	memory  [maxArguments]uint32
	pin     runtime.Pinner
}

func (a *arguments) fill(d Dispatch) error {
	for i := range a.threads {
		a.threads[i] = d.Groups[i] * d.Group[i]
	}
	for i, b := range d.Buffers {
		if i < 0 || i >= maxArguments {
			return fmt.Errorf("buffer index %d is outside 0..%d", i, maxArguments-1)
		}
		if len(b) > 0 {
			a.pin.Pin(&b[0])
			a.buffers[i], a.lengths[i] = uintptr(unsafe.Pointer(&b[0])), uint64(len(b))
		}
	}
	for i, n := range d.Memory {
		if i < 0 || i >= maxArguments {
			return fmt.Errorf("threadgroup index %d is outside 0..%d", i, maxArguments-1)
		}
		a.memory[i] = n
	}
	return nil
}

func (l *Library) findings() (list []Finding) {
	for line := range strings.Lines(goString(l.log())) {
		p := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(p) < 5 {
			continue
		}
		f := Finding{Severity: p[0], Kernel: p[1], Thread: p[2], Message: p[4]}
		if pc := strings.TrimPrefix(p[3], "pc="); pc != "0x0" {
			f.Source = l.symbolize(pc)
		}
		list = append(list, f)
	}
	return list
}

// symbolize maps a code address to the .metal line, skipping frames of the shim itself.
func (l *Library) symbolize(pc string) string {
	compiler, err := clang()
	if err != nil {
		return pc
	}
	tool := "llvm-symbolizer"
	if v := clangVersion(compiler); v > 0 && strings.HasSuffix(compiler, "-"+strconv.Itoa(v)) {
		tool += "-" + strconv.Itoa(v)
	}
	out, err := exec.Command(tool, "--obj="+l.path, "--inlines", "--functions=none", pc).Output()
	if err != nil {
		return "(code address " + pc + "; install llvm for the source line)"
	}
	for _, f := range strings.Fields(string(out)) {
		if !strings.Contains(f, ".h:") && !strings.HasPrefix(f, "??") {
			return "at " + f
		}
	}
	return "at " + strings.TrimSpace(string(out))
}
