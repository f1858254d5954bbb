package shelf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Total is the machine's memory, or the control group's limit when that is less.
func Total() (int64, error) {
	have, err := meminfo("MemTotal:")
	if limit, lerr := number("/sys/fs/cgroup/memory.max"); lerr == nil && err == nil {
		have = min(have, limit)
	}
	return have, err
}

// Available is how much memory programs can still take: the kernel's own estimate, or what is left of the control group's
// limit when that is less.
func Available() (int64, error) {
	have, err := meminfo("MemAvailable:")
	if err != nil {
		return 0, err
	}
	limit, err1 := number("/sys/fs/cgroup/memory.max")
	used, err2 := number("/sys/fs/cgroup/memory.current")
	if err1 == nil && err2 == nil {
		have = min(have, max(0, limit-used))
	}
	return have, nil
}

// meminfo reads one of the kernel's figures.
func meminfo(key string) (int64, error) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	_, rest, ok := bytes.Cut(b, []byte(key))
	var kib int64
	if _, err := fmt.Sscanf(string(rest), "%d kB", &kib); !ok || err != nil {
		return 0, fmt.Errorf("read %s %w", key, err)
	}
	return kib << 10, nil
}

// number reads a file that holds one number; "max" is an error.
func number(name string) (int64, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
}
