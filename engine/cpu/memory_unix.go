//go:build unix

package cpu

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// systemAlloc maps fresh, zeroed pages.
func systemAlloc(n int) (block, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	hugePages(b)
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), n/4), nil
}

func systemFree(b block) {
	// The pages are ours alone: unmapping them cannot fail.
	_ = unix.Munmap(b.bytes())
}
