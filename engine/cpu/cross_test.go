package cpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
	"clefbar/models"
	"clefbar/models/modeltest"
)

// paths lists every path that this machine has.
func paths() []candidate { return append(nativePaths(), candidate{"go", goPath{}}) }

// eachPath runs a test on every path of this machine, with a number of threads that does not
// divide anything.
func eachPath(t *testing.T, precision string, test func(t *testing.T, c *CPU)) {
	for _, p := range paths() {
		t.Run(p.key+"/"+precision, func(t *testing.T) {
			t.Setenv("CLEFBAR_CPU", p.key)
			b, err := New(Options{Precision: precision, Threads: 3})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			b.Begin(context.Background())
			test(t, b.(*CPU))
		})
	}
}

// source makes numbers in [-1, 1) that depend on the seed alone.
type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 7))} }

func (s source) floats(n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = s.Float32()*2 - 1
	}
	return out
}

// odd copies bytes to an odd address, as safetensors files have them.
func odd(b []byte) []byte {
	out := make([]byte, len(b)+1)
	copy(out[1:], b)
	return out[1:]
}

// dense stores numbers as a tensor of a type.
func dense(values []float32, d models.DType, shape ...int) backend.Tensor {
	var b []byte
	for _, v := range values {
		u := math.Float32bits(v)
		switch d {
		case models.F32:
			b = binary.LittleEndian.AppendUint32(b, u)
		case models.BF16:
			b = binary.LittleEndian.AppendUint16(b, uint16(math.Float32bits(roundBF16(v))>>16))
		default:
			b = binary.LittleEndian.AppendUint16(b, toHalf(v))
		}
	}
	return backend.Tensor{Name: "dense", DType: d, Shape: shape, Data: odd(b)}
}

// toHalf truncates a number of moderate size to a half float.
func toHalf(v float32) uint16 {
	u := math.Float32bits(v)
	e := int(u>>23&255) - 112
	if e <= 0 {
		return uint16(u >> 31 << 15)
	}
	return uint16(u>>31<<15) | uint16(e)<<10 | uint16(u>>13&0x3ff)
}

// quantised stores numbers as affine codes with bfloat16 scales.
func quantised(values []float32, rows, cols, bits, group int) backend.Tensor {
	packed, scales, biases := modeltest.Quantize(values, rows, cols, bits, group)
	q := &models.Quant{
		Bits: bits, Group: group,
		Scales: dense(scales, models.BF16, rows, cols/group), Biases: dense(biases, models.BF16, rows, cols/group),
	}
	return backend.Tensor{Name: "quantised", DType: models.U32, Shape: []int{rows, cols}, Data: odd(packed), Quant: q}
}

// pair runs the same operations on the backend under test and on the oracle.
type pair struct {
	t     *testing.T
	sides [2]backend.Backend
	size  float64 // typical size of a result: errors are relative to it when results happen to be small
}

func newPair(t *testing.T, c *CPU) *pair {
	o := scalar.New()
	o.Begin(context.Background())
	return &pair{t: t, sides: [2]backend.Backend{c, o}}
}

type (
	weights [2]backend.Weight
	buffers [2]backend.Buffer
)

func (p *pair) weight(x backend.Tensor, use backend.Use) (w weights) {
	p.t.Helper()
	for i, b := range p.sides {
		var err error
		if w[i], err = b.Load(x, use); err != nil {
			p.t.Fatal(err)
		}
	}
	return w
}

func (p *pair) vector(values []float32, shape ...int) weights {
	p.t.Helper()
	if shape == nil {
		shape = []int{len(values)}
	}
	return p.weight(dense(values, models.F32, shape...), backend.Vector)
}

func (p *pair) buffer(rows, cols int, f backend.Format, values []float32) (out buffers) {
	for i, b := range p.sides {
		out[i] = b.New(rows, cols, f)
		if values != nil {
			b.Write(out[i], values)
		}
	}
	return out
}

