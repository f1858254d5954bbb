//go:build unix && !linux

package cpu

// hugePages does nothing: there is no such advice here.
func hugePages([]byte) {}
