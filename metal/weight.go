package metal

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"clefbar/engine/backend"
	"clefbar/metal/gpu"
	"clefbar/metal/number"
	"clefbar/models"
)

// Formats of a matrix, as bits in gemm.metal.
const (
	formatHalf uint32 = 1 << iota
	formatBfloat
	formatFloat
	formatCode4
	formatCode8
	formatCode
)

// place is memory from an offset on.
type place struct {
	mem    gpu.Memory
	offset int
}

// weight is a tensor in the form the GPU uses.
type weight struct {
	tensor models.Tensor
	shape  []int

	data, scales, biases place
	format               uint32
	pitch                int // bytes of a row
	bits, group          int // of affine codes
	floatScales          bool
}

// Shape returns the logical shape.
func (w *weight) Shape() []int { return w.shape }

func (w *weight) rows() int { return w.shape[0] }
func (w *weight) cols() int { return w.shape[len(w.shape)-1] }

// bytes is what one pass over the matrix reads.
func (w *weight) bytes() float64 {
	n := float64(w.rows() * w.pitch)
	if w.bits > 0 {
		n += float64(w.rows()*w.cols()/w.group) * 4
	}
	return n
}

// Load takes a tensor in. Matrices are used in place where alignment allows it and
// the element type suits the GPU, else copied. Tables stay where they are, because
// only the host reads them.
func (b *Backend) Load(t backend.Tensor, use backend.Use) (backend.Weight, error) {
	w := &weight{tensor: t, shape: t.Shape}
	var err error
	switch {
	case use == backend.Table:
		if len(t.Shape) != 2 {
			err = fmt.Errorf("shape %v is not a table", t.Shape)
		}
	case use == backend.Vector:
		err = b.loadVector(w)
	case len(t.Shape) != 2:
		err = fmt.Errorf("shape %v is not a matrix", t.Shape)
	case t.Quant != nil:
		err = b.loadCodes(w)
	default:
		err = b.loadDense(w)
	}
	if errors.Is(err, gpu.ErrMemory) {
		err = fmt.Errorf("%w: %w", backend.ErrMemory, err)
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", t.Name, err)
	}
	return w, nil
}

// loadVector keeps a small tensor as float32.
func (b *Backend) loadVector(w *weight) error {
	values := w.tensor.Floats()
	var err error
	if w.data, err = b.arena.take(4 * len(values)); err == nil {
		b.weightLen += int64(4 * len(values))
		number.PutFloats(w.data.mem.Bytes()[w.data.offset:], values)
		w.format, w.pitch = formatFloat, 4*w.cols()
	}
	return err
}

func (b *Backend) loadDense(w *weight) error {
	t := w.tensor
	w.pitch = w.cols() * t.DType.Size()
	switch t.DType {
	case models.F32:
		w.format = formatFloat
	case models.F16:
		w.format = formatHalf
	case models.BF16:
		w.format = formatBfloat
		if b.chip.Family < gpu.Apple9 { // bfloat is emulated there: convert once, which is exact (metal.md 3.1)
			return b.loadAsHalf(w)
		}
	default:
		return fmt.Errorf("element type %s cannot be multiplied", t.DType)
	}
	var err error
	w.data, err = b.keep(t.Data, 8)
	return err
}

// loadAsHalf converts bfloat to half, or keeps bfloat if a value does not fit.
func (b *Backend) loadAsHalf(w *weight) error {
	mem, err := b.allocate(len(w.tensor.Data))
	if err != nil {
		return err
	}
	w.data = place{mem: mem}
	var misfits atomic.Int32
	inPieces(len(w.tensor.Data), func(from, to int) {
		if !number.HalfFromBfloats(mem.Bytes()[from:to], w.tensor.Data[from:to]) {
			misfits.Add(1)
		}
	})
	w.format = formatHalf
	if misfits.Load() > 0 {
		w.format = formatBfloat
		inPieces(len(w.tensor.Data), func(from, to int) { copy(mem.Bytes()[from:to], w.tensor.Data[from:to]) })
	}
	return nil
}

