package emu

import (
	"fmt"
	"math"
	"unsafe"

	"clefbar/metal/gpu"
)

// multiply stands in for the system's own matrix product, whose kernels nobody outside
// has: it has the meaning that Apple documents, and the argument checks.
func (d *Device) multiply(x *gpu.Dispatch) error {
	p := x.Product
	if !d.options.Products {
		return fmt.Errorf("%s: %w: the device has no products of its own", x.Name, gpu.ErrProduct)
	}
	if len(x.Args) != 3 || x.Args[0].Write || x.Args[1].Write || !x.Args[2].Write || p.Rows < 1 || p.Depth < 1 || p.Outputs < 1 || p.Pitch < p.Outputs {
		return fmt.Errorf("%s: %w: (%d, %d) and (%d, %d) with %d arguments", x.Name, gpu.ErrProduct, p.Rows, p.Depth, p.Outputs, p.Depth, len(x.Args))
	}
	left, err := floats(x.Args[0], p.Rows*p.Depth)
	if err != nil {
		return fmt.Errorf("%s: left: %w", x.Name, err)
	}
	right, err := floats(x.Args[1], p.Outputs*p.Depth)
	if err != nil {
		return fmt.Errorf("%s: right: %w", x.Name, err)
	}
	result, err := floats(x.Args[2], (p.Rows-1)*p.Pitch+p.Outputs)
	if err != nil {
		return fmt.Errorf("%s: result: %w", x.Name, err)
	}
	d.mu.Lock()
	d.ran["product"]++
	d.mu.Unlock()
	for m := range p.Rows {
		for n := range p.Outputs {
			sum := float32(0)
			if p.Add {
				sum = result[m*p.Pitch+n]
			}
			a, b := left[m*p.Depth:][:p.Depth], right[n*p.Depth:][:p.Depth]
			for k := range a {
				sum = float32(math.FMA(float64(a[k]), float64(b[k]), float64(sum)))
			}
			result[m*p.Pitch+n] = sum
		}
	}
	return nil
}

// floats views an argument as n float32 numbers.
func floats(a gpu.Argument, n int) ([]float32, error) {
	if a.Memory == nil || a.Offset < 0 || a.Offset%16 != 0 {
		return nil, fmt.Errorf("an offset of %d", a.Offset)
	}
	b := a.Memory.Bytes()
	if a.Offset+4*n > len(b) {
		return nil, fmt.Errorf("%d numbers at %d of %d bytes", n, a.Offset, len(b))
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[a.Offset])), n), nil
}
