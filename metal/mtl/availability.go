package mtl

import "fmt"

// TensorOps reports whether a GPU of a family under a version of macOS such as "26.2.1"
// has tensor units that kernels can use: matmul2d of MetalPerformancePrimitives on the
// M5, with all element types since macOS 26.2.
//
// Reference: https://developer.apple.com/documentation/metalperformanceprimitives
func TensorOps(family int, version string) bool {
	return family >= GPUFamilyApple10 && atLeast(version, 26, 2)
}

// atLeast compares a version with major.minor; what cannot be read is too old. A program
// that was built against an older SDK is told that macOS 26 is 16, which never existed.
func atLeast(version string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(version, "%d.%d", &a, &b); n < 1 {
		return false
	}
	if a == 16 {
		a = 26
	}
	return a > major || a == major && b >= minor
}
