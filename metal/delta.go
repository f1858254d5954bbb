package metal

import (
	"math"

	"clefbar/engine/backend"
	"clefbar/metal/kernels"
)

const (
	convThreads = 128 // of conv.metal: channels, or gates, of a threadgroup
	convTokens  = 16  // of conv.metal: rows of a thread
	convTaps    = 8   // of conv.metal: most taps
)

// convolution is a recorded convolution that waits for the gates behind it: they are
// independent and share a launch, which saves one of eleven in a layer.
type convolution struct {
	dst, x        *buffer
	rows, cols    int
	taps          uint32
	groups        uint32 // threadgroups
	channels      uint32 // threadgroups side by side
	args          []operand
	before, after bool // reads and keeps a history
	work          Work
}

// CausalConv computes a depthwise causal convolution over the rows, then SiLU. The
// history is updated.
func (b *Backend) CausalConv(dst, x backend.Buffer, taps backend.Weight, history backend.Buffer) {
	d, s, w := of(dst), of(x), taps.(*weight)
	if !b.ready() || !b.same(d, s) || d.Rows() == 0 {
		return
	}
	k := w.cols()
	if w.rows() != s.cols || k < 1 || k > convTaps {
		b.failf("convolution of %d channels with taps %v", s.cols, w.shape)
		return
	}
	c := &convolution{dst: d, x: s, rows: s.Rows(), cols: s.cols, taps: uint32(k), channels: groupsFor(s.cols, convThreads)}
	c.groups = c.channels * groupsFor(s.Rows(), convTokens)
	c.args = []operand{b.in(1, s), vector(2, taps), b.out(3, d)}
	c.work = Work{Multiplies: float64(s.length() * k), Bytes: 2 * s.bytes(inFull)}
	if history != nil && k > 1 {
		b.remember(c, of(history))
	}
	b.held = c
}

// remember reads a history and writes the new one to other memory: threadgroups run in any order.
func (b *Backend) remember(c *convolution, h *buffer) {
	if h.Rows() != int(c.taps)-1 || h.cols != c.cols || !h.whole() {
		b.failf("convolution with a history of (%d, %d)", h.Rows(), h.cols)
		return
	}
	c.before, c.after = h.full.from != h.full.to || h.work.from != h.work.to, true
	if c.before {
		c.args = append(c.args, b.in(4, h))
	}
	b.renew(h.root, inFull, always)
	c.args = append(c.args, b.out(5, h))
}

// settle records a held convolution.
func (b *Backend) settle() {
	if c := b.held; c != nil {
		b.held = nil
		b.convolve(c, 0, nil)
	}
}

// convolve records a convolution, gates, or both.
func (b *Backend) convolve(c *convolution, heads int, gates []operand) {
	groups := c.groups
	if gates != nil {
		groups += groupsFor(c.rows*heads, convThreads)
		c.work.Bytes += float64(16 * c.rows * heads)
	}
	b.record(launch{
		name: "conv", args: append(c.args, gates...),
		kernel: b.kernel(kernels.Library{Name: "conv"}, "conv_gates", flag(c.x != nil), flag(gates != nil),
			flag(c.before), flag(c.after)),
		params: words(uint32(c.rows), uint32(c.cols), c.taps, c.groups, max(c.channels, 1), uint32(heads)),
		groups: [3]uint32{groups, 1, 1}, group: [3]uint32{convThreads, 1, 1}, work: c.work,
	})
}

