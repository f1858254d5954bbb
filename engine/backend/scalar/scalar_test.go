package scalar

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"clefbar/engine/backend"
	"clefbar/models"
)

// bench makes buffers and weights of random numbers.
type bench struct {
	*testing.T
	b *Backend
	r *rand.Rand
}

func newBench(t *testing.T) *bench {
	return &bench{t, New(), rand.New(rand.NewPCG(7, 9))}
}

func (x *bench) numbers(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(x.r.NormFloat64())
	}
	return out
}

func (x *bench) buffer(rows, cols int) backend.Buffer {
	b := x.b.New(rows, cols, backend.Exact)
	x.b.Write(b, x.numbers(rows*cols))
	return b
}

func (x *bench) weight(use backend.Use, shape ...int) backend.Weight {
	n := 1
	for _, d := range shape {
		n *= d
	}
	w, err := x.b.Load(models.FromFloats("w", shape, x.numbers(n)), use)
	if err != nil {
		x.Fatal(err)
	}
	return w
}

func weightRow(w backend.Weight, r int) []float32 {
	m := w.(*matrix)
	out := make([]float32, m.cols)
	m.t.Row(out, r)
	return out
}

// check compares every element of got with a float64 formula.
func (x *bench) check(what string, got backend.Buffer, want func(r, c int) float64) {
	x.Helper()
	if err := x.b.Sync(); err != nil {
		x.Fatal(err)
	}
	for r := range got.Rows() {
		for c := range got.Cols() {
			g, w := float64(of(got).row(r)[c]), want(r, c)
			if math.Abs(g-w) > 1e-5*(1+math.Abs(w)) {
				x.Fatalf("%s (%d, %d): got %v, want %v", what, r, c, g, w)
			}
		}
	}
}

func at(b backend.Buffer, r, c int) float64 { return float64(of(b).row(r)[c]) }

func sigmoid64(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

func dots(x backend.Buffer, r int, w backend.Weight, c int) float64 {
	var sum float64
	for i, v := range weightRow(w, c) {
		sum += float64(v) * at(x, r, i)
	}
	return sum
}

func TestRows(t *testing.T) {
	x := newBench(t)
	table := x.weight(backend.Table, 5, 3)
	dst := x.buffer(4, 3)
	x.b.Embed(dst, table, []int32{4, 0, 0, 2})
	x.check("Embed", dst, func(r, c int) float64 { return float64(weightRow(table, []int{4, 0, 0, 2}[r])[c]) })

	mean := x.buffer(2, 3)
	x.b.MeanTable(mean, table, [][]int32{{1}, {2, 2, 3}})
	x.check("MeanTable", mean, func(r, c int) float64 {
		if r == 0 {
			return float64(weightRow(table, 1)[c])
		}
		return (2*float64(weightRow(table, 2)[c]) + float64(weightRow(table, 3)[c])) / 3
	})
	x.b.MeanRows(mean, dst, []backend.Span{{From: 3, To: 4}, {From: 1, To: 4}})
	x.check("MeanRows", mean, func(r, c int) float64 {
		if r == 0 {
			return at(dst, 3, c)
		}
		return (at(dst, 1, c) + at(dst, 2, c) + at(dst, 3, c)) / 3
	})
	sum := x.buffer(4, 3)
	before := x.b.New(4, 3, backend.Work)
	x.b.Copy(before, sum)
	x.b.Add(sum, dst)
	x.check("Add", sum, func(r, c int) float64 { return at(before, r, c) + at(dst, r, c) })
	x.check("Slice", sum.Slice(1, 3), func(r, c int) float64 { return at(sum, r+1, c) })
}

func TestNorms(t *testing.T) {
	x := newBench(t)
	in, w, b := x.buffer(3, 8), x.weight(backend.Vector, 8), x.weight(backend.Vector, 8)
	dst := x.buffer(3, 8)
	x.b.RMSNorm(dst, in, w, 1e-6)
	x.check("RMSNorm", dst, func(r, c int) float64 {
		var sum float64
		for i := range 8 {
			sum += at(in, r, i) * at(in, r, i)
		}
		return at(in, r, c) / math.Sqrt(sum/8+1e-6) * float64(floats(w)[c])
	})
	x.b.LayerNorm(dst, in, w, b, 1e-5)
	x.check("LayerNorm", dst, func(r, c int) float64 {
		var sum, square float64
		for i := range 8 {
			sum += at(in, r, i)
			square += at(in, r, i) * at(in, r, i)
		}
		mean := sum / 8
		return (at(in, r, c)-mean)/math.Sqrt(square/8-mean*mean+1e-5)*float64(floats(w)[c]) + float64(floats(b)[c])
	})
}

func TestProducts(t *testing.T) {
	x := newBench(t)
	in := x.buffer(3, 8)
	w, u := x.weight(backend.Matrix, 5, 8), x.weight(backend.Matrix, 2, 8)
	bias := x.weight(backend.Vector, 2)
	for act, f := range map[backend.Activation]func(float64) float64{
		backend.None:     func(v float64) float64 { return v },
		backend.GELU:     func(v float64) float64 { return v * (1 - 0.5*math.Erfc(v/math.Sqrt2)) },
		backend.GELUTanh: func(v float64) float64 { return v * sigmoid64(2*math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)) },
	} {
		a, b := x.buffer(3, 5), x.buffer(3, 2)
		x.b.Linear([]backend.Buffer{a, b}, in, []backend.Weight{w, u}, []backend.Weight{nil, bias}, act)
		x.check("Linear", a, func(r, c int) float64 { return f(dots(in, r, w, c)) })
		x.check("Linear with bias", b, func(r, c int) float64 { return f(dots(in, r, u, c) + float64(floats(bias)[c])) })
	}
	a := x.buffer(3, 2)
	before := x.b.New(3, 2, backend.Exact)
	x.b.Copy(before, a)
	x.b.LinearAdd(a, in, u, bias)
	x.check("LinearAdd", a, func(r, c int) float64 { return at(before, r, c) + dots(in, r, u, c) + float64(floats(bias)[c]) })
	gate := x.weight(backend.Matrix, 5, 8)
	g := x.buffer(3, 5)
	x.b.SwiGLU(g, in, gate, w)
	x.check("SwiGLU", g, func(r, c int) float64 {
		v := dots(in, r, gate, c)
		return v * sigmoid64(v) * dots(in, r, w, c)
	})
}

