//go:build cgo && unix

package cpu

// #include "kernels.h"
import "C"

import x "golang.org/x/sys/cpu"

// nativePaths lists the paths that this processor and its system support, the best first.
func nativePaths() []candidate {
	var list []candidate
	if x.X86.HasAVX512F && x.X86.HasAVX512BW && x.X86.HasAVX512DQ && x.X86.HasAVX512VL {
		if x.X86.HasAVX512VNNI && x.X86.HasAVX512BF16 {
			list = append(list, candidate{"avx512bf16", cPath{&C.clef_avx512bf16, "AVX-512 BF16"}})
		}
		if x.X86.HasAVX512VNNI {
			list = append(list, candidate{"avx512vnni", cPath{&C.clef_avx512vnni, "AVX-512 VNNI"}})
		}
		list = append(list, candidate{"avx512", cPath{&C.clef_avx512, "AVX-512"}})
	}
	if x.X86.HasAVX2 && x.X86.HasFMA {
		list = append(list, candidate{"avx2", cPath{&C.clef_avx2, "AVX2"}})
	}
	return list
}
