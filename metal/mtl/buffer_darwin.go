package mtl

import "unsafe"

// Buffer is an MTLBuffer.
//
// Reference: https://developer.apple.com/documentation/metal/mtlbuffer
type Buffer struct{ id uintptr }

// Contents is the memory as the processor sees it.
//
// Reference: https://developer.apple.com/documentation/metal/mtlbuffer/contents()
func (b Buffer) Contents(length int) []byte {
	p := send(memoryContents, b.id)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), length)
}

// Release gives the buffer up.
func (b Buffer) Release() { release(b.id) }
