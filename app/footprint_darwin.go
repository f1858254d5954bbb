package main

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// taskVMInfo is task_vm_info_data_t of <mach/task_info.h> up to phys_footprint: what Activity Monitor calls memory. Resident
// size leaves out what the GPU holds.
type taskVMInfo struct {
	virtualSize     uint64
	regionCount     int32
	pageSize        int32
	residentSize    uint64
	residentPeak    uint64
	device          uint64
	devicePeak      uint64
	internal        uint64
	internalPeak    uint64
	external        uint64
	externalPeak    uint64
	reusable        uint64
	reusablePeak    uint64
	purgeable       uint64
	purgeablePmap   uint64
	purgeableRes    uint64
	compressed      uint64
	compressedPeak  uint64
	compressedTotal uint64
	physFootprint   uint64
}

// taskVMInfoFlavor is TASK_VM_INFO.
const taskVMInfoFlavor = 22

var machTask = sync.OnceValues(func() (info, self uintptr) {
	lib, err := purego.Dlopen("/usr/lib/libSystem.B.dylib", purego.RTLD_LAZY)
	if err != nil {
		return 0, 0
	}
	info, err = purego.Dlsym(lib, "task_info")
	if err != nil {
		return 0, 0
	}
	self, err = purego.Dlsym(lib, "mach_task_self_")
	if err != nil {
		return 0, 0
	}
	return info, self
})

// footprint is the memory of this process in bytes as the system accounts for it, 0 where it does not tell.
func footprint() int64 {
	taskInfo, self := machTask()
	if taskInfo == 0 {
		return 0
	}
	var v taskVMInfo
	count := uint32(unsafe.Sizeof(v) / 4)
	task := **(**uint32)(unsafe.Pointer(&self)) // self is the address of the port's name
	r, _, _ := purego.SyscallN(taskInfo, uintptr(task), taskVMInfoFlavor, uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&count)))
	if r != 0 {
		return 0
	}
	return int64(v.physFootprint)
}
