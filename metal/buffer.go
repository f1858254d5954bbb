package metal

import (
	"clefbar/engine/backend"
	"clefbar/metal/kernels"
	"clefbar/metal/number"
)

// store is one form of a buffer's rows.
type store struct {
	block    *block // nil until needed
	from, to int    // rows whose values are here
}

// root is the storage of a buffer and of its slices. Rows are float32, because
// answers move by more than 2e-3 when thousands of activations are rounded to half on
// their way, except where AttnPrep or a copy of its results wrote last: queries, keys
// and gates are kept as Work, which halves the traffic of long contexts and moves
// answers by 1e-5. A row has its value in one form, or in none: then it is zero.
type root struct {
	rows, cols int
	exact      bool // never Work
	full, work store
}

// form selects a store of a root.
type form int

const (
	inFull form = iota // float32
	inWork             // half, or bfloat on the wide path
)

func (f form) size() int { return [...]int{4, 2}[f] }

func (r *root) at(f form) *store {
	if f == inWork {
		return &r.work
	}
	return &r.full
}

// drop gives the blocks of r back.
func (r *root) drop(p *pool) {
	for _, s := range []*store{&r.full, &r.work} {
		if s.block != nil {
			p.put(s.block)
		}
		*s = store{}
	}
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

func (x *buffer) length() int          { return x.Rows() * x.cols }
func (x *buffer) whole() bool          { return x.first == 0 && x.last == x.rows }
func (x *buffer) offset(f form) int    { return x.first * x.cols * f.size() }
func (x *buffer) bytes(f form) float64 { return float64(x.length() * f.size()) }

// memory returns the bytes of the view in a form.
func (x *buffer) memory(f form) []byte {
	return x.at(f).block.mem.Bytes()[x.offset(f):][:x.length()*f.size()]
}

func of(b backend.Buffer) *buffer { return b.(*buffer) }

// New returns a zeroed buffer. Its memory is taken when something is written.
func (b *Backend) New(rows, cols int, f backend.Format) backend.Buffer {
	r := &root{rows: rows, cols: cols, exact: f == backend.Exact}
	b.pool.live[r] = true
	return &buffer{r, 0, rows}
}

// Free gives the memory of buffers back.
func (b *Backend) Free(list ...backend.Buffer) {
	for _, x := range list {
		if r := of(x).root; b.pool.live[r] {
			delete(b.pool.live, r)
			r.drop(&b.pool)
		}
	}
}

// always is later than every command buffer: a block may still be in use when it is
// handed out again, because the device works in order.
const always = ^uint64(0)

// renew gives a store a block of its own with undefined content.
func (b *Backend) renew(r *root, f form, done uint64) {
	n, err := b.pool.get(r.rows*r.cols*f.size(), done)
	if err != nil {
		b.fail(err)
		if n = r.at(f).block; n != nil {
			return
		}
		n = &block{refs: 1}
	}
	s := r.at(f)
	if s.block != nil {
		b.pool.put(s.block)
	}
	s.block = n
}

// in binds a buffer that is read as float32.
func (b *Backend) in(index int, x *buffer) operand { return b.read(index, x, inFull) }

// out binds a buffer that is overwritten with float32, outHalf one with Work.
func (b *Backend) out(index int, x *buffer) operand     { return b.write(index, x, inFull) }
func (b *Backend) outHalf(index int, x *buffer) operand { return b.write(index, x, inWork) }

// update binds a buffer that is read and written.
func (b *Backend) update(index int, x *buffer) operand {
	b.gather(x, inFull)
	b.own(x, inFull, false)
	return operand{index: index, block: x.full.block, offset: x.offset(inFull), write: true, both: true}
}

func (b *Backend) read(index int, x *buffer, f form) operand {
	b.gather(x, f)
	return operand{index: index, block: x.at(f).block, offset: x.offset(f)}
}

func (b *Backend) write(index int, x *buffer, f form) operand {
	b.own(x, f, true)
	b.claim(x, f)
	return operand{index: index, block: x.at(f).block, offset: x.offset(f), write: true}
}

// gather makes all rows of x available in a form: converted if they are in the other
// one, zeroed if they hold no values.
func (b *Backend) gather(x *buffer, f form) {
	s, o := x.at(f), x.at(1-f)
	if s.block == nil {
		b.renew(x.root, f, always)
	}
	if from, to := max(x.first, o.from), min(x.last, o.to); from < to {
		part := &buffer{x.root, from, to}
		source := operand{index: 1, block: o.block, offset: part.offset(1 - f)}
		b.own(part, f, true)
		b.claim(part, f)
		b.convert(part, source, 1-f, part.target(f), f)
	}
	if x.first >= s.from && x.last <= s.to {
		return
	}
	b.own(x, f, false)
	if s.from == s.to {
		s.from, s.to = x.first, x.first
	}
	for _, gap := range []*buffer{{x.root, x.first, s.from}, {x.root, s.to, x.last}} {
		if gap.Rows() > 0 {
			b.zero(gap, f)
		}
	}
	s.from, s.to = min(s.from, x.first), max(s.to, x.last)
}

// claim notes that all of x is about to be written in a form. Rows hold values in one
// interval of each form; what would break that is converted or zeroed first.
func (b *Backend) claim(x *buffer, f form) {
	s, o := x.at(f), x.at(1-f)
	switch {
	case o.from >= o.to || x.last <= o.from || x.first >= o.to: // nothing of x is there
	case x.first <= o.from && x.last >= o.to:
		o.from, o.to = 0, 0
	case x.first <= o.from:
		o.from = x.last
	case x.last >= o.to:
		o.to = x.first
	default: // the middle: what is before goes along
		b.gather(&buffer{x.root, o.from, x.first}, f)
		o.from = x.last
	}
	switch {
	case s.from == s.to:
		s.from, s.to = x.first, x.last
	case x.first > s.to:
		b.gather(&buffer{x.root, s.to, x.first}, f)
	case x.last < s.from:
		b.gather(&buffer{x.root, x.last, s.from}, f)
	}
	s.from, s.to = min(s.from, x.first), max(s.to, x.last)
}

// own makes sure that x, which is about to be written, has a block that no copy
// shares. Rows that hold values and are not overwritten go along.
func (b *Backend) own(x *buffer, f form, overwritten bool) {
	s := x.at(f)
	if s.block == nil {
		b.renew(x.root, f, always)
		return
	}
	if s.block.refs < 2 {
		return
	}
	old := s.block
	old.refs++
	b.renew(x.root, f, always)
	kept := &buffer{x.root, s.from, s.to}
	if kept.Rows() > 0 && !(overwritten && x.first <= s.from && x.last >= s.to) {
		b.convert(kept, operand{index: 1, block: old, offset: kept.offset(f)}, f, kept.target(f), f)
	}
	b.pool.put(old)
}

// target binds the rows of x in a form for copy_rows, which writes them.
func (x *buffer) target(f form) operand {
	return operand{index: 2, block: x.at(f).block, offset: x.offset(f), write: true}
}

// convert records a copy of the rows of x from one place and form to another.
func (b *Backend) convert(x *buffer, from operand, source form, to operand, target form) {
	n := x.length()
	b.record(launch{
		name: "copy", kernel: b.kernel(kernels.Library{Name: "rows"}, "copy_rows", uint32(source), uint32(target)), params: words(uint32(n)),
		args:   []operand{from, to},
		groups: [3]uint32{groupsFor(n, 4*rowsThreads), 1, 1}, group: [3]uint32{rowsThreads, 1, 1},
		work: Work{Bytes: x.bytes(source) + x.bytes(target)},
	})
}

// zero writes zeros; memory that is fresh from the system has them already.
func (b *Backend) zero(x *buffer, f form) {
	if x.at(f).block.fresh {
		return
	}
	n := x.length() * f.size() / 2
	b.record(launch{
		name: "fill", kernel: b.kernel(kernels.Library{Name: "rows"}, "fill_zero", 0, 0), params: words(uint32(n)),
		args:   []operand{x.target(f)},
		groups: [3]uint32{groupsFor(n, rowsThreads), 1, 1}, group: [3]uint32{rowsThreads, 1, 1},
		work: Work{Bytes: float64(2 * n)},
	})
}

// reformat rewrites all Work values from half to bfloat. Nothing may be pending.
func (p *pool) reformat() {
	done := map[*block]bool{}
	for r := range p.live {
		if r.work.block == nil || done[r.work.block] {
			continue
		}
		done[r.work.block] = true
		values := &buffer{r, r.work.from, r.work.to}
		memory, numbers := values.memory(inWork), make([]float32, values.length())
		number.Get(numbers, memory, number.FromHalf)
		number.Put(memory, numbers, number.Bfloat)
	}
}
