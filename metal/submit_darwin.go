package metal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clefbar/metal/gpu"
	"clefbar/metal/mtl"
)

// pending is a committed command buffer.
type pending struct {
	d      *device
	buffer mtl.CommandBuffer
}

// Submit encodes a list into one command buffer and commits it.
func (d *device) Submit(list []gpu.Dispatch) (gpu.Pending, error) {
	p := &pending{d: d}
	var err error
	d.thread.do(func() { mtl.Pool(func() { err = d.encode(p, list) }) })
	d.pulse.touch()
	if err != nil {
		return nil, err
	}
	return p, nil
}

var (
	errNoBuffer  = errors.New("no command buffer from Metal")
	errNoEncoder = errors.New("no encoder from Metal")
)

func (d *device) encode(p *pending, list []gpu.Dispatch) error {
	if d.changed {
		d.resident.Commit()
		d.changed = false
	}
	create := d.queue.CommandBuffer
	if slices.ContainsFunc(list, func(x gpu.Dispatch) bool { return x.Product != nil }) {
		create = d.queue.RetainingCommandBuffer
	}
	var ok bool
	if p.buffer, ok = create(); !ok {
		return errNoBuffer
	}
	for from := 0; from < len(list); {
		to := from
		for to < len(list) && list[to].Product == nil {
			to++
		}
		err := d.encodeKernels(p.buffer, list[from:to])
		if err == nil && to < len(list) {
			err = d.encodeProduct(p.buffer, &list[to])
			to++
		}
		if err != nil {
			p.buffer.Release()
			return err
		}
		from = to
	}
	p.buffer.Commit()
	return nil
}

// encodeKernels encodes dispatches of our kernels with an encoder of their own.
func (d *device) encodeKernels(c mtl.CommandBuffer, list []gpu.Dispatch) error {
	if len(list) == 0 {
		return nil
	}
	e, ok := c.ComputeEncoder()
	if !ok {
		return errNoEncoder
	}
	var current gpu.Pipeline
	for i := range list {
		x := &list[i]
		if x.Barrier && i > 0 { // encoders wait for each other: the memory is tracked
			e.MemoryBarrier()
		}
		if x.Pipeline != current {
			current = x.Pipeline
			e.SetPipeline(x.Pipeline.(*pipeline).mtl)
		}
		for _, a := range x.Args {
			if a.Memory == nil {
				e.SetBytes(a.Bytes, a.Index)
			} else {
				e.SetBuffer(a.Memory.(*shared).mtl, a.Offset, a.Index)
			}
		}
		e.Dispatch(size(x.Groups), size(x.Group))
	}
	e.End()
	return nil
}

// encodeProduct encodes a product by the system, which opens encoders of its own.
func (d *device) encodeProduct(c mtl.CommandBuffer, x *gpu.Dispatch) error {
	p := x.Product
	matrix := func(i, rows, columns, pitch int) mtl.Matrix {
		a := x.Args[i]
		return mtl.Matrix{Buffer: a.Memory.(*shared).mtl, Offset: a.Offset, Rows: rows, Columns: columns, RowBytes: 4 * pitch}
	}
	beta := 0.0
	if p.Add {
		beta = 1
	}
	if err := c.Multiply(d.mtl, matrix(0, p.Rows, p.Depth, p.Depth), matrix(1, p.Outputs, p.Depth, p.Depth), matrix(2, p.Rows, p.Outputs, p.Pitch), beta); err != nil {
		return fmt.Errorf("%w: %w", gpu.ErrProduct, err)
	}
	return nil
}

func size(v [3]uint32) mtl.Size {
	return mtl.Size{Width: uint64(v[0]), Height: uint64(v[1]), Depth: uint64(v[2])}
}

// Wait waits for the GPU and returns its failure, with the time it took.
func (p *pending) Wait() (took time.Duration, err error) {
	p.d.thread.do(func() {
		mtl.Pool(func() {
			p.buffer.WaitUntilCompleted()
			took = time.Duration(p.buffer.GPUSeconds() * float64(time.Second))
			if e := p.buffer.Failure(); e != nil {
				err = kind(e)
			}
			p.buffer.Release()
		})
	})
	return took, err
}

// kind sorts a failure of the GPU by what helps. The system takes the GPU away when
// the work of one command buffer is too long, or in the way of the screen.
func kind(e *mtl.Error) error {
	switch {
	case e.Code == mtl.ErrorTimeout || strings.Contains(e.Description, "Interactivity") || strings.Contains(e.Description, "Timeout"):
		return fmt.Errorf("%w: %w", gpu.ErrTimeout, e)
	case e.Code == mtl.ErrorOutOfMemory:
		return fmt.Errorf("%w: %w", gpu.ErrMemory, e)
	}
	return e
}
