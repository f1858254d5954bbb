package mtl

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Library is an MTLLibrary.
//
// Reference: https://developer.apple.com/documentation/metal/mtllibrary
type Library struct{ id uintptr }

// NewLibrary compiles a source in a version of the language. A program without the usual
// load commands would get an older one by default, so the version is set and read back.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/makelibrary(source:options:)
func (d Device) NewLibrary(source string, language int, fastMath bool) (Library, error) {
	options := send(objectNew, class("MTLCompileOptions"))
	defer release(options)
	send(optionsSetLanguage, options, uintptr(language))
	if v := send(optionsLanguage, options); v != uintptr(language) {
		return Library{}, fmt.Errorf("compile kernels: Metal offers language version %#x, not %#x", v, language)
	}
	setMath(options, fastMath)
	var failed uintptr
	id := send(deviceNewLibrary, d.id, nsString(source), options, uintptr(unsafe.Pointer(&failed)))
	if id == 0 {
		return Library{}, failure("compile kernels", failed)
	}
	return Library{id}, nil
}

// setMath chooses how freely floating point is treated (setMathMode: since macOS 15).
//
// Reference: https://developer.apple.com/documentation/metal/mtlcompileoptions/mathmode
func setMath(options uintptr, fast bool) {
	mode, enabled := uintptr(MathModeSafe), uintptr(0)
	if fast {
		mode, enabled = MathModeFast, 1
	}
	if can(optionsSetMathMode, options) {
		send(optionsSetMathMode, options, mode)
		return
	}
	send(optionsSetFastMath, options, enabled)
}

// Release gives the library up.
func (l Library) Release() { release(l.id) }

// Constant is the value of a function constant.
type Constant struct {
	Value uint32
	Bool  bool // declared bool, else uint
}

// Pipeline is an MTLComputePipelineState.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputepipelinestate
type Pipeline struct{ id uintptr }

// NewPipeline specialises a function with its constants, by index, and compiles it. If
// threads is not 0, the compiler may count on threadgroups not being larger. What is in
// the archive is taken from there; what is not is added, and reported.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/makecomputepipelinestate(descriptor:options:completionhandler:)
func (d Device) NewPipeline(l Library, function string, constants []Constant, threads int, a Archive) (p Pipeline, added bool, err error) {
	f, err := specialise(l, function, constants)
	if err != nil {
		return Pipeline{}, false, err
	}
	defer release(f)
	options := send(objectNew, class("MTLComputePipelineDescriptor"))
	defer release(options)
	send(descriptorSetFunction, options, f)
	if threads > 0 {
		send(descriptorSetThreads, options, uintptr(threads))
	}
	var failed uintptr
	if a.id != 0 {
		send(descriptorSetArchives, options, send(arrayOne, class("NSArray"), a.id))
		if id := send(deviceNewPipelineDescriptor, d.id, options, PipelineFailOnMiss, 0, uintptr(unsafe.Pointer(&failed))); id != 0 {
			return Pipeline{id}, false, nil
		}
		added = sendBool(archiveAdd, a.id, options, uintptr(unsafe.Pointer(&failed)))
	}
	failed = 0
	id := send(deviceNewPipelineDescriptor, d.id, options, 0, 0, uintptr(unsafe.Pointer(&failed)))
	if id == 0 {
		return Pipeline{}, added, failure("compile "+function, failed)
	}
	return Pipeline{id}, added, nil
}

// specialise gives a function its constants. The caller owns the result.
//
// Reference: https://developer.apple.com/documentation/metal/mtllibrary/makefunction(name:constantvalues:)
func specialise(l Library, function string, constants []Constant) (uintptr, error) {
	values := send(objectNew, class("MTLFunctionConstantValues"))
	defer release(values)
	for i := range constants {
		kind := uintptr(DataTypeUInt)
		if constants[i].Bool {
			kind = DataTypeBool
		}
		send(constantsSet, values, uintptr(unsafe.Pointer(&constants[i].Value)), kind, uintptr(i))
	}
	runtime.KeepAlive(constants)
	var failed uintptr
	f := send(libraryNewFunctionConstants, l.id, nsString(function), values, uintptr(unsafe.Pointer(&failed)))
	if f == 0 {
		return 0, failure("specialise "+function, failed)
	}
	return f, nil
}

// MaxThreads is the most threads of a threadgroup, given the registers the kernel needs.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputepipelinestate/maxtotalthreadsperthreadgroup
func (p Pipeline) MaxThreads() int { return int(send(pipelineMaxThreads, p.id)) }

// Width is the number of threads of a simdgroup.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputepipelinestate/threadexecutionwidth
func (p Pipeline) Width() int { return int(send(pipelineWidth, p.id)) }

// ThreadgroupMemory is the threadgroup memory that the kernel declares, in bytes.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputepipelinestate/staticthreadgroupmemorylength
func (p Pipeline) ThreadgroupMemory() int { return int(send(pipelineThreadgroupMemory, p.id)) }

// Release gives the pipeline up.
func (p Pipeline) Release() { release(p.id) }
