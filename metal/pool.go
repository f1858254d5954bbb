package metal

import (
	"fmt"
	"math/bits"
	"slices"

	"clefbar/metal/gpu"
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
	if x.refs--; x.refs > 0 || x.mem == nil { // nil: stands for memory that was not to be had
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

// close releases everything. Nothing may be pending.
func (p *pool) close() {
	for r := range p.live {
		r.drop(p)
	}
	p.endRun()
	for _, list := range p.free {
		for _, x := range list {
			x.mem.Release()
		}
	}
	p.live, p.free = nil, nil
}
