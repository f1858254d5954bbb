package mtl

import "unsafe"

// GPUCores is how many cores the GPU has by the system's registry of hardware, 0 if it
// does not say. Metal itself does not tell.
//
// Reference: https://developer.apple.com/documentation/iokit/1514687-ioservicegetmatchingservice
func GPUCores() int {
	if loadRegistry() != nil {
		return 0
	}
	name := append([]byte("AGXAccelerator"), 0)
	service := serviceMatching(0, matchingClass(&name[0])) // takes the dictionary over
	if service == 0 {
		return 0
	}
	defer objectRelease32(service)
	number := registryProperty(service, nsString("gpu-core-count"), 0, 0)
	if number == 0 {
		return 0
	}
	defer cfRelease(number)
	var cores int64
	if cfType(number) != cfNumberType() || !cfNumber(number, numberSInt64, unsafe.Pointer(&cores)) || cores < 1 || cores > 1024 {
		return 0
	}
	return int(cores)
}