// same compares a result; tolerance is relative to the largest number of the oracle, or to size.
func (p *pair) same(what string, x buffers, tolerance float64) {
	p.t.Helper()
	n := x[0].Rows() * x[0].Cols()
	got, want := make([]float32, n), make([]float32, n)
	for i, d := range [][]float32{got, want} {
		if err := p.sides[i].Read(d, x[i]); err != nil {
			p.t.Fatal(err)
		}
	}
	top := p.size
	for _, v := range want {
		top = max(top, math.Abs(float64(v)))
	}
	for i := range got {
		if d := math.Abs(float64(got[i] - want[i])); !(d <= tolerance*top+1e-30) {
			p.t.Errorf("%s row %d col %d: got %v, want %v (off by %.2g of %.2g)", what, i/x[0].Cols(), i%x[0].Cols(), got[i], want[i], d/top, tolerance)
			return
		}
	}
}

func TestLinear(t *testing.T) {
	sizes := []struct{ rows, in, out int }{{1, 32, 1}, {1, 7, 5}, {2, 96, 33}, {13, 65, 64}, {25, 1, 3}, {12, 128, 32}, {50, 2176, 70}, {3, 4500, 17}}
	for _, precision := range []string{F32, BF16, Int8} {
		eachPath(t, precision, func(t *testing.T, c *CPU) {
			for _, s := range sizes {
				for _, kind := range []models.DType{models.F32, models.BF16, models.F16} {
					src := newSource(uint64(s.rows*s.in + s.out))
					w := dense(src.floats(s.in*s.out), kind, s.out, s.in)
					testProducts(t, c, fmt.Sprint(s, kind), s.rows, s.in, s.out, w, w, src)
				}
			}
		})
	}
}

func TestLinearQuantised(t *testing.T) {
	sizes := []struct{ rows, in, out int }{{1, 128, 1}, {7, 384, 37}, {26, 128, 64}, {4, 8320, 9}}
	for _, precision := range []string{F32, BF16, Int8} {
		eachPath(t, precision, func(t *testing.T, c *CPU) {
			for _, s := range sizes {
				for _, bits := range []int{2, 3, 4, 5, 6, 8} {
					for _, group := range []int{32, 64, 128} {
						src := newSource(uint64(s.rows*s.in + s.out + bits))
						in := s.in - s.in%group
						if bits == 4 && group == 32 {
							in = max(group, s.in-group) // no multiple of 64
						}
						w := quantised(src.floats(in*s.out), s.out, in, bits, group)
						up := quantised(src.floats(in*s.out), s.out, in, 8, 32)
						testProducts(t, c, fmt.Sprint(s, bits, group), s.rows, in, s.out, w, up, src)
					}
				}
			}
		})
	}
}

// testProducts compares all products of one size.
func testProducts(t *testing.T, c *CPU, what string, rows, in, outs int, w, up backend.Tensor, src source) {
	t.Helper()
	tolerance := map[string]float64{F32: 2e-5, BF16: 8e-3, Int8: 2e-2}[c.precision]
	p := newPair(t, c)
	p.size = math.Sqrt(float64(in)) / 3 // of a sum of products of numbers in [-1, 1)
	x := p.buffer(rows, in, backend.Work, src.floats(rows*in))
	a, b, bias := p.weight(w, backend.Matrix), p.weight(up, backend.Matrix), p.vector(src.floats(outs))
	first, second, sum, gated := p.buffer(rows, outs, backend.Work, nil), p.buffer(rows, outs, backend.Work, nil), p.buffer(rows, outs, backend.Exact, src.floats(rows*outs)), p.buffer(rows, outs, backend.Work, nil)
	for i, s := range p.sides {
		s.Linear([]backend.Buffer{first[i], second[i]}, x[i], []backend.Weight{a[i], b[i]}, []backend.Weight{bias[i], nil}, backend.GELU)
		s.LinearAdd(sum[i], x[i], a[i], bias[i])
		s.SwiGLU(gated[i], x[i], a[i], b[i])
	}
	p.same(what+" Linear", first, tolerance)
	p.same(what+" Linear, second weight", second, tolerance)
	p.same(what+" LinearAdd", sum, tolerance)
	p.same(what+" SwiGLU", gated, 3*tolerance) // a product of two products
	for i, s := range p.sides {
		s.Linear([]backend.Buffer{first[i]}, x[i], []backend.Weight{a[i]}, nil, backend.GELUTanh)
		s.Free(x[i], first[i], second[i], sum[i], gated[i])
	}
}

