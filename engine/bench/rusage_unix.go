//go:build unix

package bench

import "golang.org/x/sys/unix"

// processorSeconds returns the time that all threads of the process have computed.
func processorSeconds() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
