//go:build !(cgo && unix && (amd64 || arm64))

package cpu

// nativePaths is empty: this build has no C kernels.
func nativePaths() []candidate { return nil }
