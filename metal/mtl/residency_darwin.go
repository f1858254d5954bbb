package mtl

import "unsafe"

// ResidencySet is an MTLResidencySet: allocations that stay resident between command
// buffers. Only macOS 15 and later have it; the zero set does nothing.
//
// Reference: https://developer.apple.com/documentation/metal/mtlresidencyset
type ResidencySet struct{ id uintptr }

// NewResidencySet makes a set, or the zero set on older systems.
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/makeresidencyset(descriptor:)
func (d Device) NewResidencySet(capacity int) ResidencySet {
	descriptor := class("MTLResidencySetDescriptor")
	if descriptor == 0 || !can(deviceNewResidencySet, d.id) {
		return ResidencySet{}
	}
	options := send(objectNew, descriptor)
	defer release(options)
	send(residencySetCapacity, options, uintptr(capacity))
	var failed uintptr
	return ResidencySet{send(deviceNewResidencySet, d.id, options, uintptr(unsafe.Pointer(&failed)))}
}

// Add puts a buffer into the set at the next Commit.
func (s ResidencySet) Add(b Buffer) {
	if s.id != 0 {
		send(residencyAdd, s.id, b.id)
	}
}

// Remove takes a buffer out of the set at the next Commit.
func (s ResidencySet) Remove(b Buffer) {
	if s.id != 0 {
		send(residencyRemove, s.id, b.id)
	}
}

// Commit applies additions and removals and asks for residency.
//
// Reference: https://developer.apple.com/documentation/metal/mtlresidencyset/requestresidency()
func (s ResidencySet) Commit() {
	if s.id != 0 {
		send(residencyCommit, s.id)
		send(residencyRequest, s.id)
	}
}

// Request asks for residency once more: the system may have taken it away from a process
// that did nothing for a while.
func (s ResidencySet) Request() {
	if s.id != 0 {
		send(residencyRequest, s.id)
	}
}

// Release lets the memory go and gives the set up.
func (s ResidencySet) Release() {
	if s.id != 0 {
		send(residencyEnd, s.id)
		release(s.id)
	}
}
