package metal

import (
	"fmt"
	"math/bits"
	"slices"

	"clefbar/engine/backend"
	"clefbar/metal/gpu"
	"clefbar/metal/number"
)

// block is device memory that buffers are made of. Buffers that are copies of each
// other share one until either is written.
type block struct {
	mem   gpu.Memory
	class int // bytes
	refs  int
	fresh bool // zeroed and never written

	submitted uint64 // last command buffer that uses it
	run       int    // run of the fields below
	readOld   bool   // the run has read what was there before it
	written   bool   // the run has written it

	phase       uint64 // barrier phase of the fields below
	reads, puts bool
}

// root is the storage of a buffer and of its slices.
type root struct {
	block      *block
	rows, cols int
	exact      bool
	scale      float32 // stored value = scale · value
	from, to   int     // rows that hold values; the others count as zero
}

// buffer is a range of rows of a root.
type buffer struct {
	*root
	first, last int
}

// Rows returns the number of rows.
func (x *buffer) Rows() int { return x.last - x.first }

// Cols returns the number of columns.
func (x *buffer) Cols() int { return x.cols }

// Slice returns a view of rows [from, to).
func (x *buffer) Slice(from, to int) backend.Buffer {
	return &buffer{x.root, x.first + from, x.first + to}
}

func (r *root) elem() int {
	if r.exact {
		return 4
	}
	return 2
}

func (x *buffer) offset() int { return x.first * x.cols * x.elem() }
func (x *buffer) length() int { return x.Rows() * x.cols }
func (x *buffer) whole() bool { return x.first == 0 && x.last == x.rows }

// host returns the bytes of the view.
func (x *buffer) host() []byte {
	return x.block.mem.Bytes()[x.offset():][:x.length()*x.elem()]
}

func of(b backend.Buffer) *buffer { return b.(*buffer) }

// pool hands out blocks and takes them back. The device runs everything in order, so
// a block may be reused before the work on its last use is done.
type pool struct {
	dev   gpu.Device
	free  map[int][]*block
	live  map[*root]bool
	limbo []*block // read in this run and given back: kept until its end, for a repetition
	run   int
	bytes int64
	peak  int64
}

// class rounds a size up so that waste stays below an eighth.
func class(n int) int {
	n = max(n, 256)
	step := max(1<<max(0, bits.Len(uint(n-1))-4), 256)
	return (n + step - 1) / step * step
}

// get returns a block for n bytes that no command buffer after done uses.
func (p *pool) get(n int, done uint64) (*block, error) {
	c := class(n)
	list := p.free[c]
	for i := len(list) - 1; i >= 0; i-- {
		if x := list[i]; x.submitted <= done {
			p.free[c] = slices.Delete(list, i, i+1)
			x.refs = 1
			return x, nil
		}
	}
	mem, err := p.dev.Alloc(c)
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes on the GPU: %w", n, err)
	}
	p.bytes += int64(c)
	p.peak = max(p.peak, p.bytes)
	return &block{mem: mem, class: c, refs: 1, fresh: true}, nil
}

// put gives a reference back.
func (p *pool) put(x *block) {
	if x.refs--; x.refs > 0 {
		return
	}
	if x.run == p.run && x.readOld {
		p.limbo = append(p.limbo, x)
		return
	}
	p.free[x.class] = append(p.free[x.class], x)
}

// endRun gives back what a repetition might have needed.
func (p *pool) endRun() {
	for _, x := range p.limbo {
		p.free[x.class] = append(p.free[x.class], x)
	}
	p.limbo = nil
}

// keptRuns is for how many runs unused memory is kept.
const keptRuns = 8

// trim releases memory that no recent run has used. Nothing may be pending.
func (p *pool) trim() {
	for c, list := range p.free {
		p.free[c] = slices.DeleteFunc(list, func(x *block) bool {
			old := x.run+keptRuns < p.run
			if old {
				p.bytes -= int64(x.class)
				x.mem.Release()
			}
			return old
		})
	}
}

// use notes that the run reads or writes a block and reports whether the run can
// still be repeated: it can unless something is written that was read before.
func (p *pool) use(x *block, write bool) bool {
	if x.run != p.run {
		x.run, x.readOld, x.written = p.run, false, false
	}
	if !write {
		x.readOld = x.readOld || !x.written
		return true
	}
	x.written, x.fresh = true, false
	return !x.readOld
}

// reformat rewrites the values of all Work buffers from half to bfloat. Nothing may be pending.
func (p *pool) reformat() {
	done := map[*block]bool{}
	for r := range p.live {
		if r.exact || done[r.block] {
			continue
		}
		done[r.block] = true
		b := r.block.mem.Bytes()
		row := make([]float32, r.cols)
		for i := r.from; i < r.to; i++ {
			part := b[2*i*r.cols:][:2*r.cols]
			number.Get(row, part, number.FromHalf)
			number.Put(part, row, number.Bfloat)
		}
	}
}

// close releases everything. Nothing may be pending.
func (p *pool) close() {
	p.endRun()
	for r := range p.live {
		if r.block.mem != nil {
			r.block.mem.Release()
			r.block.mem = nil
		}
	}
	for _, list := range p.free {
		for _, x := range list {
			x.mem.Release()
		}
	}
	p.live, p.free = nil, nil
}

// New returns a zeroed buffer.
func (b *Backend) New(rows, cols int, f backend.Format) backend.Buffer {
	r := &root{rows: rows, cols: cols, exact: f == backend.Exact, scale: 1}
	x, err := b.pool.get(rows*cols*r.elem(), math64)
	if err != nil {
		b.fail(err)
		x = &block{refs: 1}
	}
	r.block = x
	b.pool.live[r] = true
	return &buffer{r, 0, rows}
}

// math64 is later than every command buffer.
const math64 = ^uint64(0)

// Free gives the memory of buffers back.
func (b *Backend) Free(list ...backend.Buffer) {
	for _, x := range list {
		r := of(x).root
		if !b.pool.live[r] {
			continue
		}
		delete(b.pool.live, r)
		if r.block.mem != nil {
			b.pool.put(r.block)
		}
	}
}
