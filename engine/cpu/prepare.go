package cpu

import "clefbar/engine/backend"

// prepared is a left factor in the form that a product reads.
type prepared struct {
	form    form
	rounded bool // float32 rounded to bfloat16, for processors that cannot multiply those
	data    []byte
	stride  int // bytes
	scale   []float32
	sum     []float32
	group   int // int8: columns per scale
	groups  int
}

// operand keeps the left factors made from one buffer, by the operation that wrote it or by the
// first product that reads it, until the next buffer's, and their memory for longer.
type operand struct {
	made   []*prepared
	blocks []block
	used   int
}

// prepare forgets the factors of the operations before, unless the last one made x's.
func (c *CPU) prepare(x backend.Buffer) {
	b, o := x.(*buffer), &c.rows
	if n := len(o.made); n > 0 && b.packed == o.made[n-1] && b.packedAt == b.root.writes {
		o.made = append(o.made[:0], b.packed)
		return
	}
	b.settle()
	o.forget()
}

func (o *operand) forget() { o.made, o.used = o.made[:0], 0 }

// packs reports whether products will read b as bfloat16.
func (c *CPU) packs(b *buffer) bool {
	return c.precision == BF16 && c.path.shape().dotBF16 && b.format == backend.Work && b.rows > 0 && b.data != nil
}

// keep remembers p as the left factor of b's products. It holds for the next operation.
func (o *operand) keep(b *buffer, p *prepared) {
	o.made = append(o.made, p)
	b.packed, b.packedAt = p, b.root.writes
}

// halve lets an operation write dst as rows of bfloat16, which is all that products read; other
// readers find float32 again (settle in buffer.go). It returns nil when dst has to be float32.
func (c *CPU) halve(dst backend.Buffer) *prepared {
	b := dst.(*buffer)
	if !c.packs(b) {
		return nil
	}
	p := &prepared{form: formBF16, stride: b.stride * 4, data: block(b.data).bytes()}
	c.rows.keep(b, p)
	b.root.halved = b
	return p
}

// overRowsPacked is overRows for an operation that fills dst: rows are made a left factor while
// they are in the cache.
func (c *CPU) overRowsPacked(dst backend.Buffer, nanos float64, fn func(from, to int)) {
	b := dst.(*buffer)
	c.rows.forget()
	var p *prepared
	if c.packs(b) {
		p = &prepared{form: formBF16, stride: b.stride * 2}
		p.data = c.rows.take(c, b.rows*p.stride).bytes()
	}
	if p == nil || p.data == nil {
		c.overRows(b.rows, nanos, fn)
		return
	}
	step := max(1, 4096/b.cols)
	c.overRows(b.rows, nanos+float64(b.cols)/8, func(from, to int) {
		for ; from < to; from += step {
			fn(from, min(from+step, to))
			c.path.toBF16(b.mat, p.data, p.stride, from, min(from+step, to))
		}
	})
	c.rows.keep(b, p)
}

// take returns a block of n bytes that stays with the operand.
func (o *operand) take(c *CPU, n int) block {
	if o.used == len(o.blocks) {
		o.blocks = append(o.blocks, nil)
	}
	b := &o.blocks[o.used]
	o.used++
	if b.size() < n {
		c.mem.put(*b)
		*b = c.get(n)
	}
	return *b
}

// release gives the memory back between runs.
func (o *operand) release(c *CPU) {
	for _, b := range o.blocks {
		c.mem.put(b)
	}
	o.made, o.blocks, o.used = nil, nil, 0
}

// get returns x in a form, converting it once.
func (o *operand) get(c *CPU, x *buffer, f form, rounded bool, group int) *prepared {
	if f != formInt8 {
		group = 0
	}
	for _, p := range o.made {
		if p.form == f && p.rounded == rounded && p.group == group {
			return p
		}
	}
	p := &prepared{form: f, rounded: rounded, group: group, stride: x.stride * 4}
	o.made = append(o.made, p)
	if x.rows == 0 || x.data == nil {
		return p
	}
	if f == formF32 && !rounded {
		p.data = block(x.data).bytes()
		return p
	}
	o.convert(c, x.mat, p)
	return p
}

func (o *operand) convert(c *CPU, x mat, p *prepared) {
	p.stride = x.stride * 4 / p.form.perLane()
	b := o.take(c, x.rows*p.stride)
	if b == nil {
		return
	}
	p.data = b.bytes()
	nanos := float64(x.cols) / 8
	switch {
	case p.form == formInt8:
		p.groups = x.cols / p.group
		p.scale, p.sum = o.take(c, x.rows*p.groups*4), o.take(c, x.rows*p.groups*4)
		if p.scale == nil || p.sum == nil {
			return
		}
		c.overRows(x.rows, 2*nanos, func(from, to int) { c.path.toInt8(x, p, from, to) })
	case p.form == formBF16:
		c.overRows(x.rows, nanos, func(from, to int) { c.path.toBF16(x, p.data, p.stride, from, to) })
	default:
		c.overRows(x.rows, nanos, func(from, to int) { c.path.toRounded(x, p.data, p.stride, from, to) })
	}
}
