package shelf

import "golang.org/x/sys/unix"

// countsOpen: Available does not shrink when a model is open.
const countsOpen = true

// Available is three quarters of the machine's memory: what macOS lets the GPU keep resident by default, and a fair share for
// a program that computes on the CPU.
func Available() (int64, error) {
	n, err := unix.SysctlUint64("hw.memsize")
	return int64(n / 4 * 3), err
}

// Total is the machine's memory.
func Total() (int64, error) {
	n, err := unix.SysctlUint64("hw.memsize")
	return int64(n), err
}