func TestCausalConv(t *testing.T) {
	x := newBench(t)
	const tokens, channels, k = 7, 3, 4
	in, taps := x.buffer(tokens, channels), x.weight(backend.Vector, channels, k)
	want := func(r, c int) float64 {
		var sum float64
		for j := range k {
			if from := r - (k - 1) + j; from >= 0 {
				sum += float64(floats(taps)[c*k+j]) * at(in, from, c)
			}
		}
		return sum * sigmoid64(sum)
	}
	dst := x.buffer(tokens, channels)
	x.b.CausalConv(dst, in, taps, nil)
	x.check("whole", dst, want)
	for split := 1; split < tokens; split++ {
		history := x.b.New(k-1, channels, backend.Work)
		x.b.CausalConv(dst.Slice(0, split), in.Slice(0, split), taps, history)
		x.b.CausalConv(dst.Slice(split, tokens), in.Slice(split, tokens), taps, history)
		x.check("split", dst, want)
		x.check("history", history, func(r, c int) float64 { return at(in, tokens-k+1+r, c) })
	}
}

// TestGatedDelta checks the rule against its closed form for one head: without
// decay and with beta 1 a key that returns brings its last value back.
func TestGatedDelta(t *testing.T) {
	x := newBench(t)
	d := backend.Delta{KeyHeads: 1, ValueHeads: 2, KeyDim: 4, ValueDim: 3, NormEps: 1e-6}
	const tokens = 4
	qkv, g, beta := x.buffer(tokens, 2*4+2*3), x.b.New(tokens, 2, backend.Exact), x.buffer(tokens, 2)
	for t := range tokens {
		row := of(qkv).row(t)
		for i := range 4 { // orthogonal keys; the query is the first key
			row[i], row[4+i] = 0, 0
		}
		row[0], row[4+t] = 5, 3
		of(beta).row(t)[0], of(beta).row(t)[1] = 1, 0.5
	}
	dst := x.buffer(tokens, 6)
	x.b.GatedDelta(dst, qkv, g, beta, d, nil)
	x.check("recall", dst, func(_, c int) float64 {
		strength := []float64{1, 0.5}[c/3]
		return strength * at(qkv, 0, 8+c) / math.Sqrt(4)
	})
	of(g).row(2)[0], of(g).row(2)[1] = -1, -2
	x.b.GatedDelta(dst, qkv, g, beta, d, nil)
	x.check("decay", dst, func(r, c int) float64 {
		v := []float64{1, 0.5}[c/3] * at(qkv, 0, 8+c) / math.Sqrt(4)
		if r >= 2 {
			v *= math.Exp([]float64{-1, -2}[c/3])
		}
		return v
	})
	whole := x.b.New(tokens, 6, backend.Exact)
	x.b.Copy(whole, dst)
	state := x.b.New(2*4, 3, backend.Exact)
	for r := range tokens {
		x.b.GatedDelta(dst.Slice(r, r+1), qkv.Slice(r, r+1), g.Slice(r, r+1), beta.Slice(r, r+1), d, state)
	}
	x.check("token by token", dst, func(r, c int) float64 { return at(whole, r, c) })
}

