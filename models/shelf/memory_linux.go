package shelf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Available is how much memory programs can still take: the kernel's own estimate, or what is left of the control group's
// limit when that is less.
func Available() (int64, error) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	_, rest, ok := bytes.Cut(b, []byte("MemAvailable:"))
	var kib int64
	if _, err := fmt.Sscanf(string(rest), "%d kB", &kib); !ok || err != nil {
		return 0, fmt.Errorf("read MemAvailable: %w", err)
	}
	have := kib << 10
	limit, err1 := number("/sys/fs/cgroup/memory.max")
	used, err2 := number("/sys/fs/cgroup/memory.current")
	if err1 == nil && err2 == nil {
		have = min(have, max(0, limit-used))
	}
	return have, nil
}

// number reads a file that holds one number; "max" is an error.
func number(name string) (int64, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}
