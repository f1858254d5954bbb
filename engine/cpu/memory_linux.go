package cpu

import "golang.org/x/sys/unix"

// hugePages asks for large pages: fewer faults while a buffer is first written. The kernel
// may refuse.
func hugePages(b []byte) {
	if len(b) >= 4<<20 {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