// TestExactProducts: an Exact buffer is multiplied in float32 at every precision.
func TestExactProducts(t *testing.T) {
	for _, precision := range []string{BF16, Int8} {
		eachPath(t, precision, func(t *testing.T, c *CPU) {
			src := newSource(3)
			p := newPair(t, c)
			x := p.buffer(9, 256, backend.Exact, src.floats(9*256))
			w, y := p.weight(quantised(src.floats(40*256), 40, 256, 4, 64), backend.Matrix), p.buffer(9, 40, backend.Work, nil)
			for i, s := range p.sides {
				s.Linear([]backend.Buffer{y[i]}, x[i], []backend.Weight{w[i]}, nil, backend.None)
			}
			p.same("Linear", y, 2e-5)
		})
	}
}

func TestRows(t *testing.T) {
	eachPath(t, F32, func(t *testing.T, c *CPU) {
		for _, cols := range []int{1, 15, 16, 33, 100, 1024} {
			for _, rows := range []int{1, 5, 70} {
				src := newSource(uint64(rows + cols))
				p := newPair(t, c)
				x, w, b := p.buffer(rows, cols, backend.Work, src.floats(rows*cols)), p.vector(src.floats(cols)), p.vector(src.floats(cols))
				rms, layer, sum, copied := p.buffer(rows, cols, backend.Work, nil), p.buffer(rows, cols, backend.Exact, nil), p.buffer(rows, cols, backend.Exact, src.floats(rows*cols)), p.buffer(rows, cols, backend.Exact, nil)
				means, table := p.buffer(2, cols, backend.Exact, nil), p.weight(dense(src.floats(9*cols), models.BF16, 9, cols), backend.Table)
				gathered, lexical := p.buffer(3, cols, backend.Exact, nil), p.buffer(2, cols, backend.Exact, nil)
				for i, s := range p.sides {
					s.RMSNorm(rms[i], x[i], w[i], 1e-6)
					s.LayerNorm(layer[i], x[i], w[i], b[i], 1e-5)
					s.Add(sum[i], x[i])
					s.Copy(copied[i], x[i])
					s.MeanRows(means[i], x[i], []backend.Span{{From: 0, To: rows}, {From: rows - 1, To: rows}})
					s.Embed(gathered[i], table[i], []int32{8, 0, 8})
					s.MeanTable(lexical[i], table[i], [][]int32{{1, 1, 7}, {3}})
				}
				name := fmt.Sprint(rows, "x", cols)
				p.same(name+" RMSNorm", rms, 1e-5)
				if cols > 1 { // one column minus its own mean is nothing but rounding
					p.same(name+" LayerNorm", layer, 1e-5)
				}
				for what, x := range map[string]buffers{"Add": sum, "Copy": copied, "MeanRows": means, "Embed": gathered, "MeanTable": lexical} {
					p.same(name+" "+what, x, 1e-6)
				}
			}
		}
	})
}

func TestQuantisedTable(t *testing.T) {
	eachPath(t, F32, func(t *testing.T, c *CPU) {
		for _, bits := range []int{2, 3, 4, 5, 6, 8} {
			p := newPair(t, c)
			table, y := p.weight(quantised(newSource(1).floats(5*192), 5, 192, bits, 64), backend.Table), p.buffer(2, 192, backend.Exact, nil)
			for i, s := range p.sides {
				s.Embed(y[i], table[i], []int32{4, 1})
			}
			p.same(fmt.Sprint(bits, " bits"), y, 1e-6)
		}
	})
}

