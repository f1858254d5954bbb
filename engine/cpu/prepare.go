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

// operand keeps the left factors made from one buffer during one operation, and their memory
// for the next.
type operand struct {
	made   []*prepared
	blocks []block
	used   int
}

// prepare forgets the factors of the operation before.
func (c *CPU) prepare(x backend.Buffer) {
	in(x)
	c.rows.made, c.rows.used = c.rows.made[:0], 0
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
