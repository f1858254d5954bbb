package cpu

import (
	"clefbar/engine/backend"
)

// form is how the factors of a product are represented.
type form int32

// The forms, numbered as in kernels.h.
const (
	formF32 form = iota
	formBF16
	formInt8
)

// perLane is the number of inputs in 32 bits.
func (f form) perLane() int { return 1 << f }

// What happens to a finished tile, numbered as in kernels.h.
const (
	store = iota
	add
	swiGLU
)

// gemm is one product: dst = epilogue(a · wᵀ).
type gemm struct {
	w, up     *weight // up only for swiGLU
	a         *prepared
	dst       mat
	half      *prepared // takes the result instead of dst, as bfloat16
	bias      []float32
	mode, act int
	kBlock    int // inputs expanded at a time

	panels int   // of the largest task
	rows   int   // of a task
	across []int // panel at which each task of a block of rows begins, and the end
	tasks  int
}

// Bounds on a task. Its panels fit beside a strip of activations in a second-level
// cache of 1 MB; its rows bound both the activations that it streams and the time
// until a cancelled run stops.
const (
	panelBytes = 512 << 10
	taskRows   = 768
	taskPanels = 4
)

func ceil(n, d int) int { return (n + d - 1) / d }

// split decides how the product is cut into tasks for n threads. Tasks get smaller towards the
// end, so that no worker waits long for the last one.
func (g *gemm) split(s shape, threads int) {
	units, rows := ceil(g.w.rows, s.nr), g.dst.rows
	if rows == 0 {
		return
	}
	most := taskPanels
	if g.mode == swiGLU {
		most /= 2
	}
	blocks := ceil(rows, min(taskRows, s.taskRows))
	g.rows = ceil(ceil(rows, blocks), s.mr) * s.mr
	for at := 0; at < units; {
		g.across = append(g.across, at)
		n := min(most, max(1, (units-at)*blocks/(2*threads)))
		g.panels = max(g.panels, n)
		at += n
	}
	g.tasks = len(g.across) * ceil(rows, g.rows)
	g.across = append(g.across, units)
	lanes := panelBytes / (taskPanels * s.nr * 4)
	g.kBlock = min(lanes*g.a.form.perLane(), ceil(g.w.cols, 128)*128)
}

// scratch is the memory of a task in bytes: panels, then strips (path_gemm in gemm.h).
func (g *gemm) scratch(s shape) int {
	k := min(g.kBlock, g.w.cols)
	panel := func(w *weight) int {
		n := ceil(ceil(k, g.a.form.perLane()), s.vw) * s.vw * s.nr * 4
		if g.a.form == formInt8 {
			n += k / w.group * s.nr * 8
		}
		return n
	}
	bytes, strips := panel(g.w), 1
	if g.up != nil {
		bytes += panel(g.up)
		strips = 2
	}
	rows := s.mr
	if k < g.w.cols {
		rows = g.rows
	}
	return g.panels * (bytes + strips*rows*s.nr*4)
}

// operations counts the product's multiplications and additions.
func (g *gemm) operations() float64 {
	n := 2 * float64(g.dst.rows) * float64(g.w.rows) * float64(g.w.cols)
	if g.up != nil {
		n *= 2
	}
	return n
}

// task runs piece i: row blocks outside, so that a block of activations stays in the cache
// while weights stream by.
func (g *gemm) task(p path, i int, scratch []byte) {
	s := p.shape()
	across := len(g.across) - 1
	m0, n0 := i/across*g.rows, g.across[i%across]*s.nr
	m1, n1 := min(m0+g.rows, g.dst.rows), min(g.across[i%across+1]*s.nr, g.w.rows)
	p.gemm(g, m0, m1, n0, n1, scratch)
}

// multiply runs several products as one pool of tasks.
func (c *CPU) multiply(list []gemm) {
	s, total, room := c.path.shape(), 0, 0
	for i := range list {
		list[i].split(s, c.pool.size)
		total += list[i].tasks
		c.operations += list[i].operations()
		room = max(room, list[i].scratch(s))
	}
	if c.grow(room); c.stopped() {
		return
	}
	c.parallel(total, func(worker, task int) {
		for i := range list {
			if task < list[i].tasks {
				list[i].task(c.path, task, c.scratchFor(worker))
				return
			}
			task -= list[i].tasks
		}
	})
}

// formFor returns how x is multiplied with w. Exact buffers are multiplied in float32 at every
// precision.
func (c *CPU) formFor(x *buffer, w *weight) (f form, rounded bool) {
	switch {
	case c.precision == F32 || x.format == backend.Exact:
		return formF32, false
	case c.precision == Int8 && w.bytesFit():
		return formInt8, false
	case c.path.shape().dotBF16:
		return formBF16, false
	}
	return formF32, true
}

// Linear multiplies x with every weight in one pass of the pool.
func (c *CPU) Linear(dst []backend.Buffer, x backend.Buffer, w, bias []backend.Weight, act backend.Activation) {
	if c.stopped() {
		return
	}
	c.prepare(x)
	list := make([]gemm, len(dst))
	for i := range dst {
		list[i] = gemm{w: w[i].(*weight), dst: out(dst[i]), mode: store, act: int(act)}
		if bias != nil {
			list[i].bias = vectorOf(bias[i])
		}
		c.activations(&list[i], x)
	}
	c.multiply(list)
}

// LinearAdd adds the product to dst.
func (c *CPU) LinearAdd(dst, x backend.Buffer, w, bias backend.Weight) {
	if c.stopped() {
		return
	}
	c.prepare(x)
	list := []gemm{{w: w.(*weight), dst: both(dst), mode: add, bias: vectorOf(bias)}}
	c.activations(&list[0], x)
	c.multiply(list)
}

// SwiGLU multiplies x with both weights panel by panel. Two weights that do not go into
// one form are multiplied in the more exact one.
func (c *CPU) SwiGLU(dst, x backend.Buffer, gate, up backend.Weight) {
	if c.stopped() {
		return
	}
	c.prepare(x)
	g := gemm{w: gate.(*weight), up: up.(*weight), dst: out(dst), mode: swiGLU}
	want(g.w.rows == g.up.rows && g.w.cols == g.up.cols, "SwiGLU", g.w.shape, g.up.shape)
	c.activations(&g, x)
	g.half = c.halve(dst)
	c.multiply([]gemm{g})
}

// activations gives a product its left factor.
func (c *CPU) activations(g *gemm, x backend.Buffer) {
	b := x.(*buffer)
	want(g.w.cols == b.cols && g.w.rows == g.dst.cols && b.rows == g.dst.rows, "Linear", b.rows, b.cols, g.w.shape, g.dst.rows, g.dst.cols)
	f, rounded := c.formFor(b, g.w)
	if f == formInt8 && g.up != nil && (!g.up.bytesFit() || g.up.group != g.w.group) {
		f, rounded = formF32, true
		if c.path.shape().dotBF16 {
			f, rounded = formBF16, false
		}
	}
	g.a = c.rows.get(c, b, f, rounded, g.w.group)
}
