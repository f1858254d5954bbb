package shelf

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Available is how much memory programs can still take: the share that the kernel's memory pressure monitor calls free
// (kern.memorystatus_level, per cent), or three quarters of all where it does not tell.
func Available() (int64, error) {
	all, err := Total()
	if err != nil {
		return 0, err
	}
	if level, err := unix.SysctlUint32("kern.memorystatus_level"); err == nil && level > 0 && level <= 100 {
		return all / 100 * int64(level), nil
	}
	return all / 4 * 3, nil
}

// Total is the machine's memory.
func Total() (int64, error) {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, fmt.Errorf("ask for the size of memory: %w", err)
	}
	return int64(n), nil
}