// DeltaGates computes g = -exp(ALog)·softplus(a+DtBias) and beta = sigmoid(b).
func (b *Backend) DeltaGates(g, beta, a, bb backend.Buffer, d backend.Delta) {
	c := b.held
	b.held = nil
	ga, be, in, gain := of(g), of(beta), of(a), of(bb)
	if c != nil && (c.rows != ga.Rows() || c.dst.root == in.root || c.dst.root == gain.root) {
		b.convolve(c, 0, nil)
		c = nil
	}
	if b.stopped() || !b.same(ga, in) || !b.same(be, gain) || !b.same(ga, be) || ga.Rows() == 0 {
		return
	}
	for _, x := range []*buffer{ga, be, in, gain} {
		if x.cols != d.ValueHeads {
			b.failf("gates need buffers with %d columns", d.ValueHeads)
			return
		}
	}
	if c == nil {
		c = &convolution{rows: ga.Rows()}
	}
	b.convolve(c, d.ValueHeads, []operand{
		b.in(6, in), b.in(7, gain), vector(8, d.ALog), vector(9, d.DtBias), b.out(10, ga), b.out(11, be),
	})
}

// NormGate computes dst = RMSNorm(o per head of width len(w), w) ⊙ silu(z).
func (b *Backend) NormGate(dst, o, z backend.Buffer, w backend.Weight, eps float32) {
	d, x, gate := of(dst), of(o), of(z)
	if !b.ready() || !b.same(d, x) || !b.same(d, gate) || d.Rows() == 0 {
		return
	}
	dim := w.(*weight).cols()
	if x.cols%dim != 0 {
		b.failf("heads of %d in %d columns", dim, x.cols)
		return
	}
	heads := x.length() / dim
	b.record(launch{
		name: "norm_gate", params: words(uint32(heads), uint32(dim), floatBits(eps)),
		kernel: b.kernel(kernels.Library{Name: "conv"}, "norm_gate", 0, 0, 0, 0),
		args:   []operand{b.in(1, x), b.in(2, gate), vector(3, w), b.out(4, d)},
		groups: [3]uint32{groupsFor(heads, 8), 1, 1}, group: [3]uint32{256, 1, 1},
		work: Work{Bytes: 3 * x.bytes(inFull)},
	})
}

const (
	chunkRows = 32   // of chunk.metal
	stepSlice = 32   // of delta.metal: value columns of a threadgroup
	scanRows  = 2048 // rows whose chunks are prepared together; bounds the scratch
	maxState  = 128  // of delta.metal: largest head
)

// rule is a call of GatedDelta.
type rule struct {
	out, x, g, beta, state *buffer
	d                      backend.Delta
	library                kernels.Library
}

// GatedDelta runs the delta rule, in chunks if there are enough rows to fill one.
func (b *Backend) GatedDelta(dst, qkv, g, beta backend.Buffer, d backend.Delta, state backend.Buffer) {
	r := rule{of(dst), of(qkv), of(g), of(beta), nil, d, kernels.Library{Name: "delta", KeyDim: d.KeyDim, ValDim: d.ValueDim}}
	if !b.ready() || r.out.Rows() == 0 || !b.fitsRule(r) {
		return
	}
	if state != nil {
		r.state = of(state)
		if !r.state.whole() || r.state.Rows() != d.ValueHeads*d.KeyDim || r.state.cols != d.ValueDim {
			b.failf("delta rule with a state of (%d, %d)", r.state.Rows(), r.state.cols)
			return
		}
	}
	if r.x.Rows() < chunkRows || d.KeyDim%8 != 0 || d.ValueDim%8 != 0 {
		b.steps(r)
		return
	}
	if r.state == nil && r.x.Rows() > scanRows {
		r.state = of(b.New(d.ValueHeads*d.KeyDim, d.ValueDim, backend.Exact))
		defer b.Free(r.state)
	}
	for from := 0; from < r.x.Rows(); from += scanRows {
		b.chunks(r, from, min(from+scanRows, r.x.Rows()))
	}
}

func (b *Backend) fitsRule(r rule) bool {
	d := r.d
	ok := d.KeyHeads > 0 && d.ValueHeads%d.KeyHeads == 0 && d.KeyDim%4 == 0 && d.KeyDim > 0 && d.KeyDim <= maxState &&
		d.ValueDim > 0 && d.ValueDim <= maxState &&
		r.x.cols == 2*d.KeyHeads*d.KeyDim+d.ValueHeads*d.ValueDim && r.out.cols == d.ValueHeads*d.ValueDim &&
		r.out.Rows() == r.x.Rows() && r.g.Rows() == r.x.Rows() && r.beta.Rows() == r.x.Rows()
	if !ok {
		b.failf("delta rule of %d key heads of %d and %d value heads of %d over %d columns", d.KeyHeads, d.KeyDim, d.ValueHeads, d.ValueDim, r.x.cols)
	}
	return ok
}

