package metal

import (
	"clefbar/engine/backend"
	"clefbar/metal/kernels"
)

// normThreads is the threadgroup of the row norms.
const normThreads = 256

// RMSNorm computes dst = x · rsqrt(mean(x²)+eps) · w, per row.
func (b *Backend) RMSNorm(dst, x backend.Buffer, w backend.Weight, eps float32) {
	b.norm("rms_norm", of(dst), of(x), []operand{vector(2, w)}, eps)
}

// LayerNorm computes dst = (x-mean)/sqrt(var+eps) · w + bias, per row.
func (b *Backend) LayerNorm(dst, x backend.Buffer, w, bias backend.Weight, eps float32) {
	b.norm("layer_norm", of(dst), of(x), []operand{vector(2, w), vector(4, bias)}, eps)
}

func (b *Backend) norm(function string, d, x *buffer, weights []operand, eps float32) {
	if !b.ready() || !b.same(d, x) || d.Rows() == 0 {
		return
	}
	b.record(launch{
		name: function, kernel: b.kernel(kernels.Library{Name: "norm"}, function, flag(x.cols%4 == 0)), params: words(uint32(x.cols), floatBits(eps)),
		args:   append(weights, b.in(1, x), b.out(3, d)),
		groups: [3]uint32{uint32(x.Rows()), 1, 1}, group: [3]uint32{normThreads, 1, 1},
		work: Work{Bytes: 2 * x.bytes(inFull)},
	})
}

// MeanRows averages rows of x: dst[i] = mean of x[from:to].
func (b *Backend) MeanRows(dst, x backend.Buffer, spans []backend.Span) {
	d, s := of(dst), of(x)
	if !b.ready() || len(spans) == 0 {
		return
	}
	if len(spans) != d.Rows() || d.cols != s.cols {
		b.failf("average %d spans of (%d, %d) into (%d, %d)", len(spans), s.Rows(), s.cols, d.Rows(), d.cols)
		return
	}
	work := Work{Bytes: d.bytes(inFull)}
	for _, span := range spans {
		if span.From < 0 || span.From >= span.To || span.To > s.Rows() {
			b.failf("average rows [%d, %d) of %d", span.From, span.To, s.Rows())
			return
		}
		work.Bytes += float64(4 * (span.To - span.From) * s.cols)
	}
	list, release := b.spans(spans)
	defer release()
	b.record(launch{
		name: "mean_rows", kernel: b.kernel(kernels.Library{Name: "rows"}, "mean_rows", 0, 0),
		params: words(uint32(s.cols)), args: []operand{b.in(1, s), b.out(2, d), b.in(3, list)},
		groups: [3]uint32{groupsFor(s.cols, rowsThreads), uint32(len(spans)), 1}, group: [3]uint32{rowsThreads, 1, 1}, work: work,
	})
}

// Rotate turns the pairs (i, i+n) of every head of x in place, n being the columns of cos and sin.
func (b *Backend) Rotate(x, cos, sin backend.Buffer) {
	d, c, s := of(x), of(cos), of(sin)
	if !b.ready() || !b.same(c, s) || d.Rows() == 0 {
		return
	}
	if c.Rows() != d.Rows() || c.cols == 0 || d.cols%(2*c.cols) != 0 {
		b.failf("rotate (%d, %d) by (%d, %d) angles", d.Rows(), d.cols, c.Rows(), c.cols)
		return
	}
	n := d.length() / 2
	b.record(launch{
		name: "rotate", kernel: b.kernel(kernels.Library{Name: "rows"}, "rotate_rows", 0, 0),
		params: words(uint32(c.cols), uint32(d.cols/(2*c.cols)), uint32(n)), args: []operand{b.in(1, c), b.update(2, d), b.in(3, s)},
		groups: [3]uint32{groupsFor(n, rowsThreads), 1, 1}, group: [3]uint32{rowsThreads, 1, 1},
		work: Work{Bytes: 2 * d.bytes(inFull)},
	})
}

// spans puts ranges of rows where kernels can read them. Call release once the launch is recorded.
func (b *Backend) spans(list []backend.Span) (x *buffer, release func()) {
	pairs := make([]uint32, 0, 2*len(list))
	for _, s := range list {
		pairs = append(pairs, uint32(s.From), uint32(s.To))
	}
	x = of(b.New(len(list), 2, backend.Exact))
	packed := words(pairs...)
	b.onHost(x, func(memory []byte) { copy(memory, packed) })
	return x, func() { b.Free(x) }
}
