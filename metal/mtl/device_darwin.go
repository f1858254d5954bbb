package mtl

import (
	"errors"
	"unsafe"
)

// Device is an MTLDevice.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice
type Device struct{ id uintptr }

// SystemDefaultDevice returns the GPU, or an error where there is none: in a virtual
// machine, or in a session without access to it.
//
// Reference: https://developer.apple.com/documentation/metal/mtlcreatesystemdefaultdevice()
func SystemDefaultDevice() (Device, error) {
	if err := load(); err != nil {
		return Device{}, err
	}
	if id := defaultDevice(); id != 0 {
		return Device{id}, nil
	}
	list := allDevices()
	defer release(list)
	if list != 0 && send(arrayCount, list) > 0 {
		return Device{send(objectRetain, send(arrayAt, list, 0))}, nil
	}
	return Device{}, errors.New("this Mac has no GPU that programs can use")
}

// Release gives the device up.
func (d Device) Release() { release(d.id) }

// Name is the marketing name, such as "Apple M2 Max".
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/name
func (d Device) Name() string { return goString(send(deviceName, d.id)) }

// Architecture is the name of the GPU's architecture, such as "applegpu_g14s".
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/architecture
func (d Device) Architecture() string {
	if !can(deviceArchitecture, d.id) {
		return ""
	}
	return goString(send(architectureName, send(deviceArchitecture, d.id)))
}

// SupportsFamily reports whether the GPU has the features of a family.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/supportsfamily(_:)
func (d Device) SupportsFamily(family int) bool {
	return sendBool(deviceSupportsFamily, d.id, uintptr(family))
}

// RecommendedMaxWorkingSetSize is how many bytes may be resident without loss of speed.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/recommendedmaxworkingsetsize
func (d Device) RecommendedMaxWorkingSetSize() uint64 { return uint64(send(deviceWorkingSet, d.id)) }

// CurrentAllocatedSize is how many bytes this process holds on the GPU, mapped files included.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/currentallocatedsize
func (d Device) CurrentAllocatedSize() uint64 { return uint64(send(deviceAllocated, d.id)) }

// MaxBufferLength is the most bytes of one buffer.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/maxbufferlength
func (d Device) MaxBufferLength() uint64 { return uint64(send(deviceMaxBuffer, d.id)) }

// MaxThreadgroupMemoryLength is the most threadgroup memory of a threadgroup.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/maxthreadgroupmemorylength
func (d Device) MaxThreadgroupMemoryLength() uint64 {
	return uint64(send(deviceMaxThreadgroupMemory, d.id))
}

// NewCommandQueue makes a queue.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/makecommandqueue()
func (d Device) NewCommandQueue() (CommandQueue, error) {
	id := send(deviceNewCommandQueue, d.id)
	if id == 0 {
		return CommandQueue{}, errors.New("no command queue from Metal")
	}
	return CommandQueue{id}, nil
}

// NewBuffer makes a zeroed buffer that the processor sees too; ok is false if there is no memory.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/makebuffer(length:options:)
func (d Device) NewBuffer(length int, options uint64) (b Buffer, ok bool) {
	id := send(deviceNewBuffer, d.id, uintptr(length), uintptr(options))
	return Buffer{id}, id != 0
}

// NewBufferNoCopy makes a buffer of existing memory, whose address and length are
// multiples of a page and which outlives the buffer; ok is false if Metal refuses.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/makebuffer(bytesnocopy:length:options:deallocator:)
func (d Device) NewBufferNoCopy(start unsafe.Pointer, length int, options uint64) (b Buffer, ok bool) {
	id := send(deviceNewBufferNoCopy, d.id, uintptr(start), uintptr(length), uintptr(options), 0)
	return Buffer{id}, id != 0
}
