package metal

import (
	"math"

	"clefbar/engine/backend"
	"clefbar/metal/kernels"
)

const (
	queryRows   = 32  // of attention.metal: rows of a threadgroup
	maxHead     = 256 // largest head in Work format
	maxExact    = 128 // largest head in float: threadgroup memory
	limitAll    = 0   // of attention.metal: which keys a row sees
	limitCausal = 1
	limitSpans  = 2
)

// AttnPrep splits [q|gate] per head, normalises q and k per head and rotates them. Where queries or
// keys are not asked for, the kernel gets the others in their place and no head to touch them with.
func (b *Backend) AttnPrep(q, gate, k, qg, kRaw, cos, sin backend.Buffer, a backend.Attn) {
	queries, keys := qg != nil, kRaw != nil
	if !queries {
		q, gate, qg, a.Heads = k, k, kRaw, 0
	}
	if !keys {
		k, kRaw, a.KVHeads = q, qg, 0
	}
	out := []*buffer{of(q), of(gate), of(k)}
	x, raw, c, s := of(qg), of(kRaw), of(cos), of(sin)
	rows, d := x.Rows(), a.HeadDim
	if !b.ready() || rows == 0 {
		return
	}
	if queries && (x.cols != 2*a.Heads*d || out[0].cols != a.Heads*d || out[1].cols != a.Heads*d) ||
		keys && (raw.cols != a.KVHeads*d || out[2].cols != a.KVHeads*d) || raw.Rows() != rows || c.Rows() != rows ||
		c.cols != a.Rotary/2 || a.Rotary%2 != 0 || a.Rotary > d || d%8 != 0 || d > maxHead || out[0].exact || out[1].exact || out[2].exact {
		b.failf("prepare attention of %d and %d heads of %d from %d and %d columns", a.Heads, a.KVHeads, d, x.cols, raw.cols)
		return
	}
	b.record(launch{
		name: "attention_prepare", kernel: b.kernel(kernels.Library{Name: "prepare", Head: d}, "attention_prepare"),
		params: words(uint32(rows), uint32(a.Heads), uint32(a.KVHeads), uint32(a.Rotary), floatBits(a.Eps)),
		args: []operand{
			b.in(1, x), b.in(2, raw), vector(3, a.QNorm), vector(4, a.KNorm), b.in(5, c), b.in(6, s),
			b.outHalf(7, out[0]), b.outHalf(8, out[1]), b.outHalf(9, out[2]),
		},
		groups: [3]uint32{groupsFor(rows*(a.Heads+a.KVHeads), 8), 1, 1}, group: [3]uint32{256, 1, 1},
		work: Work{Bytes: float64((x.length() + raw.length()) * 6)},
	})
}

// look is one call of the attention kernel.
type look struct {
	dst, q, gate, k, v  *buffer
	spans               *buffer
	heads, groupSize, d int // key heads, query heads for each, size
	past                int
	limit               uint32
	exact               bool // q and k in float32
}

// Attention computes dst = sigmoid(gate) ⊙ softmax(q·kᵀ/√HeadDim, causal)·v.
func (b *Backend) Attention(dst, q, gate, k, v backend.Buffer, past int, a backend.Attn) {
	if a.KVHeads == 0 || a.Heads%a.KVHeads != 0 {
		b.failf("attention with %d query heads for %d key heads", a.Heads, a.KVHeads)
		return
	}
	b.look(look{
		dst: of(dst), q: of(q), gate: of(gate), k: of(k), v: of(v), heads: a.KVHeads, groupSize: a.Heads / a.KVHeads, d: a.HeadDim,
		past: past, limit: limitCausal,
	})
}

// MHA computes dst = softmax(q·kᵀ/√(cols/heads))·v per head; rows limits each row of
// q to a span of k and v.
func (b *Backend) MHA(dst, q, k, v backend.Buffer, heads int, rows []backend.Span) {
	l := look{dst: of(dst), q: of(q), k: of(k), v: of(v), heads: heads, groupSize: 1, limit: limitAll, exact: true}
	if heads == 0 || l.q.cols%heads != 0 {
		b.failf("attention with %d heads over %d columns", heads, l.q.cols)
		return
	}
	l.d = l.q.cols / heads
	if rows != nil {
		if len(rows) != l.q.Rows() {
			b.failf("attention of %d rows with %d spans", l.q.Rows(), len(rows))
			return
		}
		var release func()
		l.limit = limitSpans
		l.spans, release = b.spans(rows)
		defer release()
	}
	b.look(l)
}

func (b *Backend) fitsLook(l look) bool {
	most := maxHead
	if l.exact {
		most = maxExact
	}
	ok := l.d%8 == 0 && l.d > 0 && l.d <= most && l.q.cols == l.heads*l.groupSize*l.d && l.k.cols == l.heads*l.d && l.v.cols == l.k.cols &&
		l.k.Rows() == l.v.Rows() && b.same(l.dst, l.q) && (l.exact || !l.q.exact && !l.k.exact && !l.gate.exact)
	if !ok {
		b.failf("attention of (%d, %d) over (%d, %d) with heads of %d", l.q.Rows(), l.q.cols, l.k.Rows(), l.k.cols, l.d)
	}
	return ok
}

// look records attention, in several launches if one would keep the GPU too long.
func (b *Backend) look(l look) {
	if !b.ready() || !b.fitsLook(l) || l.q.Rows() == 0 || l.k.Rows() == 0 {
		return
	}
	f := inWork
	if l.exact {
		f = inFull
	}
	args := []operand{b.read(1, l.q, f), b.read(2, l.k, f), b.in(3, l.v), b.out(6, l.dst)}
	if l.gate != nil {
		args = append(args, b.read(4, l.gate, f))
	}
	if l.spans != nil {
		args = append(args, b.in(5, l.spans))
	}
	whole := l.work()
	blocks := int(groupsFor(l.q.Rows()*l.groupSize, queryRows))
	pieces := max(1, min(blocks, int(b.chip.Seconds(whole)/longest)+1))
	library := kernels.Library{Name: "attention", Exact: l.exact, Head: l.d}
	scale := float32(log2e / math.Sqrt(float64(l.d)))
	for i := range pieces {
		from, to := blocks*i/pieces, blocks*(i+1)/pieces
		part := float64(to-from) / float64(blocks)
		b.record(launch{
			name: "attention", kernel: b.kernel(library, "attention", flag(l.gate != nil), l.limit),
			params: words(uint32(l.q.Rows()), uint32(l.k.Rows()), uint32(l.past), uint32(l.heads*l.groupSize), uint32(l.groupSize),
				uint32(l.q.cols), uint32(l.k.cols), uint32(l.dst.cols), uint32(from), floatBits(scale)),
			args: args, groups: [3]uint32{uint32(to - from), uint32(l.heads), 1}, group: [3]uint32{128, 1, 1},
			work: whole.part(part),
		})
	}
}

// work counts the causal half only, in whole blocks of keys.
func (l look) work() Work {
	pairs := float64(l.q.Rows()) * float64(l.k.Rows())
	if l.limit == limitCausal {
		pairs = float64(l.q.Rows()) * (float64(l.past) + float64(l.q.Rows()+queryRows)/2)
	}
	n := 2 * pairs * float64(l.q.cols)
	return Work{Multiplies: n, Attention: n, Bytes: 2*l.q.bytes(inFull) + 2*l.k.bytes(inFull)}
}
