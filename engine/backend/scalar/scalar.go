// Package scalar is the plain Go reference of the Backend interface: float32,
// simple loops in the order of the formulas, one goroutine, no tricks. It is the
// oracle that the other backends are tested against and far too slow for real
// models.
package scalar

import (
	"context"
	"fmt"

	"clefbar/engine/backend"
)

// Backend computes every operation at once, in float32.
type Backend struct {
	ctx context.Context
	err error
}

// New returns a ready backend.
func New() *Backend { return &Backend{ctx: context.Background()} }

// Info describes the backend.
func (b *Backend) Info() backend.Info {
	return backend.Info{Device: "CPU", Detail: "plain Go, 1 thread", Precision: "f32"}
}

// Load decodes a vector and keeps a pointer to a matrix or table, whose rows are
// decoded whenever they are read.
func (b *Backend) Load(t backend.Tensor, use backend.Use) (backend.Weight, error) {
	if use == backend.Matrix || use == backend.Table {
		if len(t.Shape) != 2 {
			return nil, fmt.Errorf("load %s: shape %v is not a matrix", t.Name, t.Shape)
		}
		return &matrix{t: t, rows: t.Shape[0], cols: t.Shape[1]}, nil
	}
	return &vector{data: t.Floats(), shape: t.Shape}, nil
}

// Close does nothing: memory is Go's.
func (b *Backend) Close() error { return nil }

// Begin starts a run under ctx.
func (b *Backend) Begin(ctx context.Context) { b.ctx, b.err = ctx, nil }

// Sync returns the first failure of the run.
func (b *Backend) Sync() error {
	b.stopped()
	return b.err
}

// stopped tells operations to do nothing because the run has failed or was cancelled.
func (b *Backend) stopped() bool {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	return b.err != nil
}

// matrix is a weight whose rows are decoded on use.
type matrix struct {
	t          backend.Tensor
	rows, cols int
}

func (m *matrix) Shape() []int { return []int{m.rows, m.cols} }

// vector is a weight kept as float32.
type vector struct {
	data  []float32
	shape []int
}

func (v *vector) Shape() []int { return v.shape }

func floats(w backend.Weight) []float32 { return w.(*vector).data }

// buffer is a row-major float32 matrix.
type buffer struct {
	rows, cols int
	data       []float32
}

func (x *buffer) Rows() int { return x.rows }
func (x *buffer) Cols() int { return x.cols }

func (x *buffer) Slice(from, to int) backend.Buffer {
	return &buffer{to - from, x.cols, x.data[from*x.cols : to*x.cols]}
}

func (x *buffer) row(i int) []float32 { return x.data[i*x.cols : (i+1)*x.cols] }

func of(b backend.Buffer) *buffer { return b.(*buffer) }

// New returns a zeroed buffer.
func (b *Backend) New(rows, cols int, _ backend.Format) backend.Buffer {
	return &buffer{rows, cols, make([]float32, rows*cols)}
}

// Free does nothing: memory is Go's.
func (b *Backend) Free(...backend.Buffer) {}

// Write copies rows in.
func (b *Backend) Write(dst backend.Buffer, src []float32) {
	if !b.stopped() {
		copy(of(dst).data, src)
	}
}

// Read copies rows out.
func (b *Backend) Read(dst []float32, src backend.Buffer) error {
	if b.stopped() {
		return b.err
	}
	copy(dst, of(src).data)
	return nil
}

// Copy sets dst to src.
func (b *Backend) Copy(dst, src backend.Buffer) {
	if !b.stopped() {
		copy(of(dst).data, of(src).data)
	}
}

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Rotator = (*Backend)(nil)
)
