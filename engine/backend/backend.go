// Package backend is the small set of operations that a decision is made of. The
// backbone (engine/qwen) and the joint head (engine/head) are written once against
// it; engine/cpu computes at once, metal records dispatches. A third, scalar
// implementation (engine/backend/scalar) is the oracle of both.
//
// Operations never return an error: the first failure, or the end of the context
// given to Begin, makes the rest do nothing and is returned by Sync or Read.
// Everything is one goroutine's business; Close may be called once, at the end.
package backend

import (
	"context"
	"errors"

	"clefbar/models"
)

// Tensor is a view of stored weights.
type Tensor = models.Tensor

// Use says what a weight is for, so that a backend can choose a form for it.
type Use uint8

// The uses.
const (
	Matrix Use = iota // (out, in), multiplied by Linear, LinearAdd and SwiGLU
	Table             // (rows, cols), read by row only; never kept resident
	Vector            // norms, biases, gates, convolution taps: kept exactly, as float32
)

// Format says how precise a buffer has to be.
type Format uint8

// The formats.
const (
	Work  Format = iota // the backend's working precision (float32 on a CPU, half on a GPU)
	Exact               // float32: residual stream, gates, states, head
)

// Activation is a function fused into Linear.
type Activation uint8

// The activations. GELU is the exact erf form, GELUTanh the tanh approximation.
const (
	None Activation = iota
	GELU
	GELUTanh
)

// Weight is a tensor in the form that a backend keeps it in.
type Weight interface {
	// Shape returns the logical shape, (out, in) for a matrix.
	Shape() []int
}

// Buffer is a row-major matrix of activations that lives on the backend.
type Buffer interface {
	Rows() int
	Cols() int
	// Slice returns a view of rows [from, to). It shares storage and need not be freed.
	Slice(from, to int) Buffer
}

// Span is a half-open range of rows.
type Span struct{ From, To int }

// Delta describes the gated delta rule of one layer (clef.md 4.4, 4.5).
type Delta struct {
	KeyHeads, ValueHeads int
	KeyDim, ValueDim     int     // per head
	NormEps              float32 // l2norm: added to the sum of squares (1e-6)
	ALog, DtBias         Weight  // (ValueHeads)
}

// Attn describes causal attention of one layer (clef.md 4.6, 4.7).
type Attn struct {
	Heads, KVHeads, HeadDim int
	Rotary                  int // rotated dims at the front of a head
	Eps                     float32
	QNorm, KNorm            Weight // (HeadDim), final weights: no +1 left to add
}

// Rotator is a Backend that also rotates whole heads, as the vision tower needs it
// (clef.md 5.4). Without it the tower rotates on the host.
type Rotator interface {
	// Rotate turns the pairs (i, i+n) of every head of x in place, n being the columns of cos and
	// sin: heads are 2n wide, cos and sin have a row for each row of x.
	Rotate(x, cos, sin Buffer)
}

// Absorber is a Backend that can attend to rows without computing their keys and values.
type Absorber interface {
	// AttendRows: dst = softmax(q·(m·kᵀ)ᵀ/√(cols/heads))·(m·vᵀ) + vBias per head; q and dst are (N, W), m is
	// (M, in), k and v are (W, in). It reports false, with nothing done, where keys and values, then MHA, are less work.
	AttendRows(dst, q, m Buffer, k, v, vBias Weight, heads int) bool
}

// Errors that a backend wraps when a caller can do something about a failure.
var (
	ErrMemory = errors.New("out of memory")    // the model or the run does not fit
	ErrAgain  = errors.New("run it once more") // the backend computes differently from now on: the same run will work
)

// Info describes the device.
type Info struct {
	Device    string // "CPU", "Metal"
	Detail    string // "AVX-512, 2 threads", "Apple M2 Max"
	Precision string // "f32", "bf16", "int8", "f16"
}

