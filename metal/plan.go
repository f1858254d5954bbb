package metal

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"clefbar/engine/backend"
	"clefbar/models"
)

// Shape is what a backbone's cost depends on.
type Shape struct {
	Name                    string
	Hidden, MLP             int
	Layers, FullEvery       int // every FullEvery-th layer attends, the others are gated-delta
	Heads, KVHeads, HeadDim int
	Rotary                  int
	KeyHeads, ValueHeads    int
	KeyDim, ValueDim, Taps  int
}

// The released shapes.
var (
	Shape9B = Shape{
		Name: "9B", Hidden: 4096, MLP: 12288, Layers: 32, FullEvery: 4, Heads: 16, KVHeads: 4, HeadDim: 256, Rotary: 64,
		KeyHeads: 16, ValueHeads: 32, KeyDim: 128, ValueDim: 128, Taps: 4,
	}
	Shape27B = Shape{
		Name: "27B", Hidden: 5120, MLP: 17408, Layers: 64, FullEvery: 4, Heads: 24, KVHeads: 4, HeadDim: 256, Rotary: 64,
		KeyHeads: 16, ValueHeads: 48, KeyDim: 128, ValueDim: 128, Taps: 4,
	}
)

// weights is the number of weights of the backbone's products.
func (s Shape) weights() int {
	full := s.Layers / s.FullEvery
	values, queries := s.ValueHeads*s.ValueDim, s.Heads*s.HeadDim
	delta := s.Hidden*(2*s.KeyHeads*s.KeyDim+2*values+2*s.ValueHeads) + values*s.Hidden
	attention := s.Hidden*(2*queries+2*s.KVHeads*s.HeadDim) + queries*s.Hidden
	return (s.Layers-full)*delta + full*attention + s.Layers*3*s.Hidden*s.MLP
}

// Multiplies is the least arithmetic of the backbone for n tokens, in multiply-adds.
func (s Shape) Multiplies(n int) float64 {
	full := s.Layers / s.FullEvery
	state := (s.Layers - full) * 3 * s.ValueHeads * s.KeyDim * s.ValueDim
	pairs := float64(n) * float64(n+1) / 2
	return float64(n)*float64(s.weights()+state) + float64(full)*2*pairs*float64(s.Heads*s.HeadDim)
}

// WeightBytes is the memory of the backbone's weights: of 16 bits, or codes of fewer with
// a bfloat scale and bias for each 64. Tables of tokens stay outside of the GPU's memory.
func (s Shape) WeightBytes(bits int) int64 {
	n := int64(s.weights())
	if bits == 16 {
		return 2 * n
	}
	return n*int64(bits)/8 + n/64*4
}

// dryWeight is a weight of which only the size matters.
func dryWeight(rows, cols, bits int) *weight {
	w := &weight{shape: []int{rows, cols}, data: place{mem: dryMemory{}}, format: formatHalf, pitch: 2 * cols}
	if bits < 16 {
		w.bits, w.group, w.pitch = bits, 64, cols*bits/8
		w.scales, w.biases = w.data, w.data
		w.format = map[int]uint32{4: formatCode4, 8: formatCode8}[bits]
	}
	w.tensor = models.Tensor{Name: "planned", Shape: w.shape}
	return w
}

// forward records the backbone for n tokens, operation by operation as engine/qwen
// asks for them. A test compares the two.
func (s Shape) forward(b *Backend, n, bits int) {
	x := b.New(n, s.Hidden, backend.Exact)
	of(x).full.from, of(x).full.to = 0, n
	b.renew(of(x).root, inFull, always)
	cos, sin := b.New(n, s.Rotary/2, backend.Exact), b.New(n, s.Rotary/2, backend.Exact)
	for _, t := range []backend.Buffer{cos, sin} {
		b.renew(of(t).root, inFull, always)
		of(t).full.from, of(t).full.to = 0, n
	}
	for i := range s.Layers {
		if (i+1)%s.FullEvery == 0 {
			s.attend(b, x, cos, sin, n, bits)
		} else {
			s.delta(b, x, n, bits)
		}
		s.feed(b, x, n, bits)
	}
	b.settle()
	b.flush()
}

// blocks calls f with the rows of each block.
func blocks(n int, f func(from, to int)) {
	for from := 0; from < n; from += blockRows {
		f(from, min(from+blockRows, n))
	}
}

