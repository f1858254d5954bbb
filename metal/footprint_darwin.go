package metal

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// task_info's flavour and layout, from mach/task_info.h.
const (
	taskVMInfo      = 22
	vmInfoWords     = 38  // natural_t, up to and with phys_footprint
	footprintOffset = 144 // bytes
)

var machTask = sync.OnceValues(func() (info, self uintptr) {
	system, err := purego.Dlopen("/usr/lib/libSystem.B.dylib", purego.RTLD_NOW)
	if err != nil {
		return 0, 0
	}
	info, err = purego.Dlsym(system, "task_info")
	if err != nil {
		return 0, 0
	}
	if self, err = purego.Dlsym(system, "mach_task_self_"); err != nil {
		return 0, 0
	}
	return info, self
})

// Footprint is the memory that the system charges this process with, as Activity
// Monitor shows it; 0 if unknown. Mapped model files are not in it.
func Footprint() int64 {
	info, self := machTask()
	if info == 0 || self == 0 {
		return 0
	}
	port := **(**uint32)(unsafe.Pointer(&self))
	var data [vmInfoWords]uint32
	count := uint32(vmInfoWords)
	result, _, _ := purego.SyscallN(info, uintptr(port), taskVMInfo, uintptr(unsafe.Pointer(&data)), uintptr(unsafe.Pointer(&count)))
	if int32(result) != 0 {
		return 0
	}
	return *(*int64)(unsafe.Pointer(&data[footprintOffset/4]))
}
