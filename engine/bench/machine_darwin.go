package bench

import "golang.org/x/sys/unix"

func processorName() string {
	name, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return name
}

// mappedBytes is unknown: the system tells only the peak.
func mappedBytes() int64 { return 0 }

// resetPeak does nothing: the peak is the process's and cannot be reset.
func resetPeak() {}
