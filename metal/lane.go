package metal

import (
	"errors"
	"fmt"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
	"clefbar/metal/number"
)

// ErrLanes: the GPU spreads matrix fragments over lanes in a way the kernels do not know.
var ErrLanes = errors.New("this GPU arranges matrix fragments in an unknown way")

// LaneTest compares how the GPU spreads 8x8 fragments over the lanes of a simdgroup
// with what the kernels assume, which Apple does not document, and one matrix
// product with its exact result.
func LaneTest(dev gpu.Device) error {
	p, err := dev.Pipeline(kernels.Kernel{Library: kernels.Library{Name: "selftest"}, Function: "lane_map"})
	if err != nil {
		return fmt.Errorf("compile the lane test: %w", err)
	}
	in, err := dev.Alloc(64 * 4)
	if err != nil {
		return fmt.Errorf("lane test: %w", err)
	}
	defer in.Release()
	out, err := dev.Alloc(192 * 4)
	if err != nil {
		return fmt.Errorf("lane test: %w", err)
	}
	defer out.Release()
	m := make([]float32, 64)
	for i := range m {
		m[i] = float32(i)
	}
	number.PutFloats(in.Bytes(), m)
	work, err := dev.Submit([]gpu.Dispatch{{
		Name: "lane_map", Pipeline: p, Groups: [3]uint32{1, 1, 1}, Group: [3]uint32{32, 1, 1},
		Args: []gpu.Argument{{Index: 0, Memory: out, Write: true}, {Index: 1, Memory: in}},
	}})
	if err != nil {
		return fmt.Errorf("lane test: %w", err)
	}
	if _, err := work.Wait(); err != nil {
		return fmt.Errorf("lane test: %w", err)
	}
	got := make([]float32, 192)
	number.GetFloats(got, out.Bytes())
	return compareLanes(got)
}

// compareLanes checks the elements of a fragment 0…63, of its transpose, and of the product of both.
func compareLanes(got []float32) error {
	for lane := range 32 {
		row, col := lane/4&4+lane/2%4, lane/4&2*2+lane%2*2
		for e := range 2 {
			var product float32
			for k := range 8 {
				product += float32((8*row + k) * (8*(col+e) + k))
			}
			want := [3]float32{float32(8*row + col + e), float32(8*(col+e) + row), product}
			for part, name := range []string{"load", "transposed load", "product"} {
				if g := got[64*part+2*lane+e]; g != want[part] {
					return fmt.Errorf("%w: lane %d element %d after %s is %v, not %v", ErrLanes, lane, e, name, g, want[part])
				}
			}
		}
	}
	return nil
}