func (b *Backend) loadCodes(w *weight) error {
	q := w.tensor.Quant
	cols := w.cols()
	if q.Group < 8 || bits.OnesCount(uint(q.Group)) != 1 || cols%q.Group != 0 || q.Bits < 2 || q.Bits > 8 || q.Bits == 7 {
		return fmt.Errorf("%d-bit codes in groups of %d over %d columns are not supported", q.Bits, q.Group, cols)
	}
	w.bits, w.group, w.pitch = q.Bits, q.Group, cols*q.Bits/8
	w.format = map[int]uint32{4: formatCode4, 8: formatCode8}[q.Bits]
	if w.format == 0 {
		w.format = formatCode
	}
	var err error
	if w.data, err = b.keep(w.tensor.Data, 4); err != nil {
		return err
	}
	w.floatScales = q.Scales.DType != models.BF16 || q.Biases.DType != models.BF16
	for _, s := range []struct {
		to   *place
		from models.Tensor
	}{{&w.scales, q.Scales}, {&w.biases, q.Biases}} {
		if w.floatScales {
			s.from = models.FromFloats(s.from.Name, s.from.Shape, s.from.Floats())
		}
		if *s.to, err = b.keep(s.from.Data, 4); err != nil {
			return err
		}
	}
	return nil
}

// keep makes bytes available to the GPU: in place if the device can and the address
// is a multiple of align, else as a copy.
func (b *Backend) keep(data []byte, align int) (place, error) {
	const worthMapping = 64 << 10
	if len(data) >= worthMapping {
		if mem, offset, err := b.dev.Wrap(data); err == nil {
			if offset%align == 0 {
				b.weights = append(b.weights, mem)
				b.weightLen += int64(len(data))
				return place{mem, offset}, nil
			}
			mem.Release()
		}
	} else if p, err := b.arena.take(len(data)); err == nil {
		b.weightLen += int64(len(data))
		copy(p.mem.Bytes()[p.offset:], data)
		return p, nil
	}
	mem, err := b.allocate(len(data))
	if err != nil {
		return place{}, err
	}
	inPieces(len(data), func(from, to int) { copy(mem.Bytes()[from:to], data[from:to]) })
	return place{mem: mem}, nil
}

// allocate returns memory for a weight.
func (b *Backend) allocate(n int) (gpu.Memory, error) {
	mem, err := b.dev.Alloc(max(n, 16))
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes: %w", n, err)
	}
	b.weights = append(b.weights, mem)
	b.weightLen += int64(n)
	return mem, nil
}

// inPieces runs work over [0, n) in a few goroutines, cut at even offsets.
func inPieces(n int, work func(from, to int)) {
	const piece, readers = 16 << 20, 6
	if n <= piece {
		work(0, n)
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range readers {
		wait.Go(func() {
			for {
				from := int(next.Add(piece)) - piece
				if from >= n {
					return
				}
				work(from, min(from+piece, n))
			}
		})
	}
	wait.Wait()
}

// arena hands out pieces of larger allocations for small weights.
type arena struct {
	dev    gpu.Device
	chunks []gpu.Memory
	used   int
}

const arenaChunk = 1 << 20

// take returns n bytes, aligned for any type.
func (a *arena) take(n int) (place, error) {
	size := (n + 255) &^ 255
	if len(a.chunks) == 0 || a.used+size > len(a.chunks[len(a.chunks)-1].Bytes()) {
		mem, err := a.dev.Alloc(max(arenaChunk, size))
		if err != nil {
			return place{}, fmt.Errorf("allocate %d bytes: %w", n, err)
		}
		a.chunks, a.used = append(a.chunks, mem), 0
	}
	p := place{a.chunks[len(a.chunks)-1], a.used}
	a.used += size
	return p, nil
}

func (a *arena) close() {
	for _, m := range a.chunks {
		m.Release()
	}
	a.chunks = nil
}

// vector binds a vector weight.
func vector(index int, w backend.Weight) operand {
	v := w.(*weight)
	return operand{index: index, mem: v.data.mem, offset: v.data.offset}
}

// log2 of a power of two.
func log2(n int) uint32 { return uint32(bits.TrailingZeros(uint(n))) }

// log2e turns exponentials into powers of two.
const log2e = math.Log2E
