package cpu

import (
	"math"
	"unsafe"

	"clefbar/engine/backend"
)

// prep is the split, norm and rotation in front of attention as kernels see it.
type prep struct {
	q, gate, k, qg, kRaw, cos, sin mat
	qNorm, kNorm                   []float32
	heads, kvHeads, dim, rotary    int
	eps                            float32
}

// AttnPrep splits, normalises and rotates queries, keys or both; k may be kRaw.
func (c *CPU) AttnPrep(q, gate, k, qg, kRaw, cos, sin backend.Buffer, a backend.Attn) {
	if c.stopped() {
		return
	}
	p := &prep{cos: in(cos), sin: in(sin), qNorm: vectorOf(a.QNorm), kNorm: vectorOf(a.KNorm), dim: a.HeadDim, rotary: a.Rotary, eps: a.Eps}
	if qg != nil {
		p.qg, p.q, p.gate, p.heads = in(qg), out(q), out(gate), a.Heads
	}
	if kRaw != nil {
		p.kRaw, p.k, p.kvHeads = in(kRaw), out(k), a.KVHeads
	}
	want(p.qg.cols == 2*p.heads*a.HeadDim && p.kRaw.cols == p.kvHeads*a.HeadDim && p.cos.cols == a.Rotary/2 && len(p.qNorm) == a.HeadDim && len(p.kNorm) == a.HeadDim,
		"AttnPrep", p.qg.cols, p.kRaw.cols, p.cos.cols, a)
	c.overRows(p.cos.rows, float64(p.qg.cols+p.kRaw.cols)/3, func(from, to int) { c.path.prep(p, from, to) })
}

// attend is softmax attention as kernels see it. spans holds from and to of each query row, or
// is nil: then row i sees keys [0, past+i].
type attend struct {
	dst, q, gate, k, v        mat
	spans                     []int64
	past, heads, kvHeads, dim int
	scale                     float32
	form                      form
	tokens                    int // query rows of a task, 0 for as many as suit the workers
}

// attendKeys is KEYS of attend.h, attendRows the number of query rows (tokens times heads
// that share a key head) that one block of expanded keys serves.
const (
	attendKeys = 128
	attendRows = 256
)

// scratch is the memory of a task in bytes; divide in attend.h lays it out.
func (a *attend) scratch(s shape) int {
	per, rows := a.form.perLane(), a.tokens*(a.heads/a.kvHeads)
	width := ceil(a.dim, s.nr) * s.nr
	keys := attendKeys * ceil(ceil(a.dim, per), s.vw) * s.vw * 4
	values := width * attendKeys / per * 4
	query := ceil(a.dim, 16)*16*4/per + 64
	weights := attendKeys*4/per + 64
	return keys + values + rows*(query+weights+(attendKeys+16)*4+width*4) + 2*ceil(rows, 16)*16*4
}

// Attention is causal attention with grouped heads and a gate.
func (c *CPU) Attention(dst, q, gate, k, v backend.Buffer, past int, a backend.Attn) {
	if c.stopped() {
		return
	}
	j := &attend{
		q: in(q), gate: in(gate), k: in(k), v: in(v), dst: out(dst), past: past, heads: a.Heads, kvHeads: a.KVHeads, dim: a.HeadDim,
		form: c.attendForm(q), scale: float32(1 / math.Sqrt(float64(a.HeadDim))),
	}
	want(j.k.rows == past+j.q.rows && j.v.rows == j.k.rows && j.q.cols == a.Heads*a.HeadDim && j.k.cols == a.KVHeads*a.HeadDim,
		"Attention", j.q.rows, j.q.cols, j.k.rows, j.k.cols, past, a)
	c.attend(j)
}

// MHA is attention without a mask, or limited to spans.
func (c *CPU) MHA(dst, q, k, v backend.Buffer, heads int, rows []backend.Span) {
	if c.stopped() {
		return
	}
	j := &attend{q: in(q), k: in(k), v: in(v), dst: out(dst), heads: heads, kvHeads: heads, form: c.attendForm(q)}
	j.dim = j.q.cols / heads
	want(j.dim*heads == j.q.cols && j.k.cols == j.q.cols && j.v.rows == j.k.rows && (rows == nil || len(rows) == j.q.rows),
		"MHA", j.q.rows, j.q.cols, j.k.rows, j.k.cols, heads, len(rows))
	j.scale = float32(1 / math.Sqrt(float64(j.dim)))
	room := c.spans(j, rows)
	defer c.mem.put(room)
	c.attend(j)
}

// spans limits each row of queries to its span of keys, nil being all of them. The memory that
// it returns goes back after the run.
func (c *CPU) spans(j *attend, rows []backend.Span) block {
	room := c.get(16 * max(1, j.q.rows))
	if room == nil {
		return nil
	}
	j.spans = unsafe.Slice((*int64)(unsafe.Pointer(&room[0])), 2*j.q.rows)
	for i := range j.q.rows {
		s := backend.Span{To: j.k.rows}
		if rows != nil {
			s = rows[i]
		}
		j.spans[2*i], j.spans[2*i+1] = int64(max(0, s.From)), int64(min(s.To, j.k.rows))
	}
	return room
}

// attendForm is the form of the products of attention: exact for exact queries, and where
// bfloat16 would have to be emulated.
func (c *CPU) attendForm(q backend.Buffer) form {
	if c.precision == F32 || q.(*buffer).format == backend.Exact || !c.path.shape().dotBF16 {
		return formF32
	}
	return formBF16
}

func (c *CPU) attend(j *attend) {
	if j.q.rows == 0 {
		return
	}
	if j.tokens == 0 {
		j.tokens = max(1, min(attendRows/(j.heads/j.kvHeads), ceil(j.q.rows*j.kvHeads, 2*c.pool.size)))
	}
	if c.grow(j.scratch(c.path.shape())); c.stopped() {
		return
	}
	blocks := ceil(j.q.rows, j.tokens)
	c.parallel(blocks*j.kvHeads, func(worker, task int) {
		// The last rows see most keys: they go first, so that the workers end together.
		from := (blocks - 1 - task/j.kvHeads) * j.tokens
		c.path.attend(j, task%j.kvHeads, from, min(from+j.tokens, j.q.rows), c.scratchFor(worker))
	})
}
