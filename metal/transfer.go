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
	if d.whole() && s.whole() && (!d.exact || s.work.from == s.work.to) {
		b.share(d.root, s.root)
		return
	}
	f := inFull
	if !d.exact && s.first >= s.work.from && s.last <= s.work.to {
		f = inWork
	}
	b.convert(d, b.read(1, s, f), f, b.write(2, d, f), f)
}

// share makes d a copy of s that takes memory of its own when either is written.
func (b *Backend) share(d, s *root) {
	for _, x := range []*store{&s.full, &s.work} {
		if x.block != nil {
			x.block.refs++
		}
	}
	d.drop(&b.pool)
	d.full, d.work = s.full, s.work
}

// Add adds: dst += x.
func (b *Backend) Add(dst, x backend.Buffer) {
	d, s := of(dst), of(x)
	if !b.ready() || !b.same(d, s) {
		return
	}
	n := d.length()
	b.record(launch{
		name: "add", kernel: b.kernel(kernels.Library{Name: "rows"}, "add_rows", 0, 0),
		params: words(uint32(n)), args: []operand{b.in(1, s), b.update(2, d)},
		groups: [3]uint32{groupsFor(n, 4*rowsThreads), 1, 1}, group: [3]uint32{rowsThreads, 1, 1},
		work: Work{Bytes: 3 * d.bytes(inFull)},
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

// onHost runs write, which fills the memory of x with float32, between dispatches.
func (b *Backend) onHost(x *buffer, write func(memory []byte)) {
	if !b.ready() {
		return
	}
	busy := x.full.block == nil || x.full.block.submitted > b.rec.done || x.full.block.refs > 1
	if x.whole() && busy {
		b.renew(x.root, inFull, b.rec.done)
	}
	b.own(x, inFull, true)
	b.claim(x, inFull)
	if x.full.block.submitted > b.rec.done {
		b.flush()
		if err := b.drain(0); err != nil {
			b.fail(err)
		}
	}
	if b.stopped() {
		return
	}
	if !b.pool.use(x.full.block, true) {
		b.rec.repeatable = false
	}
	if b.dry {
		return
	}
	memory := x.memory(inFull)
	run := func() { write(memory) }
	b.rec.run = append(b.rec.run, step{host: run})
	run()
}

// Write copies float32 rows in.
func (b *Backend) Write(dst backend.Buffer, src []float32) {
	d := of(dst)
	if len(src) != d.length() {
		b.failf("write %d numbers to (%d, %d)", len(src), d.Rows(), d.cols)
		return
	}
	kept := append([]float32(nil), src...)
	b.onHost(d, func(memory []byte) { number.PutFloats(memory, kept) })
}

// Read waits for all that was asked before and copies rows out.
func (b *Backend) Read(dst []float32, src backend.Buffer) error {
	s := of(src)
	f := inFull
	if s.first >= s.work.from && s.last <= s.work.to && s.Rows() > 0 {
		f = inWork
	}
	if b.ready() {
		b.gather(s, f)
	}
	if err := b.Sync(); err != nil {
		return err
	}
	switch {
	case f == inFull:
		number.GetFloats(dst, s.memory(f))
	case b.wide:
		number.Get(dst, s.memory(f), number.FromBfloat)
	default:
		number.Get(dst, s.memory(f), number.FromHalf)
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
			number.PutFloats(memory[4*i*d.cols:], row)
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
			number.PutFloats(memory[4*i*d.cols:], mean)
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
