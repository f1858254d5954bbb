package cpu

import (
	"fmt"
	"math"

	"clefbar/engine/backend"
)

// mat is a row-major matrix as kernels see it. Rows start at 64-byte addresses; a row
// may be written up to the next multiple of 16 columns.
type mat struct {
	data               []float32
	rows, cols, stride int
}

func (m mat) row(i int) []float32 { return m.data[i*m.stride : i*m.stride+m.cols] }

// strideFor pads rows to whole cache lines, and by one line more: rows a power of two
// apart would compete for the same lines of the first-level cache.
func strideFor(cols int) int { return (cols+15)/16*16 + 16 }

// buffer implements [backend.Buffer]. All formats are float32 here; the format only tells
// in what form products read the buffer.
type buffer struct {
	mat
	block  block // nil for slices
	format backend.Format

	root   *buffer // owner of the memory, itself unless this is a slice
	at     int     // first row in the root
	zero   bool    // of a root: rows outside [from, to) are due to be zeros but have not been written
	from   int
	to     int
	writes int     // of a root: operations that wrote to its memory
	halved *buffer // of a root: the part of it whose rows hold bfloat16 for the time being

	packed   *prepared // left factor of products, made with the content
	packedAt int       // root.writes at that time
}

func (b *buffer) Rows() int { return b.rows }
func (b *buffer) Cols() int { return b.cols }

// Slice returns a view of rows [from, to).
func (b *buffer) Slice(from, to int) backend.Buffer {
	s := &buffer{mat: mat{rows: to - from, cols: b.cols, stride: b.stride}, format: b.format, root: b.root, at: b.at + from}
	if to > from && b.data != nil {
		s.data = b.data[from*b.stride : to*b.stride]
	}
	return s
}

// writeZeros writes the zeros that are due, unless all rows of b have been written since.
func (b *buffer) writeZeros() {
	r := b.root
	if !r.zero || r.data == nil || (r.from <= b.at && b.at+b.rows <= r.to) {
		return
	}
	r.zero = false
	clear(r.data[:r.from*r.stride])
	clear(r.data[r.to*r.stride:])
}

// overwritten notes that all rows of b are about to be written.
func (b *buffer) overwritten() {
	r, end := b.root, b.at+b.rows
	switch {
	case !r.zero:
	case r.from == r.to:
		r.from, r.to = b.at, end
	case b.at <= r.to && r.from <= end:
		r.from, r.to = min(r.from, b.at), max(r.to, end)
	default:
		b.writeZeros()
	}
}

// settle makes all rows float32.
func (b *buffer) settle() {
	b.writeZeros()
	if h := b.root.halved; h != nil {
		b.root.halved = nil
		h.widen()
	}
}

// widen turns rows of bfloat16 into rows of float32 in place.
func (b *buffer) widen() {
	b.packed = nil
	for i := range b.rows {
		half := block(b.data[i*b.stride:]).bytes()
		for j, row := b.cols-1, b.row(i); j >= 0; j-- {
			row[j] = math.Float32frombits(uint32(half[2*j])<<16 | uint32(half[2*j+1])<<24)
		}
	}
}

// New returns a zeroed buffer; the zeros are written only if something reads them.
func (c *CPU) New(rows, cols int, f backend.Format) backend.Buffer {
	b := &buffer{mat: mat{rows: rows, cols: cols, stride: strideFor(cols)}, format: f, zero: true}
	b.root = b
	if rows > 0 {
		if b.block = c.get(rows * b.stride * 4); b.block != nil {
			b.data = b.block[:rows*b.stride]
		}
	}
	return b
}

// Free takes buffers back. Slices are ignored.
func (c *CPU) Free(list ...backend.Buffer) {
	for _, x := range list {
		if b, ok := x.(*buffer); ok && b != nil && b.block != nil {
			c.mem.put(b.block)
			b.block, b.data = nil, nil
		}
	}
}

// in returns a buffer to read.
func in(b backend.Buffer) mat {
	x := b.(*buffer)
	x.settle()
	return x.mat
}

// both returns a buffer to change.
func both(b backend.Buffer) mat {
	x := b.(*buffer)
	x.settle()
	x.root.writes++
	return x.mat
}

// out returns a buffer that will be overwritten as a whole.
func out(b backend.Buffer) mat {
	x := b.(*buffer)
	x.overwritten()
	x.root.writes++
	if h := x.root.halved; h != nil {
		x.root.halved = nil
		if len(x.data) < len(h.data) || &x.data[0] != &h.data[0] {
			h.widen()
		}
	}
	return x.mat
}

// want panics when shapes do not fit: a slip in the model code, never in its input.
func want(ok bool, op string, shapes ...any) {
	if !ok {
		panic("cpu: " + op + ": shapes do not fit: " + fmt.Sprint(shapes...))
	}
}

// Write copies rows in; src is as long as rows·cols.
func (c *CPU) Write(dst backend.Buffer, src []float32) {
	if c.stopped() {
		return
	}
	d := out(dst)
	want(len(src) == d.rows*d.cols, "Write", len(src), d.rows, d.cols)
	for i := range d.rows {
		copy(d.row(i), src[i*d.cols:])
	}
}

// Read copies rows out.
func (c *CPU) Read(dst []float32, src backend.Buffer) error {
	if c.stopped() {
		return c.err
	}
	s := in(src)
	want(len(dst) == s.rows*s.cols, "Read", len(dst), s.rows, s.cols)
	for i := range s.rows {
		copy(dst[i*s.cols:], s.row(i))
	}
	return nil
}

// Copy copies rows.
func (c *CPU) Copy(dst, src backend.Buffer) {
	if c.stopped() {
		return
	}
	s, d := in(src), out(dst)
	want(s.rows == d.rows && s.cols == d.cols, "Copy", s.rows, s.cols, d.rows, d.cols)
	c.overRows(s.rows, float64(s.cols)/4, func(from, to int) {
		for i := from; i < to; i++ {
			copy(d.row(i), s.row(i))
		}
	})
}