func TestGates(t *testing.T) {
	x := newBench(t)
	d := backend.Delta{KeyHeads: 1, ValueHeads: 3, ALog: x.weight(backend.Vector, 3), DtBias: x.weight(backend.Vector, 3)}
	a, b := x.buffer(4, 3), x.buffer(4, 3)
	of(a).row(3)[0] = 90 // beyond the threshold of softplus
	of(a).row(3)[1] = -90
	g, beta := x.buffer(4, 3), x.buffer(4, 3)
	x.b.DeltaGates(g, beta, a, b, d)
	x.check("g", g, func(r, c int) float64 {
		v := at(a, r, c) + float64(floats(d.DtBias)[c])
		return -math.Exp(float64(floats(d.ALog)[c])) * (math.Max(v, 0) + math.Log1p(math.Exp(-math.Abs(v))))
	})
	x.check("beta", beta, func(r, c int) float64 { return sigmoid64(at(b, r, c)) })

	o, z, w := x.buffer(2, 6), x.buffer(2, 6), x.weight(backend.Vector, 3)
	dst := x.buffer(2, 6)
	x.b.NormGate(dst, o, z, w, 1e-6)
	x.check("NormGate", dst, func(r, c int) float64 {
		var sum float64
		for i := range 3 {
			sum += at(o, r, c/3*3+i) * at(o, r, c/3*3+i)
		}
		return at(o, r, c) / math.Sqrt(sum/3+1e-6) * float64(floats(w)[c%3]) * at(z, r, c) * sigmoid64(at(z, r, c))
	})
}

func TestAttnPrep(t *testing.T) {
	x := newBench(t)
	a := backend.Attn{Heads: 2, KVHeads: 1, HeadDim: 6, Rotary: 4, Eps: 1e-6, QNorm: x.weight(backend.Vector, 6), KNorm: x.weight(backend.Vector, 6)}
	qg, kRaw, angle := x.buffer(3, 24), x.buffer(3, 6), x.buffer(3, 2)
	cos, sin := x.b.New(3, 2, backend.Exact), x.b.New(3, 2, backend.Exact)
	for i, v := range of(angle).data {
		s, c := math.Sincos(float64(v))
		of(cos).data[i], of(sin).data[i] = float32(c), float32(s)
	}
	q, gate, k := x.buffer(3, 12), x.buffer(3, 12), x.buffer(3, 6)
	x.b.AttnPrep(q, gate, k, qg, kRaw, cos, sin, a)
	// turned treats the pair (i, i+2) as a complex number.
	turned := func(v func(i int) float64, w backend.Weight, r, c int) float64 {
		var sum float64
		for i := range 6 {
			sum += v(i) * v(i)
		}
		n := func(i int) float64 { return v(i) / math.Sqrt(sum/6+1e-6) * float64(floats(w)[i]) }
		if c >= 4 {
			return n(c)
		}
		th := at(angle, r, c%2)
		if c < 2 {
			return n(c)*math.Cos(th) - n(c+2)*math.Sin(th)
		}
		return n(c-2)*math.Sin(th) + n(c)*math.Cos(th)
	}
	x.check("q", q, func(r, c int) float64 {
		return turned(func(i int) float64 { return at(qg, r, c/6*12+i) }, a.QNorm, r, c%6)
	})
	x.check("gate", gate, func(r, c int) float64 { return at(qg, r, c/6*12+6+c%6) })
	x.check("k", k, func(r, c int) float64 { return turned(func(i int) float64 { return at(kRaw, r, i) }, a.KNorm, r, c) })
	q2, gate2, k2 := x.buffer(3, 12), x.buffer(3, 12), x.buffer(3, 6)
	x.b.AttnPrep(q2, gate2, nil, qg, nil, cos, sin, a)
	x.b.AttnPrep(nil, nil, k2, nil, kRaw, cos, sin, a)
	for i, pair := range [][2]backend.Buffer{{q, q2}, {gate, gate2}, {k, k2}} {
		if !slices.Equal(of(pair[0]).data, of(pair[1]).data) {
			t.Errorf("result %d differs when queries and keys are prepared apart", i)
		}
	}
}

