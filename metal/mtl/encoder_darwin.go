package mtl

import (
	"runtime"
	"unsafe"
)

// ComputeEncoder is an MTLComputeCommandEncoder.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputecommandencoder
type ComputeEncoder struct {
	id            uintptr
	groups, group Size // passed by reference
}

// SetPipeline chooses the kernel of the dispatches that follow.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputecommandencoder/setcomputepipelinestate(_:)
func (e *ComputeEncoder) SetPipeline(p Pipeline) { send(encoderSetPipeline, e.id, p.id) }

// SetBuffer binds a buffer from an offset on.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputecommandencoder/setbuffer(_:offset:index:)
func (e *ComputeEncoder) SetBuffer(b Buffer, offset, index int) {
	send(encoderSetBuffer, e.id, b.id, uintptr(offset), uintptr(index))
}

// SetBytes binds a copy of at most 4096 bytes.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputecommandencoder/setbytes(_:length:index:)
func (e *ComputeEncoder) SetBytes(b []byte, index int) {
	send(encoderSetBytes, e.id, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(index))
	runtime.KeepAlive(b)
}

// MemoryBarrier makes what follows wait for what came before.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputecommandencoder/memorybarrier(scope:)
func (e *ComputeEncoder) MemoryBarrier() { send(encoderBarrier, e.id, BarrierScopeBuffers) }

// Dispatch launches threadgroups.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcomputecommandencoder/dispatchthreadgroups(_:threadsperthreadgroup:)
func (e *ComputeEncoder) Dispatch(groups, group Size) {
	e.groups, e.group = groups, group
	send(encoderDispatch, e.id, uintptr(unsafe.Pointer(&e.groups)), uintptr(unsafe.Pointer(&e.group)))
	runtime.KeepAlive(e)
}

// End ends encoding.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcommandencoder/endencoding()
func (e *ComputeEncoder) End() { send(encoderEnd, e.id) }
