// Package gpu is the small face of a GPU that the Metal backend needs: memory,
// pipelines, and lists of dispatches that run in order. Two packages implement it:
// metal (through metal/mtl, on a Mac) and metal/emu (on Linux, for tests).
package gpu

import (
	"errors"
	"time"

	"clefbar/metal/kernels"
)

// Errors that a Device returns, wrapped.
var (
	// ErrNotAligned: Wrap cannot use this memory in place; copy it.
	ErrNotAligned = errors.New("memory cannot be used in place")
	// ErrTimeout: the system stopped the work because it took too long or the screen needed the GPU.
	ErrTimeout = errors.New("the GPU was taken away")
	// ErrProduct: the system's kernels do not make a Product.
	ErrProduct = errors.New("the system does not multiply these matrices")
	// ErrMemory: the device has no memory left.
	ErrMemory = errors.New("out of GPU memory")
)

// Family is the generation of an Apple GPU, as far as kernels differ.
type Family int

// The families. M1 and M2 are Apple7 and Apple8, M3 and M4 Apple9, M5 Apple10.
const (
	Apple7  Family = 7
	Apple8  Family = 8
	Apple9  Family = 9
	Apple10 Family = 10
)

// Info describes a device.
type Info struct {
	Name         string // "Apple M2 Max"
	Architecture string // "applegpu_g14s"
	Cores        int    // 0 if unknown
	Family       Family
	OS           string // build of the system
	WorkingSet   int64  // bytes that may be resident; 0 if unknown
	MaxBuffer    int64  // bytes of one buffer; 0 if unknown
	Tensor       bool   // has tensor units that kernels can use; their library may still fail to compile
	Products     bool   // runs dispatches with a Product
	Emulated     bool   // its times say nothing about a GPU
}

// Memory is a piece of device memory that the host sees too.
type Memory interface {
	// Bytes is the host's view. Do not touch what pending work writes.
	Bytes() []byte
	// Release gives the memory back. No pending work may use it.
	Release()
}

// Pipeline is a compiled kernel of one Device.
type Pipeline interface {
	// MaxThreads is the most threads of a threadgroup that the kernel can have.
	MaxThreads() int
}

// Argument binds memory, or up to 4096 bytes by value, to a buffer index.
type Argument struct {
	Index  int
	Memory Memory
	Offset int    // bytes
	Bytes  []byte // by value if Memory is nil
	Write  bool   // the kernel writes it
}

// Dispatch is one launch.
type Dispatch struct {
	Name     string // for messages and counts
	Pipeline Pipeline
	Args     []Argument
	Groups   [3]uint32 // threadgroups
	Group    [3]uint32 // threads of a threadgroup
	// Product makes this a product by the system's own kernels: Pipeline, Groups and Group
	// are not used then, and Args are the left, the right and the result matrix.
	Product *Product
	// Barrier says that this dispatch depends on one since the last barrier. Without
	// it the device may run neighbours at the same time.
	Barrier bool
}

// Product is a product of float32 matrices: result = left · rightᵀ, or result += that.
// Rows of left and right lie next to each other.
type Product struct {
	Rows, Depth, Outputs int
	Pitch                int  // numbers from one row of the result to the next
	Add                  bool // to what is there
}

// Pending is submitted work.
type Pending interface {
	// Wait returns when the work is done, with the time the GPU took, 0 if unknown.
	Wait() (time.Duration, error)
}

// Device runs dispatches. It is used by one goroutine.
type Device interface {
	Info() Info
	// Alloc returns zeroed memory, aligned for any type.
	Alloc(bytes int) (Memory, error)
	// Wrap makes memory of a mapped file usable without a copy, or returns
	// ErrNotAligned. The data starts at the returned offset.
	Wrap(b []byte) (m Memory, offset int, err error)
	// Pipeline compiles a kernel, or returns it from its cache.
	Pipeline(k kernels.Kernel) (Pipeline, error)
	// Submit runs a list after everything submitted before. The device may keep list.
	Submit(list []Dispatch) (Pending, error)
	Close() error
}
