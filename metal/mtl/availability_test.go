package mtl

import "testing"

// TestTensorOps: only an M5 or later, and only from macOS 26.2 on.
func TestTensorOps(t *testing.T) {
	for _, c := range []struct {
		family  int
		version string
		want    bool
	}{
		{GPUFamilyApple10, "26.2", true},
		{GPUFamilyApple10, "26.2.1", true},
		{GPUFamilyApple10, "26.10", true},
		{GPUFamilyApple10, "27", true},
		{GPUFamilyApple10 + 1, "27.0", true},
		{GPUFamilyApple10, "16.2", true},
		{GPUFamilyApple10, "16.1", false},
		{GPUFamilyApple10, "26.1.9", false},
		{GPUFamilyApple10, "26", false},
		{GPUFamilyApple10, "15.7", false},
		{GPUFamilyApple10, "", false},
		{GPUFamilyApple10, "unknown", false},
		{GPUFamilyApple10 - 1, "26.2", false},
		{GPUFamilyApple7, "27.0", false},
	} {
		if got := TensorOps(c.family, c.version); got != c.want {
			t.Errorf("family %d, macOS %q: got %v, want %v", c.family, c.version, got, c.want)
		}
	}
}