func (s Shape) delta(b *Backend, x backend.Buffer, n, bits int) {
	qkv, values := 2*s.KeyHeads*s.KeyDim+s.ValueHeads*s.ValueDim, s.ValueHeads*s.ValueDim
	norm, head := dryWeight(1, s.Hidden, 16), dryWeight(1, s.ValueDim, 16)
	in := []backend.Weight{
		dryWeight(qkv, s.Hidden, bits), dryWeight(values, s.Hidden, bits), dryWeight(s.ValueHeads, s.Hidden, bits), dryWeight(s.ValueHeads, s.Hidden, bits),
	}
	out, taps := dryWeight(s.Hidden, values, bits), dryWeight(qkv, s.Taps, 16)
	d := backend.Delta{
		KeyHeads: s.KeyHeads, ValueHeads: s.ValueHeads, KeyDim: s.KeyDim, ValueDim: s.ValueDim, NormEps: 1e-6,
		ALog: dryWeight(1, s.ValueHeads, 16), DtBias: dryWeight(1, s.ValueHeads, 16),
	}
	var history, state backend.Buffer
	if n > blockRows {
		history, state = b.New(s.Taps-1, qkv, backend.Work), b.New(s.ValueHeads*s.KeyDim, s.ValueDim, backend.Exact)
		defer b.Free(history, state)
	}
	blocks(n, func(from, to int) {
		m, part := to-from, x.Slice(from, to)
		h, raw, conv := b.New(m, s.Hidden, backend.Work), b.New(m, qkv, backend.Work), b.New(m, qkv, backend.Work)
		z, o, gated := b.New(m, values, backend.Work), b.New(m, values, backend.Work), b.New(m, values, backend.Work)
		bb, a := b.New(m, s.ValueHeads, backend.Exact), b.New(m, s.ValueHeads, backend.Exact)
		g, beta := b.New(m, s.ValueHeads, backend.Exact), b.New(m, s.ValueHeads, backend.Exact)
		b.RMSNorm(h, part, norm, 1e-6)
		b.Linear([]backend.Buffer{raw, z, bb, a}, h, in, nil, backend.None)
		b.CausalConv(conv, raw, taps, history)
		b.DeltaGates(g, beta, a, bb, d)
		b.GatedDelta(o, conv, g, beta, d, state)
		b.NormGate(gated, o, z, head, 1e-6)
		b.LinearAdd(part, gated, out, nil)
		b.Free(h, raw, conv, z, o, gated, bb, a, g, beta)
	})
}

func (s Shape) attend(b *Backend, x, cos, sin backend.Buffer, n, bits int) {
	queries, keys := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	norm := dryWeight(1, s.Hidden, 16)
	in := []backend.Weight{dryWeight(2*queries, s.Hidden, bits), dryWeight(keys, s.Hidden, bits), dryWeight(keys, s.Hidden, bits)}
	out := dryWeight(s.Hidden, queries, bits)
	a := backend.Attn{
		Heads: s.Heads, KVHeads: s.KVHeads, HeadDim: s.HeadDim, Rotary: s.Rotary, Eps: 1e-6,
		QNorm: dryWeight(1, s.HeadDim, 16), KNorm: dryWeight(1, s.HeadDim, 16),
	}
	k, v := b.New(n, keys, backend.Work), b.New(n, keys, backend.Work)
	blocks(n, func(from, to int) {
		m, part := to-from, x.Slice(from, to)
		h, qg, raw := b.New(m, s.Hidden, backend.Work), b.New(m, 2*queries, backend.Work), b.New(m, keys, backend.Work)
		q, gate, o := b.New(m, queries, backend.Work), b.New(m, queries, backend.Work), b.New(m, queries, backend.Work)
		b.RMSNorm(h, part, norm, 1e-6)
		b.Linear([]backend.Buffer{qg, raw, v.Slice(from, to)}, h, in, nil, backend.None)
		b.AttnPrep(q, gate, k.Slice(from, to), qg, raw, cos.Slice(from, to), sin.Slice(from, to), a)
		b.Attention(o, q, gate, k.Slice(0, to), v.Slice(0, to), from, a)
		b.LinearAdd(part, o, out, nil)
		b.Free(h, qg, raw, q, gate, o)
	})
	b.Free(k, v)
}

func (s Shape) feed(b *Backend, x backend.Buffer, n, bits int) {
	norm, gate, up, down := dryWeight(1, s.Hidden, 16), dryWeight(s.MLP, s.Hidden, bits), dryWeight(s.MLP, s.Hidden, bits), dryWeight(s.Hidden, s.MLP, bits)
	blocks(n, func(from, to int) {
		m, part := to-from, x.Slice(from, to)
		h, wide := b.New(m, s.Hidden, backend.Work), b.New(m, s.MLP, backend.Work)
		b.RMSNorm(h, part, norm, 1e-6)
		b.SwiGLU(wide, h, gate, up)
		b.LinearAdd(part, wide, down, nil)
		b.Free(h, wide)
	})
}

