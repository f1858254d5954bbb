package mtl

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/ebitengine/purego/objc"
)

var (
	msgSend       uintptr
	msgDouble     func(receiver uintptr, sel uintptr) float64
	poolPush      func() uintptr
	poolPop       func(pool uintptr)
	defaultDevice func() uintptr
	allDevices    func() uintptr

	msgMatrix      func(receiver, sel, device uintptr, left, right bool, rows, columns, interior uintptr, alpha, beta float64) uintptr
	shadersSupport func(device uintptr) bool

	matchingClass    func(name *byte) uintptr
	serviceMatching  func(port uint32, matching uintptr) uint32
	registryProperty func(entry uint32, key, allocator uintptr, options uint32) uintptr
	objectRelease32  func(object uint32) int32
	cfRelease        func(object uintptr)
	cfType           func(object uintptr) uintptr
	cfNumberType     func() uintptr
	cfNumber         func(number uintptr, kind int, value unsafe.Pointer) bool
)

// binding ties a variable to a C function.
type binding struct {
	to   any
	name string
}

// bind loads functions of a library.
func bind(path string, list ...binding) error {
	library, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", path, err)
	}
	for _, f := range list {
		address, err := purego.Dlsym(library, f.name)
		if err != nil {
			return fmt.Errorf("load %s: %w", f.name, err)
		}
		purego.RegisterFunc(f.to, address)
	}
	return nil
}

// Frameworks by path.
const (
	frameworks     = "/System/Library/Frameworks/"
	foundation     = frameworks + "Foundation.framework/Foundation"
	coreGraphics   = frameworks + "CoreGraphics.framework/CoreGraphics"
	coreFoundation = frameworks + "CoreFoundation.framework/CoreFoundation"
	metalFramework = frameworks + "Metal.framework/Metal"
	shaders        = frameworks + "MetalPerformanceShaders.framework/MetalPerformanceShaders"
	ioKit          = frameworks + "IOKit.framework/IOKit"
)

// load opens the frameworks once.
var load = sync.OnceValue(func() error {
	// Without CoreGraphics the default device of a command-line tool may be nil.
	for _, path := range []string{foundation, coreGraphics} {
		if err := bind(path); err != nil {
			return err
		}
	}
	runtime, err := purego.Dlopen("/usr/lib/libobjc.A.dylib", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load the Objective-C runtime: %w", err)
	}
	if msgSend, err = purego.Dlsym(runtime, "objc_msgSend"); err != nil {
		return fmt.Errorf("load the Objective-C runtime: %w", err)
	}
	purego.RegisterFunc(&msgDouble, msgSend)
	purego.RegisterFunc(&msgMatrix, msgSend)
	if err := bind("/usr/lib/libobjc.A.dylib", binding{&poolPush, "objc_autoreleasePoolPush"}, binding{&poolPop, "objc_autoreleasePoolPop"}); err != nil {
		return err
	}
	return bind(metalFramework, binding{&defaultDevice, "MTLCreateSystemDefaultDevice"}, binding{&allDevices, "MTLCopyAllDevices"})
})

// loadShaders opens Metal Performance Shaders once. Nothing depends on them.
var loadShaders = sync.OnceValue(func() error {
	return bind(shaders, binding{&shadersSupport, "MPSSupportsMTLDevice"})
})

// loadRegistry opens what reads the registry of hardware once. Nothing depends on it.
var loadRegistry = sync.OnceValue(func() error {
	if err := bind(
		ioKit, binding{&matchingClass, "IOServiceMatching"}, binding{&serviceMatching, "IOServiceGetMatchingService"},
		binding{&registryProperty, "IORegistryEntryCreateCFProperty"}, binding{&objectRelease32, "IOObjectRelease"},
	); err != nil {
		return err
	}
	return bind(
		coreFoundation, binding{&cfRelease, "CFRelease"}, binding{&cfType, "CFGetTypeID"},
		binding{&cfNumberType, "CFNumberGetTypeID"}, binding{&cfNumber, "CFNumberGetValue"},
	)
})

// selector registers the selector on first use. One thread uses the package.
func (m *Message) selector() uintptr {
	if m.sel == 0 {
		m.sel = uintptr(objc.RegisterName(m.Selector))
	}
	return m.sel
}

// send sends a message to an object and returns the result's first word; nil receivers answer 0.
//
//go:uintptrescapes
func send(m *Message, receiver uintptr, args ...uintptr) uintptr {
	var words [8]uintptr
	words[0], words[1] = receiver, m.selector()
	n := 2 + copy(words[2:], args)
	r, _, _ := purego.SyscallN(msgSend, words[:n]...)
	return r
}

// sendBool is send for a BOOL, of which only the lowest byte is defined.
func sendBool(m *Message, receiver uintptr, args ...uintptr) bool {
	return send(m, receiver, args...)&0xff != 0
}

// sendDouble is send for a result in a floating-point register.
func sendDouble(m *Message, receiver uintptr) float64 { return msgDouble(receiver, m.selector()) }

// sendMatrix is send for the one message with floating-point arguments.
func sendMatrix(m *Message, receiver, device uintptr, left, right bool, rows, columns, interior uintptr, alpha, beta float64) uintptr {
	return msgMatrix(receiver, m.selector(), device, left, right, rows, columns, interior, alpha, beta)
}

// can asks whether an object understands a message.
func can(m *Message, receiver uintptr) bool {
	return receiver != 0 && sendBool(objectResponds, receiver, m.selector())
}

// class returns a class, 0 if the system does not have it.
func class(name string) uintptr { return uintptr(objc.GetClass(name)) }

// Pool runs f with an autorelease pool on a locked thread: pools belong to threads.
func Pool(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := poolPush()
	defer poolPop(p)
	f()
}

// nsString makes an autoreleased NSString.
func nsString(s string) uintptr {
	b := append([]byte(s), 0)
	r := send(stringWithUTF8, class("NSString"), uintptr(unsafe.Pointer(&b[0])))
	runtime.KeepAlive(b)
	return r
}

// goString copies an NSString; "" for nil.
func goString(s uintptr) string {
	if s == 0 {
		return ""
	}
	return cString(send(stringUTF8, s))
}

// cString copies a C string.
func cString(p uintptr) string {
	if p == 0 {
		return ""
	}
	// The conversion goes through a pointer to the word, because the memory is not Go's.
	start := *(*unsafe.Pointer)(unsafe.Pointer(&p))
	n := 0
	for *(*byte)(unsafe.Add(start, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(start), n))
}

// release gives up ownership of an object.
func release(id uintptr) {
	if id != 0 {
		send(objectRelease, id)
	}
}
