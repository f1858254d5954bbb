package bench

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

func processorName() string { return field("/proc/cpuinfo", "model name") }

// field returns the first value of a key in one of the kernel's "key: value" files.
func field(file, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, value, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// mappedBytes returns the resident memory that mapped files take: weights above all. 0 if unknown.
func mappedBytes() int64 {
	kB, _, _ := strings.Cut(field("/proc/self/status", "RssFile"), " ")
	n, err := strconv.ParseInt(kB, 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// resetPeak makes the peak of the process start from now. Where the kernel refuses, the peak of a
// later row includes the earlier ones.
func resetPeak() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