func TestGatedDelta(t *testing.T) {
	shapes := []struct{ rows, keyHeads, valueHeads, keyDim, valueDim int }{
		{1, 1, 1, 16, 16}, {5, 2, 4, 64, 64}, {67, 1, 3, 24, 40}, {33, 2, 2, 128, 128}, {4, 1, 2, 20, 9},
	}
	eachPath(t, F32, func(t *testing.T, c *CPU) {
		for _, s := range shapes {
			src := newSource(uint64(s.rows))
			p := newPair(t, c)
			width := 2*s.keyHeads*s.keyDim + s.valueHeads*s.valueDim
			x := p.buffer(s.rows, width, backend.Work, src.floats(s.rows*width))
			a, b := p.buffer(s.rows, s.valueHeads, backend.Exact, src.floats(s.rows*s.valueHeads)), p.buffer(s.rows, s.valueHeads, backend.Exact, src.floats(s.rows*s.valueHeads))
			g, beta := p.buffer(s.rows, s.valueHeads, backend.Exact, nil), p.buffer(s.rows, s.valueHeads, backend.Exact, nil)
			taps, z, norm := p.vector(src.floats(width*4), width, 1, 4), p.buffer(s.rows, s.valueHeads*s.valueDim, backend.Work, src.floats(s.rows*s.valueHeads*s.valueDim)), p.vector(src.floats(s.valueDim))
			aLog, dt := p.vector(src.floats(s.valueHeads)), p.vector(src.floats(s.valueHeads))
			history := p.buffer(3, width, backend.Work, src.floats(3*width))
			state := p.buffer(s.valueHeads*s.keyDim, s.valueDim, backend.Exact, src.floats(s.valueHeads*s.keyDim*s.valueDim))
			conv, o, fresh, gated := p.buffer(s.rows, width, backend.Work, nil), p.buffer(s.rows, s.valueHeads*s.valueDim, backend.Work, nil), p.buffer(s.rows, s.valueHeads*s.valueDim, backend.Work, nil), p.buffer(s.rows, s.valueHeads*s.valueDim, backend.Work, nil)
			for i, side := range p.sides {
				d := backend.Delta{KeyHeads: s.keyHeads, ValueHeads: s.valueHeads, KeyDim: s.keyDim, ValueDim: s.valueDim, NormEps: 1e-6, ALog: aLog[i], DtBias: dt[i]}
				side.CausalConv(conv[i], x[i], taps[i], nil)
				side.CausalConv(conv[i], x[i], taps[i], history[i])
				side.DeltaGates(g[i], beta[i], a[i], b[i], d)
				side.GatedDelta(fresh[i], conv[i], g[i], beta[i], d, nil)
				side.GatedDelta(o[i], conv[i], g[i], beta[i], d, state[i])
				side.NormGate(gated[i], o[i], z[i], norm[i], 1e-6)
			}
			for what, x := range map[string]buffers{"CausalConv": conv, "history": history, "decay": g, "beta": beta, "fresh": fresh, "GatedDelta": o, "state": state, "NormGate": gated} {
				p.same(fmt.Sprint(s, " ", what), x, 2e-5)
			}
		}
	})
}

func TestAttention(t *testing.T) {
	shapes := []struct{ rows, past, heads, kvHeads, dim, rotary int }{
		{1, 0, 1, 1, 16, 8}, {3, 0, 8, 2, 64, 16}, {70, 131, 6, 2, 40, 20}, {300, 0, 4, 4, 72, 36}, {5, 500, 2, 1, 256, 64},
	}
	for _, precision := range []string{F32, BF16} {
		eachPath(t, precision, func(t *testing.T, c *CPU) {
			for _, s := range shapes {
				testAttention(t, c, s.rows, s.past, backend.Attn{Heads: s.heads, KVHeads: s.kvHeads, HeadDim: s.dim, Rotary: s.rotary, Eps: 1e-6})
			}
		})
	}
}

