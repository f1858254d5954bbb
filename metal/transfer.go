package metal

import (
	"encoding/binary"

	"clefbar/engine/backend"
	"clefbar/metal/kernels"
	"clefbar/metal/number"
)

// rowsThreads is the threadgroup of the whole-buffer kernels; each thread has four elements.
const rowsThreads = 256

// words packs 32-bit values as a kernel's parameter struct.
func words(v ...uint32) []byte {
	b := make([]byte, 4*len(v))
	for i, w := range v {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
	return b
}

func groupsFor(n, size int) uint32 { return uint32((n + size - 1) / size) }

// fill zeroes the rows of x that hold no values yet.
func (b *Backend) fill(x *buffer) {
	if x.first >= x.from && x.last <= x.to {
		return
	}
	if x.from == x.to {
		x.from, x.to = x.first, x.first
	}
	before, behind := &buffer{x.root, x.first, x.from}, &buffer{x.root, x.to, x.last}
	for _, gap := range []*buffer{before, behind} {
		if gap.Rows() > 0 {
			b.zero(gap)
		}
	}
	x.from, x.to = min(x.from, x.first), max(x.to, x.last)
}

// mark notes that all of x is about to be written. Rows between it and those written before are zeroed.
func (b *Backend) mark(x *buffer) {
	if x.from == x.to {
		x.from, x.to = x.first, x.last
		return
	}
	if x.first > x.to {
		b.fill(&buffer{x.root, x.to, x.first})
	} else if x.last < x.from {
		b.fill(&buffer{x.root, x.last, x.from})
	}
	x.from, x.to = min(x.from, x.first), max(x.to, x.last)
}

// zero writes zeros; memory that is fresh from the system has them already.
func (b *Backend) zero(x *buffer) {
	if x.block.fresh {
		return
	}
	n := x.length() * x.elem() / 2
	b.record(launch{
		name: "fill", kernel: b.kernel(kernels.Library{Name: "rows"}, "fill_zero", 0, 0), params: words(uint32(n), 0),
		args:   []operand{{index: 2, block: x.block, offset: x.offset(), write: true}},
		groups: [3]uint32{groupsFor(n, rowsThreads), 1, 1}, group: [3]uint32{rowsThreads, 1, 1},
		work: Work{Bytes: float64(2 * n)},
	})
}

// own makes sure that no other buffer shares the block of x, which is about to be
// written. What is not overwritten is copied.
func (b *Backend) own(x *buffer, overwritten bool) {
	if x.block.refs < 2 {
		return
	}
	if overwritten && x.first <= x.from && x.last >= x.to {
		b.renew(x.root, math64)
		return
	}
	old := &buffer{&root{block: x.block, rows: x.rows, cols: x.cols, exact: x.exact, scale: x.scale, from: x.from, to: x.to}, x.from, x.to}
	b.renew(x.root, math64)
	if old.Rows() > 0 && !b.stopped() {
		whole := &buffer{x.root, x.from, x.to}
		b.copyRows(operand{index: 2, block: x.block, offset: whole.offset(), write: true}, whole, old, 1)
	}
}

// renew gives a root a block of its own with undefined content.
func (b *Backend) renew(r *root, done uint64) {
	n, err := b.pool.get(r.rows*r.cols*r.elem(), done)
	if err != nil {
		b.fail(err)
		return
	}
	b.pool.put(r.block)
	r.block = n
}

// copyRows records dst = factor · src.
func (b *Backend) copyRows(to operand, dst, src *buffer, factor float32) {
	n := dst.length()
	b.record(launch{
		name: "copy", kernel: b.kernel(kernels.Library{Name: "rows"}, "copy_rows", flag(src.exact), flag(dst.exact)),
		params: words(uint32(n), floatBits(factor)), args: []operand{b.in(1, src), to},
		groups: [3]uint32{groupsFor(n, 4*rowsThreads), 1, 1}, group: [3]uint32{rowsThreads, 1, 1},
		work: Work{Bytes: float64(n * (dst.elem() + src.elem()))},
	})
}

// Copy sets dst to src. Copies of whole buffers share memory until one of them is written.
func (b *Backend) Copy(dst, src backend.Buffer) {
	d, s := of(dst), of(src)
	if !b.ready() {
		return
	}
	if d.Rows() != s.Rows() || d.cols != s.cols {
		b.failf("copy (%d, %d) to (%d, %d)", s.Rows(), s.cols, d.Rows(), d.cols)
		return
	}
	if d.root == s.root {
		if d.first != s.first {
			b.failf("copy between rows of one buffer")
		}
		return
	}
	if d.whole() && s.whole() && d.exact == s.exact {
		s.block.refs++
		b.pool.put(d.block)
		d.block, d.scale, d.from, d.to = s.block, s.scale, s.from, s.to
		return
	}
	b.copyRows(b.out(2, d), d, s, 1/s.scale)
}

// Add adds: dst += x.
func (b *Backend) Add(dst, x backend.Buffer) {
	d, s := of(dst), of(x)
	if !b.ready() || !b.same(d, s) {
		return
	}
	s = b.unscaled(s)
	n := d.length()
	b.record(launch{
		name: "add", kernel: b.kernel(kernels.Library{Name: "rows"}, "add_rows", flag(s.exact), flag(d.exact)),
		params: words(uint32(n), 0), args: []operand{b.in(1, s), b.update(2, d)},
		groups: [3]uint32{groupsFor(n, 4*rowsThreads), 1, 1}, group: [3]uint32{rowsThreads, 1, 1},
		work: Work{Bytes: float64(n * (2*d.elem() + s.elem()))},
	})
}

// same checks that two buffers have one shape.
func (b *Backend) same(d, s *buffer) bool {
	if d.Rows() != s.Rows() || d.cols != s.cols {
		b.failf("shapes (%d, %d) and (%d, %d) differ", d.Rows(), d.cols, s.Rows(), s.cols)
		return false
	}
	return true
}

// unscaled returns x, or a copy if x is stored with a factor that the next operation does not know.
func (b *Backend) unscaled(x *buffer) *buffer {
	if x.scale == 1 {
		return x
	}
	n := of(b.New(x.Rows(), x.cols, backend.Work))
	b.copyRows(b.out(2, n), n, x, 1/x.scale)
	b.Free(n) // the device works in order: its memory is reused only behind what reads it
	return n
}

// onHost runs write on the memory of x, which it fills, between dispatches.
func (b *Backend) onHost(x *buffer, write func(memory []byte)) {
	if !b.ready() {
		return
	}
	if x.whole() && (x.block.submitted > b.rec.done || x.block.refs > 1) {
		b.renew(x.root, b.rec.done)
	}
	b.own(x, true)
	b.mark(x)
	if x.block.submitted > b.rec.done {
		b.flush()
		if err := b.drain(0); err != nil {
			b.fail(err)
			return
		}
	}
	x.scale = 1
	if !b.pool.use(x.block, true) {
		b.rec.repeatable = false
	}
	memory := x.host()
	run := func() { write(memory) }
	b.rec.run = append(b.rec.run, step{host: run})
	run()
}

// store writes floats in the format of a root.
func (b *Backend) store(memory []byte, exact bool, src []float32) {
	switch {
	case exact:
		number.PutFloats(memory, src)
	case b.wide:
		number.Put(memory, src, number.Bfloat)
	default:
		number.Put(memory, src, number.Half)
	}
}

// Write copies float32 rows in.
func (b *Backend) Write(dst backend.Buffer, src []float32) {
	d := of(dst)
	if len(src) != d.length() {
		b.failf("write %d numbers to (%d, %d)", len(src), d.Rows(), d.cols)
		return
	}
	kept := append([]float32(nil), src...)
	b.onHost(d, func(memory []byte) { b.store(memory, d.exact, kept) })
}

// Read waits for all that was asked before and copies rows out.
func (b *Backend) Read(dst []float32, src backend.Buffer) error {
	s := of(src)
	if b.ready() {
		b.fill(s)
	}
	if err := b.Sync(); err != nil {
		return err
	}
	memory := s.host()
	switch {
	case s.exact:
		number.GetFloats(dst, memory)
	case b.wide:
		number.Get(dst, memory, number.FromBfloat)
	default:
		number.Get(dst, memory, number.FromHalf)
	}
	if s.scale != 1 {
		for i := range dst {
			dst[i] /= s.scale
		}
	}
	return nil
}

// Embed gathers rows of a table on the host: the table itself is never resident on
// the GPU, which saves 2 GB and costs a copy of T rows (metal.md 3.2).
func (b *Backend) Embed(dst backend.Buffer, table backend.Weight, ids []int32) {
	t, d := table.(*weight), of(dst)
	if len(ids) != d.Rows() || !b.inTable(t, ids) {
		b.failf("gather %d rows of %s into %d", len(ids), t.tensor.Name, d.Rows())
		return
	}
	ids = append([]int32(nil), ids...)
	b.onHost(d, func(memory []byte) {
		row := make([]float32, d.cols)
		for i, id := range ids {
			t.tensor.Row(row, int(id))
			b.store(memory[i*d.cols*d.elem():], d.exact, row)
		}
	})
}

// MeanTable averages rows of a table, duplicates counted, on the host like Embed.
func (b *Backend) MeanTable(dst backend.Buffer, table backend.Weight, ids [][]int32) {
	t, d := table.(*weight), of(dst)
	kept := make([][]int32, len(ids))
	for i, list := range ids {
		if len(list) == 0 || !b.inTable(t, list) {
			b.failf("average rows of %s: list %d is empty or outside of the table", t.tensor.Name, i)
			return
		}
		kept[i] = append([]int32(nil), list...)
	}
	b.onHost(d, func(memory []byte) {
		row, mean, sum := make([]float32, d.cols), make([]float32, d.cols), make([]float64, d.cols)
		for i, list := range kept {
			clear(sum)
			for _, id := range list {
				t.tensor.Row(row, int(id))
				for c, v := range row {
					sum[c] += float64(v)
				}
			}
			for c, v := range sum {
				mean[c] = float32(v / float64(len(list)))
			}
			b.store(memory[i*d.cols*d.elem():], d.exact, mean)
		}
	})
}

func (b *Backend) inTable(t *weight, ids []int32) bool {
	for _, id := range ids {
		if id < 0 || int(id) >= t.shape[0] {
			return false
		}
	}
	return true
}
