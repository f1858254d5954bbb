//go:build unix

package local

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// peakBytes returns the most memory that the process has had resident, mapped
// weights included.
func peakBytes() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // bytes there, kilobytes elsewhere
	}
	return int64(u.Maxrss) << 10
}
