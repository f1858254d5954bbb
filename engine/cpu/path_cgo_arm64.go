//go:build cgo && unix

package cpu

/*
#include "kernels.h"

#if defined(__APPLE__)
#include <sys/sysctl.h>
static int has_bf16(void) {
  int v = 0;
  size_t n = sizeof v;
  return sysctlbyname("hw.optional.arm.FEAT_BF16", &v, &n, 0, 0) == 0 && v != 0;
}
#elif defined(__linux__)
#include <sys/auxv.h>
static int has_bf16(void) { return (getauxval(AT_HWCAP2) >> 14) & 1; } // HWCAP2_BF16
#else
static int has_bf16(void) { return 0; }
#endif
*/
import "C"

import x "golang.org/x/sys/cpu"

// nativePaths lists the paths that this processor supports, the best first.
func nativePaths() []candidate {
	var list []candidate
	if x.ARM64.HasASIMDDP && C.has_bf16() != 0 {
		list = append(list, candidate{"neonbf16", cPath{&C.clef_neonbf16, "NEON BF16"}})
	}
	if x.ARM64.HasASIMDDP {
		list = append(list, candidate{"neondot", cPath{&C.clef_neondot, "NEON with dot products"}})
	}
	return append(list, candidate{"neon", cPath{&C.clef_neon, "NEON"}})
}