// Backend is a device with its operations. Shapes are (rows, cols); T is tokens.
type Backend interface {
	Info() Info

	// Load takes a tensor in. The backend may keep pointing into t.Data, which must
	// stay valid until Close.
	Load(t Tensor, use Use) (Weight, error)
	// New returns a zeroed buffer. Free gives its memory back for reuse.
	New(rows, cols int, f Format) Buffer
	Free(b ...Buffer)
	// Write copies float32 rows in, Read copies them out after waiting for all that
	// was asked before.
	Write(dst Buffer, src []float32)
	Read(dst []float32, src Buffer) error
	// Copy sets dst to src; same shape, formats may differ.
	Copy(dst, src Buffer)

	// Begin starts a run under ctx and clears an earlier failure.
	Begin(ctx context.Context)
	// Sync waits for the run and returns its first failure.
	Sync() error
	Close() error

	// Embed gathers rows: dst[i] = table[ids[i]].
	Embed(dst Buffer, table Weight, ids []int32)
	// MeanTable averages rows of a table: dst[i] = mean of table[id] for id in ids[i], duplicates counted.
	MeanTable(dst Buffer, table Weight, ids [][]int32)
	// MeanRows averages rows of x: dst[i] = mean of x[from:to]. Spans are not empty.
	MeanRows(dst, x Buffer, spans []Span)
	// Add adds: dst += x.
	Add(dst, x Buffer)

	// RMSNorm: dst = x · rsqrt(mean(x²)+eps) · w, per row.
	RMSNorm(dst, x Buffer, w Weight, eps float32)
	// LayerNorm: dst = (x-mean)/sqrt(var+eps) · w + b, per row, biased variance.
	LayerNorm(dst, x Buffer, w, b Weight, eps float32)

	// Linear: dst[i] = act(x · w[i]ᵀ + bias[i]) for each i in one pass over x. bias is nil or as long as w; nil
	// entries mean no bias.
	Linear(dst []Buffer, x Buffer, w, bias []Weight, act Activation)
	// LinearAdd: dst += x · wᵀ + bias; bias may be nil.
	LinearAdd(dst, x Buffer, w, bias Weight)
	// SwiGLU: dst = silu(x · gateᵀ) ⊙ (x · upᵀ).
	SwiGLU(dst, x Buffer, gate, up Weight)

	// CausalConv: depthwise causal convolution over T, then SiLU. x is (T, C), taps (C, K) with the last tap on
	// the current token. history holds the K-1 rows of x before row 0, nil means zeros; it is
	// updated to the last K-1 rows seen.
	CausalConv(dst, x Buffer, taps Weight, history Buffer)
	// DeltaGates: g = -exp(ALog)·softplus(a+DtBias), beta = sigmoid(b); all (T, ValueHeads), Exact.
	DeltaGates(g, beta, a, b Buffer, d Delta)
	// GatedDelta runs the delta rule. qkv is (T, 2·KeyHeads·KeyDim + ValueHeads·ValueDim), after the convolution,
	// [q|k|v] head-major; q and k are l2-normalised and q scaled here. dst is (T, ValueHeads·ValueDim). state is
	// (ValueHeads·KeyDim, ValueDim), Exact; nil starts from zeros and forgets, else it is read and updated.
	GatedDelta(dst, qkv, g, beta Buffer, d Delta, state Buffer)
	// NormGate: dst = RMSNorm(o per head of width len(w), w) ⊙ silu(z).
	NormGate(dst, o, z Buffer, w Weight, eps float32)

	// AttnPrep splits qg, (T, Heads·2·HeadDim) interleaved [q|gate] per head, normalises q and k
	// per head and rotates their first Rotary dims by the angles whose cosines and sines are in cos and sin,
	// (T, Rotary/2). q and gate are (T, Heads·HeadDim), k and kRaw (T, KVHeads·HeadDim). Either q, gate and qg are nil
	// or k and kRaw: then only the others are prepared.
	AttnPrep(q, gate, k, qg, kRaw, cos, sin Buffer, a Attn)
	// Attention: dst = sigmoid(gate) ⊙ softmax(q·kᵀ/√HeadDim, causal)·v. q is (T, Heads·HeadDim); k and v have
	// past+T rows and row past+i is the last one that row i of q sees.
	Attention(dst, q, gate, k, v Buffer, past int, a Attn)
	// MHA: plain multi-head attention without mask: dst = softmax(q·kᵀ/√(cols/heads))·v per head. q is (N, W),
	// k and v (M, W). rows limits each row of q to a span of k and v; nil means all.
	MHA(dst, q, k, v Buffer, heads int, rows []Span)
}