func TestRotate(t *testing.T) {
	x := newBench(t)
	in, angle := x.buffer(3, 12), x.buffer(3, 3)
	cos, sin := x.b.New(3, 3, backend.Exact), x.b.New(3, 3, backend.Exact)
	for i, v := range of(angle).data {
		s, c := math.Sincos(float64(v))
		of(cos).data[i], of(sin).data[i] = float32(c), float32(s)
	}
	before := x.b.New(3, 12, backend.Exact)
	x.b.Copy(before, in)
	x.b.Rotate(in, cos, sin)
	x.check("Rotate", in, func(r, c int) float64 {
		head, i := c/6*6, c%6
		th := at(angle, r, i%3)
		if i < 3 {
			return at(before, r, head+i)*math.Cos(th) - at(before, r, head+i+3)*math.Sin(th)
		}
		return at(before, r, head+i)*math.Cos(th) + at(before, r, head+i-3)*math.Sin(th)
	})
}

func TestAttention(t *testing.T) {
	x := newBench(t)
	a := backend.Attn{Heads: 4, KVHeads: 2, HeadDim: 3}
	const past, rows = 2, 3
	q, gate, k, v := x.buffer(rows, 12), x.buffer(rows, 12), x.buffer(past+rows, 6), x.buffer(past+rows, 6)
	dst := x.buffer(rows, 12)
	x.b.Attention(dst, q, gate, k, v, past, a)
	x.check("Attention", dst, func(r, c int) float64 {
		return weighted(q, k, v, r, c, 3, c/3/2*3, 0, past+r+1) * sigmoid64(at(gate, r, c))
	})
	// full is the same without mask, heads of its own.
	k, v = x.buffer(4, 12), x.buffer(4, 12)
	x.b.MHA(dst, q, k, v, 4, nil)
	x.check("MHA", dst, func(r, c int) float64 { return weighted(q, k, v, r, c, 3, c/3*3, 0, 4) })
	spans := []backend.Span{{From: 1, To: 2}, {From: 0, To: 4}, {From: 2, To: 4}}
	x.b.MHA(dst, q, k, v, 4, spans)
	x.check("MHA in spans", dst, func(r, c int) float64 {
		return weighted(q, k, v, r, c, 3, c/3*3, spans[r].From, spans[r].To)
	})
}

// weighted is column c of softmax(q·kᵀ/√n)·v over rows [from, to); the head's keys start at column kv.
func weighted(q, k, v backend.Buffer, r, c, n, kv, from, to int) float64 {
	var sum, total float64
	for j := from; j < to; j++ {
		var s float64
		for i := range n {
			s += at(q, r, c/n*n+i) * at(k, j, kv+i)
		}
		p := math.Exp(s / math.Sqrt(float64(n)))
		sum += p * at(v, j, kv+c%n)
		total += p
	}
	return sum / total
}

func TestCancelledRunDoesNothing(t *testing.T) {
	x := newBench(t)
	dst, in := x.buffer(2, 3), x.buffer(2, 3)
	before := append([]float32{}, of(dst).data...)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x.b.Begin(ctx)
	x.b.Copy(dst, in)
	x.b.Add(dst, in)
	if err := x.b.Sync(); !errors.Is(err, context.Canceled) {
		t.Errorf("Sync: got %v, want context.Canceled", err)
	}
	if err := x.b.Read(make([]float32, 6), dst); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: got %v, want context.Canceled", err)
	}
	for i, v := range of(dst).data {
		if v != before[i] {
			t.Fatalf("a cancelled run changed a buffer")
		}
	}
	x.b.Begin(context.Background())
	x.b.Copy(dst, in)
	x.check("after Begin", dst, func(r, c int) float64 { return at(in, r, c) })
}

func TestLoadRefusesVectorsAsMatrix(t *testing.T) {
	if _, err := New().Load(models.FromFloats("v", []int{3}, make([]float32, 3)), backend.Matrix); err == nil {
		t.Error("a vector was taken for a matrix")
	}
}