// params packs the parameters of delta.metal.
func (r rule) params(chunks, first int) []byte {
	return words(uint32(r.x.Rows()), uint32(r.d.KeyHeads), uint32(r.d.ValueHeads), uint32(chunks), uint32(first),
		floatBits(r.d.NormEps), floatBits(float32(1/math.Sqrt(float64(r.d.KeyDim)))))
}

// carry binds the state: it is read from the memory it has and written to other
// memory, so that copies of it cost nothing.
func (b *Backend) carry(r rule, read, write int) (args []operand, before, after bool) {
	if r.state == nil {
		return nil, false, false
	}
	before = r.state.full.from != r.state.full.to
	if before {
		args = append(args, b.in(read, r.state))
	}
	b.renew(r.state.root, inFull, always)
	return append(args, b.out(write, r.state)), before, true
}

// steps records the rule token after token.
func (b *Backend) steps(r rule) {
	d := r.d
	state, before, after := b.carry(r, 5, 6)
	n := float64(r.x.Rows() * d.ValueHeads * d.KeyDim * d.ValueDim)
	b.record(launch{
		name: "delta", params: r.params(0, 0), args: append(state, b.in(1, r.x), b.in(2, r.g), b.in(3, r.beta), b.out(4, r.out)),
		kernel: b.kernel(r.library, "delta_steps", flag(before), flag(after)),
		groups: [3]uint32{groupsFor(d.ValueDim, stepSlice), uint32(d.ValueHeads), 1}, group: [3]uint32{4 * stepSlice, 1, 1},
		work: Work{Multiplies: 3 * n, Bytes: r.x.bytes(inFull) + r.out.bytes(inFull)},
	})
}

// chunks records the rule for rows [from, to) in chunks: what they can do side by side, then the scan.
func (b *Backend) chunks(r rule, from, to int) {
	d := r.d
	n := (to - from + chunkRows - 1) / chunkRows
	floats := chunkRows*(3*d.KeyDim+d.ValueDim+chunkRows) + 8
	scratch := of(b.New(n*d.ValueHeads, floats, backend.Exact))
	defer b.Free(scratch)
	rows := float64((to - from) * d.ValueHeads)
	traffic := 4 * rows * float64(floats) / chunkRows
	b.record(launch{
		name: "delta_prepare", params: r.params(n, from/chunkRows),
		args:   []operand{b.in(1, r.x), b.in(2, r.g), b.in(3, r.beta), b.out(4, scratch)},
		kernel: b.kernel(r.library, "delta_prepare", 0, 0),
		groups: [3]uint32{uint32(n), uint32(d.ValueHeads), 1}, group: [3]uint32{128, 1, 1},
		work: Work{Multiplies: rows * chunkRows * float64(2*d.KeyDim+d.ValueDim+d.KeyDim) / 2, Bytes: traffic},
	})
	state, before, after := b.carry(r, 3, 4)
	b.record(launch{
		name: "delta", params: r.params(n, from/chunkRows), args: append(state, b.in(1, scratch), b.out(2, r.out)),
		kernel: b.kernel(r.library, "delta_scan", flag(before), flag(after)),
		groups: [3]uint32{groupsFor(d.ValueDim, 32), uint32(d.ValueHeads), 1}, group: [3]uint32{128, 1, 1},
		work: Work{
			Multiplies: rows * float64(d.ValueDim) * (3*float64(d.KeyDim) + chunkRows/2),
			Bytes:      traffic * float64(groupsFor(d.ValueDim, 32)),
		},
	})
}