// Row is one prediction, beside what MLX was published to need.
type Row struct {
	Shape     string  `json:"shape"`
	Bits      int     `json:"bits"` // 16, 8 or 4
	Tokens    int     `json:"tokens"`
	Work      Work    `json:"work"`
	Seconds   float64 `json:"predicted_s"`
	Buffers   int     `json:"command_buffers"`
	Scratch   int64   `json:"scratch_bytes"`   // peak of activations
	Memory    int64   `json:"memory_bytes"`    // weights and activations
	Published float64 `json:"mlx_published_s"` // of MLX on an M2 Max with 38 cores
	// PublishedMemory is MLX's peak in bytes, 0 where none was published.
	PublishedMemory float64 `json:"mlx_published_bytes,omitempty"`
}

// published are MLX's seconds and gigabytes on an M2 Max with 38 cores.
var published = []struct {
	shape     Shape
	bits      int
	tokens    int
	seconds   float64
	gigabytes float64
}{
	{Shape9B, 16, 500, .80, 19.4},
	{Shape9B, 4, 500, 1.03, 6.2},
	{Shape27B, 16, 500, 2.77, 55.3},
	{Shape27B, 8, 500, 3.55, 30.3},
	{Shape27B, 4, 500, 3.59, 17.0},
	{Shape27B, 16, 2000, 10.5, 0},
	{Shape27B, 16, 32000, 188, 0},
}

// Predict counts what the backbone costs for n tokens with weights of bits, and says
// how long a chip would take. Nothing is measured.
func Predict(c Chip, s Shape, bits, n int) Row {
	b := dry(c)
	b.Begin(context.Background())
	s.forward(b, n, bits)
	buffers := int(b.rec.submitted)
	return Row{
		Shape: s.Name, Bits: bits, Tokens: n, Work: b.rec.total, Buffers: buffers, Scratch: b.pool.peak,
		Memory:  s.WeightBytes(bits) + b.pool.peak,
		Seconds: b.rec.predicted + bufferSeconds*float64(buffers),
	}
}

// Plan predicts the published rows for a chip given by its short name (see Chips).
func Plan(chip string) ([]Row, error) {
	c, ok := Chips[chip]
	if !ok || chip == "emulator" {
		return nil, fmt.Errorf("no chip %q; known are %s", chip, strings.Join(chipNames(), ", "))
	}
	rows := make([]Row, 0, len(published))
	for _, p := range published {
		r := Predict(c, p.shape, p.bits, p.tokens)
		r.Published, r.PublishedMemory = p.seconds, 1e9*p.gigabytes
		rows = append(rows, r)
	}
	return rows, nil
}

// FormatPlan writes predictions as a table with the assumptions under it.
func FormatPlan(chip string, rows []Row) string {
	c := Chips[chip]
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "model\tweights\ttokens\tmultiplies\tread+written\tdispatches\tpredicted\tMLX on M2 Max (published)\tmemory\tof MLX (published)")
	for _, r := range rows {
		memory := "-"
		if r.PublishedMemory > 0 {
			memory = fmt.Sprintf("%.1f GB", r.PublishedMemory/1e9)
		}
		fmt.Fprintf(t, "%s\t%d-bit\t%d\t%.2f T\t%.0f GB\t%d\t%.2f s\t%.2f s\t%.1f GB\t%s\n",
			r.Shape, r.Bits, r.Tokens, r.Work.Multiplies/1e12, r.Work.Bytes/1e9, r.Work.Dispatches, r.Seconds, r.Published, float64(r.Memory)/1e9, memory)
	}
	_ = t.Flush() // a strings.Builder takes everything
	fmt.Fprintf(&b, "\nPredicted for %s, not measured: %.2f T multiply-adds per second of which products reach %.0f %% and attention %.0f %%,\n"+
		"%.0f GB per second, %.1f lane operations per quantised weight and tile of rows, %.0f µs per launch, %.0f µs per command buffer.\n"+
		"The head, the tokenizer and the copy to the answer are not in it; memory is the backbone's weights and activations.\n",
		c.Name, c.Peak, 100*c.Reach, 100*c.Reach*attentionReach, c.Memory, lanesPerCode, 1e6*launchSeconds, 1e6*bufferSeconds)
	if c.Tensor > 0 {
		fmt.Fprintf(&b, "Products run on tensor units: %.1f T multiply-adds of bfloat per second of which they reach %.0f %%, two or three for each of float.\n", c.Tensor, 100*tensorReach)
	} else {
		fmt.Fprintf(&b, "Products wait until the last of %d cores is done, and a core has work for all its lanes from %d simdgroups on.\n", c.Cores, saturation)
	}
	return b.String()
}
