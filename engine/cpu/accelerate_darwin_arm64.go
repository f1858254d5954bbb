package cpu

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// accelerateLibrary holds Apple's BLAS, which uses the matrix unit of the processor.
const accelerateLibrary = "/System/Library/Frameworks/Accelerate.framework/Accelerate"

// The constants of cblas_sgemm.
const (
	rowMajor   = 101
	noTrans    = 111
	transposed = 112
)

// systemLibraries offers Accelerate for float32 products. It has to be asked for with
// CLEFBAR_CPU=accelerate: it has not been measured beside our kernels on a Mac.
//
// https://developer.apple.com/documentation/accelerate/cblas_sgemm(_:_:_:_:_:_:_:_:_:_:_:_:_:_:)
func systemLibraries(below path) []candidate {
	lib, err := purego.Dlopen(accelerateLibrary, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil
	}
	symbol, err := purego.Dlsym(lib, "cblas_sgemm")
	if err != nil {
		return nil
	}
	var blas func(order, transA, transB, m, n, k int32, alpha float32, a unsafe.Pointer, lda int32, b unsafe.Pointer, ldb int32, beta float32, c unsafe.Pointer, ldc int32)
	purego.RegisterFunc(&blas, symbol)
	call := func(m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
		at := func(x []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
		blas(rowMajor, noTrans, transposed, int32(m), int32(n), int32(k), 1, at(a), int32(lda), at(b), int32(ldb), 0, at(c), int32(ldc))
	}
	return []candidate{{"accelerate", &libraryPath{path: below, label: "Accelerate and " + below.name(), call: call}}}
}