func testAttention(t *testing.T, c *CPU, rows, past int, a backend.Attn) {
	t.Helper()
	src := newSource(uint64(rows + past))
	p := newPair(t, c)
	wide, narrow, half := a.Heads*a.HeadDim, a.KVHeads*a.HeadDim, a.Rotary/2
	angles := src.floats(rows * half)
	cosines, sines := make([]float32, len(angles)), make([]float32, len(angles))
	for i, x := range angles {
		cosines[i], sines[i] = float32(math.Cos(float64(x)*9)), float32(math.Sin(float64(x)*9))
	}
	qg, kRaw := p.buffer(rows, 2*wide, backend.Work, src.floats(rows*2*wide)), p.buffer(rows, narrow, backend.Work, src.floats(rows*narrow))
	cos, sin := p.buffer(rows, half, backend.Exact, cosines), p.buffer(rows, half, backend.Exact, sines)
	qn, kn := p.vector(src.floats(a.HeadDim)), p.vector(src.floats(a.HeadDim))
	keys, values := p.buffer(past+rows, narrow, backend.Work, src.floats((past+rows)*narrow)), p.buffer(past+rows, narrow, backend.Work, src.floats((past+rows)*narrow))
	q, gate, dst := p.buffer(rows, wide, backend.Work, nil), p.buffer(rows, wide, backend.Work, nil), p.buffer(rows, wide, backend.Work, nil)
	q2, gate2, k2 := p.buffer(rows, wide, backend.Work, nil), p.buffer(rows, wide, backend.Work, nil), p.buffer(rows, narrow, backend.Work, nil)
	for i, s := range p.sides {
		a.QNorm, a.KNorm = qn[i], kn[i]
		s.AttnPrep(q[i], gate[i], keys[i].Slice(past, past+rows), qg[i], kRaw[i], cos[i], sin[i], a)
		s.Attention(dst[i], q[i], gate[i], keys[i], values[i], past, a)
		s.AttnPrep(q2[i], gate2[i], nil, qg[i], nil, cos[i], sin[i], a)
		s.AttnPrep(nil, nil, k2[i], nil, kRaw[i], cos[i], sin[i], a)
	}
	tolerance := map[string]float64{F32: 1e-5, BF16: 1e-2}[c.precision]
	name := fmt.Sprint(rows, past, a.Heads, a.KVHeads, a.HeadDim)
	p.same(name+" q", q, 1e-5)
	p.same(name+" gate", gate, 0)
	p.same(name+" keys", keys, 1e-5)
	p.same(name+" q alone", q2, 1e-5)
	p.same(name+" gate alone", gate2, 0)
	p.same(name+" keys alone", k2, 1e-5)
	p.same(name+" Attention", dst, tolerance)
}

func TestMHA(t *testing.T) {
	eachPath(t, F32, func(t *testing.T, c *CPU) {
		for _, s := range []struct{ rows, keys, heads, dim int }{{1, 1, 1, 16}, {9, 300, 4, 16}, {40, 129, 2, 72}, {270, 270, 3, 24}} {
			src := newSource(uint64(s.keys))
			p := newPair(t, c)
			w := s.heads * s.dim
			q, k, v := p.buffer(s.rows, w, backend.Exact, src.floats(s.rows*w)), p.buffer(s.keys, w, backend.Exact, src.floats(s.keys*w)), p.buffer(s.keys, w, backend.Exact, src.floats(s.keys*w))
			all, some := p.buffer(s.rows, w, backend.Exact, nil), p.buffer(s.rows, w, backend.Exact, nil)
			spans := make([]backend.Span, s.rows)
			for i := range spans {
				spans[i] = backend.Span{From: i * (s.keys - 1) / s.rows, To: s.keys - (s.rows-1-i)*(s.keys-1)/s.rows/2}
			}
			for i, side := range p.sides {
				side.MHA(all[i], q[i], k[i], v[i], s.heads, nil)
				side.MHA(some[i], q[i], k[i], v[i], s.heads, spans)
			}
			p.same(fmt.Sprint(s, " all"), all, 1e-5)
			p.same(fmt.Sprint(s, " spans"), some, 1e-5)
		}
	})
}
