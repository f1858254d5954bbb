package mtl

import "unsafe"

// Archive is an MTLBinaryArchive: compiled kernels in a file. The zero archive is none.
//
// Reference: https://developer.apple.com/documentation/metal/mtlbinaryarchive
type Archive struct{ id uintptr }

// NewArchive opens the archive at a path, or makes an empty one if the path is "".
//
// Reference: https://developer.apple.com/documentation/metal/mtldevice/makebinaryarchive(descriptor:)
func (d Device) NewArchive(path string) (Archive, error) {
	options := send(objectNew, class("MTLBinaryArchiveDescriptor"))
	defer release(options)
	if path != "" {
		send(archiveSetURL, options, send(urlFile, class("NSURL"), nsString(path)))
	}
	var failed uintptr
	id := send(deviceNewArchive, d.id, options, uintptr(unsafe.Pointer(&failed)))
	if id == 0 {
		return Archive{}, failure("open compiled kernels", failed)
	}
	return Archive{id}, nil
}

// Serialize writes the archive to a file.
//
// Reference: https://developer.apple.com/documentation/metal/mtlbinaryarchive/serialize(to:)
func (a Archive) Serialize(path string) error {
	var failed uintptr
	if !sendBool(archiveSerialize, a.id, send(urlFile, class("NSURL"), nsString(path)), uintptr(unsafe.Pointer(&failed))) {
		return failure("store compiled kernels", failed)
	}
	return nil
}

// Release gives the archive up.
func (a Archive) Release() { release(a.id) }
