package mtl

import "errors"

// Matrix is a row-major float32 matrix in a buffer.
type Matrix struct {
	Buffer        Buffer
	Offset        int // bytes
	Rows, Columns int
	RowBytes      int
}

// MultipliesMatrices reports whether Metal Performance Shaders are there and know the GPU.
//
// Reference: https://developer.apple.com/documentation/metalperformanceshaders/mpssupportsmtldevice(_:)
func (d Device) MultipliesMatrices() bool {
	return loadShaders() == nil && shadersSupport(d.id) && class("MPSMatrixMultiplication") != 0
}

// Multiply encodes result = left · rightᵀ + beta · result. No encoder may be open.
//
// Reference: https://developer.apple.com/documentation/metalperformanceshaders/mpsmatrixmultiplication
func (c CommandBuffer) Multiply(d Device, left, right, result Matrix, beta float64) error {
	l, r, s := newMatrix(left), newMatrix(right), newMatrix(result)
	defer release(l)
	defer release(r)
	defer release(s)
	k := sendMatrix(multiplicationInit, send(objectAlloc, class("MPSMatrixMultiplication")), d.id, false, true,
		uintptr(result.Rows), uintptr(result.Columns), uintptr(left.Columns), 1, beta)
	defer release(k)
	if l == 0 || r == 0 || s == 0 || k == 0 {
		return errors.New("the system makes no matrix product")
	}
	send(multiplicationEncode, k, c.id, l, r, s)
	return nil
}

// newMatrix makes an MPSMatrix, which the caller owns; 0 if the system refuses.
//
// Reference: https://developer.apple.com/documentation/metalperformanceshaders/mpsmatrix
func newMatrix(m Matrix) uintptr {
	shape := send(matrixDescriptor, class("MPSMatrixDescriptor"), uintptr(m.Rows), uintptr(m.Columns), uintptr(m.RowBytes), DataTypeFloat32)
	return send(matrixInit, send(objectAlloc, class("MPSMatrix")), m.Buffer.id, uintptr(m.Offset), shape)
}
