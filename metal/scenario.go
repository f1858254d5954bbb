package metal

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"clefbar/engine/backend"
	"clefbar/metal/number"
	"clefbar/models"
)

// scene gives a scenario reproducible inputs on any backend.
type scene struct {
	backend.Backend
	random *rand.Rand
}

// scenario runs operations and returns the numbers that backends must agree on: in
// the tests the emulator and the scalar oracle, in the self-test a Mac's GPU and the
// oracle. Each is small and oddly shaped, because it also runs instrumented.
type scenario struct {
	name    string
	library string // whose barriers the scenario has to need; "" for none
	within  float64
	run     func(s *scene) ([]float32, error)
}

func newScene(b backend.Backend) *scene {
	b.Begin(context.Background())
	return &scene{b, rand.New(rand.NewPCG(1, 2))}
}

// values returns random numbers that half and bfloat hold exactly.
func (s *scene) values(n int, size float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = number.FromBfloat(number.Bfloat((s.random.Float32()*2 - 1) * size))
	}
	return v
}

// input returns a buffer of random numbers.
func (s *scene) input(rows, cols int, f backend.Format, size float32) backend.Buffer {
	x := s.New(rows, cols, f)
	s.Write(x, s.values(rows*cols, size))
	return x
}

// halves returns a buffer of random numbers that is Work on the GPU, as if AttnPrep had made it.
func (s *scene) halves(rows, cols int, size float32) backend.Buffer {
	x := s.input(rows, cols, backend.Work, size)
	if b, ok := s.Backend.(*Backend); ok {
		b.gather(of(x), inWork)
	}
	return x
}

// read returns the content of buffers, one after the other.
func (s *scene) read(list ...backend.Buffer) ([]float32, error) {
	var all []float32
	for _, x := range list {
		v := make([]float32, x.Rows()*x.Cols())
		if err := s.Read(v, x); err != nil {
			return nil, err
		}
		all = append(all, v...)
	}
	return all, s.Sync()
}

func (s *scene) vector(n int, size float32) backend.Weight {
	return s.load(models.FromFloats("vector", []int{n}, s.values(n, size)), backend.Vector)
}

// loadFailure is what load panics with and attempt recovers: scenarios stay readable.
type loadFailure struct{ error }

func (s *scene) load(t models.Tensor, use backend.Use) backend.Weight {
	w, err := s.Load(t, use)
	if err != nil {
		panic(loadFailure{err})
	}
	return w
}

// attempt runs a scenario on a backend.
func (c scenario) attempt(b backend.Backend) (numbers []float32, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(loadFailure)
			if !ok {
				panic(p)
			}
			err = f.error
		}
	}()
	return c.run(newScene(b))
}

// dense returns a random matrix in a stored type.
func (s *scene) dense(rows, cols int, d models.DType) models.Tensor {
	v := s.values(rows*cols, 1)
	t := models.FromFloats("dense", []int{rows, cols}, v)
	if d != models.F32 {
		convert := map[models.DType]func(float32) uint16{models.F16: number.Half, models.BF16: number.Bfloat}[d]
		t.DType, t.Data = d, make([]byte, 2*len(v))
		number.Put(t.Data, v, convert)
	}
	return t
}

// codes returns a random quantised matrix.
func (s *scene) codes(rows, cols, bits, group int, scales models.DType) models.Tensor {
	data := make([]byte, rows*cols*bits/8)
	for i := range data {
		data[i] = byte(s.random.Uint32())
	}
	q := &models.Quant{Bits: bits, Group: group, Scales: s.dense(rows, cols/group, scales), Biases: s.dense(rows, cols/group, scales)}
	// Codes are as large as 2^bits; scales of 2^-bits keep the weights near 1.
	if scales == models.BF16 {
		for i := 0; i < len(q.Scales.Data); i += 2 {
			f := number.FromBfloat(binary.LittleEndian.Uint16(q.Scales.Data[i:]))
			binary.LittleEndian.PutUint16(q.Scales.Data[i:], number.Bfloat(f/float32(int(1)<<bits)))
		}
	}
	return models.Tensor{Name: "codes", DType: models.U32, Shape: []int{rows, cols}, Data: data, Quant: q}
}

func (s *scene) matrix(t models.Tensor) backend.Weight { return s.load(t, backend.Matrix) }

// scenarios cover every operation, format and edge.
func scenarios() []scenario {
	list := []scenario{
		{"rms norm", "norm", 1e-5, rmsNorms},
		{"layer norm", "norm", 1e-5, layerNorms},
		{"rows", "", 1e-3, rowOperations},
		{"rotation", "", 1e-6, rotations},
		{"tables", "", 1e-6, tableOperations},
		{"linear dense", "gemm", 1e-5, linearDense},
		{"linear codes", "", 1e-4, linearCodes},
		{"linear ragged", "", 1e-5, linearRagged},
		{"feed forward", "gemm", 1e-3, feedForward},
		{"head layer", "gemm", 1e-5, headLayer},
		{"convolution", "", 1e-5, convolutions},
		{"norm gate", "", 1e-5, normGates},
		{"prepare 64", "prepare", 3e-3, func(s *scene) ([]float32, error) { return prepares(s, 64, 16) }},
		{"prepare 256", "", 3e-3, func(s *scene) ([]float32, error) { return prepares(s, 256, 64) }},
		{"attention 64", "attention", 3e-3, func(s *scene) ([]float32, error) { return attends(s, 64, 4, 2, 19, 37) }},
		{"attention 256", "attention", 3e-3, func(s *scene) ([]float32, error) { return attends(s, 256, 6, 1, 9, 0) }},
		{"attention of the head", "attention", 2e-5, headAttention},
		{"delta steps", "delta", 2e-5, func(s *scene) ([]float32, error) { return deltas(s, 12, 20, []int{5, 21}) }},
		{"delta chunks", "delta", 2e-5, func(s *scene) ([]float32, error) { return deltas(s, 16, 24, []int{70, 5, 40}) }},
	}
	return list
}

func rmsNorms(s *scene) ([]float32, error) {
	var out []backend.Buffer
	for _, c := range []struct {
		cols     int
		from, to backend.Format
	}{{70, backend.Exact, backend.Work}, {1100, backend.Work, backend.Exact}, {64, backend.Exact, backend.Exact}} {
		y := s.New(3, c.cols, c.to)
		x := s.input(3, c.cols, c.from, 3)
		if c.from == backend.Work {
			x = s.halves(3, c.cols, 3)
		}
		s.RMSNorm(y, x, s.vector(c.cols, 1), 1e-6)
		out = append(out, y)
	}
	return s.read(out...)
}

func layerNorms(s *scene) ([]float32, error) {
	x := s.input(3, 300, backend.Exact, 3)
	y, z := s.New(3, 300, backend.Exact), s.New(2, 300, backend.Work)
	w, b := s.vector(300, 1), s.vector(300, 1)
	s.LayerNorm(y, x, w, b, 1e-5)
	s.LayerNorm(z, x.Slice(1, 3), w, b, 1e-5)
	return s.read(y, z)
}

func rowOperations(s *scene) ([]float32, error) {
	x := s.input(7, 33, backend.Exact, 2)
	y, z := s.halves(7, 33, 2), s.New(9, 33, backend.Exact)
	s.Copy(y, x)
	s.Copy(z.Slice(1, 8), y) // rows 0 and 8 stay zero
	s.Add(z.Slice(2, 5), x.Slice(0, 3))
	mean := s.New(3, 33, backend.Exact)
	s.MeanRows(mean, z, []backend.Span{{From: 0, To: 9}, {From: 4, To: 5}, {From: 2, To: 6}})
	grown := s.New(9, 33, backend.Work)
	s.Copy(grown.Slice(0, 7), y) // takes the format of y
	s.Copy(grown.Slice(7, 9), z.Slice(3, 5))
	s.Add(grown.Slice(1, 3), y.Slice(2, 4))
	shared := s.New(7, 33, backend.Exact)
	s.Copy(shared, x)
	s.Add(shared, y) // x must not change
	untouched := s.New(2, 5, backend.Work)
	return s.read(y, z, mean, grown, shared, x, untouched)
}

func rotations(s *scene) ([]float32, error) {
	x := s.input(5, 3*2*12, backend.Work, 2)
	s.Backend.(backend.Rotator).Rotate(x.Slice(1, 5), s.input(4, 12, backend.Exact, 1), s.input(4, 12, backend.Exact, 1))
	return s.read(x)
}

func tableOperations(s *scene) ([]float32, error) {
	table := s.load(s.dense(40, 24, models.BF16), backend.Table)
	codes := s.load(s.codes(40, 64, 4, 32, models.BF16), backend.Table)
	x, y, z := s.New(3, 24, backend.Exact), s.New(2, 64, backend.Exact), s.New(2, 64, backend.Work)
	s.Embed(x, table, []int32{39, 0, 7})
	s.MeanTable(y, codes, [][]int32{{1, 1, 5}, {39}})
	s.Embed(z, codes, []int32{3, 3})
	return s.read(x, y, z)
}

func linearDense(s *scene) ([]float32, error) {
	var out []backend.Buffer
	for _, m := range []int{5, 41, 70} {
		x := s.input(m, 72, backend.Work, .3)
		if m == 41 {
			x = s.halves(m, 72, .3)
		}
		dst := []backend.Buffer{
			s.New(m, 70, backend.Work), s.New(m, 3, backend.Exact), s.New(m, 65, backend.Work), s.New(m, 8, backend.Exact), s.New(m, 9, backend.Exact),
		}
		types := []models.DType{models.BF16, models.F16, models.F32, models.BF16, models.F16}
		var w, bias []backend.Weight
		for i, d := range dst {
			w = append(w, s.matrix(s.dense(d.Cols(), 72, types[i])))
			bias = append(bias, nil)
		}
		bias[1] = s.vector(3, 1)
		s.Linear(dst, x, w, bias, backend.None)
		out = append(out, dst...)
	}
	return s.read(out...)
}

func linearCodes(s *scene) ([]float32, error) {
	var out []backend.Buffer
	for _, c := range []struct {
		bits, group int
		scales      models.DType
	}{{4, 64, models.BF16}, {8, 64, models.BF16}, {2, 32, models.BF16}, {3, 32, models.BF16}, {5, 128, models.BF16}, {6, 64, models.BF16}, {4, 32, models.F32}} {
		x := s.input(6, 128, backend.Work, .3)
		y, z := s.New(6, 68, backend.Exact), s.New(6, 10, backend.Exact)
		w, v := s.matrix(s.codes(68, 128, c.bits, c.group, c.scales)), s.matrix(s.codes(10, 128, 8, 64, models.BF16))
		s.Linear([]backend.Buffer{y, z}, x, []backend.Weight{w, v}, nil, backend.None)
		out = append(out, y, z)
	}
	return s.read(out...)
}

func linearRagged(s *scene) ([]float32, error) {
	x, y := s.input(9, 13, backend.Work, 1), s.New(9, 11, backend.Exact)
	s.Linear([]backend.Buffer{y}, x, []backend.Weight{s.matrix(s.dense(11, 13, models.BF16))}, nil, backend.None)
	e, z := s.input(4, 21, backend.Exact, 1), s.New(4, 7, backend.Exact)
	s.Linear([]backend.Buffer{z}, e, []backend.Weight{s.matrix(s.dense(7, 21, models.F32))}, nil, backend.None)
	return s.read(y, z)
}

func feedForward(s *scene) ([]float32, error) {
	x, h := s.input(37, 64, backend.Work, 1), s.New(37, 96, backend.Work)
	s.SwiGLU(h, x, s.matrix(s.codes(96, 64, 4, 64, models.BF16)), s.matrix(s.dense(96, 64, models.BF16)))
	y := s.input(37, 40, backend.Exact, 1)
	s.LinearAdd(y, h, s.matrix(s.codes(40, 96, 8, 32, models.BF16)), nil)
	copied := s.New(37, 96, backend.Exact)
	s.Copy(copied, h)
	return s.read(h, y, copied)
}

// headLayer is in float throughout.
func headLayer(s *scene) ([]float32, error) {
	x := s.input(5, 48, backend.Exact, 1)
	wide, exact := s.New(5, 96, backend.Exact), s.New(5, 96, backend.Exact)
	w, b := s.matrix(s.dense(96, 48, models.BF16)), s.vector(96, 1)
	s.Linear([]backend.Buffer{wide}, x, []backend.Weight{w}, []backend.Weight{b}, backend.GELU)
	s.Linear([]backend.Buffer{exact}, x, []backend.Weight{w}, []backend.Weight{b}, backend.GELUTanh)
	s.LinearAdd(x, wide, s.matrix(s.dense(48, 96, models.BF16)), s.vector(48, 1))
	h := s.New(5, 24, backend.Exact)
	s.SwiGLU(h, x, s.matrix(s.dense(24, 48, models.BF16)), s.matrix(s.dense(24, 48, models.F32)))
	return s.read(wide, exact, x, h)
}

func convolutions(s *scene) ([]float32, error) {
	const channels, heads = 150, 5
	var out []backend.Buffer
	history := s.New(3, channels, backend.Work)
	taps := s.load(models.FromFloats("taps", []int{channels, 4}, s.values(4*channels, 1)), backend.Vector)
	rule := backend.Delta{ValueHeads: heads, ALog: s.vector(heads, 1), DtBias: s.vector(heads, 1)}
	for _, rows := range []int{40, 1, 2, 16, 17} {
		y := s.New(rows, channels, backend.Work)
		g, beta := s.New(rows, heads, backend.Exact), s.New(rows, heads, backend.Exact)
		x, a, b := s.input(rows, channels, backend.Work, 2), s.input(rows, heads, backend.Exact, 25), s.input(rows, heads, backend.Exact, 4)
		s.CausalConv(y, x, taps, history)
		s.DeltaGates(g, beta, a, b, rule)
		out = append(out, y, g, beta)
	}
	alone := s.New(5, channels, backend.Exact)
	s.CausalConv(alone, s.input(5, channels, backend.Exact, 2), taps, nil)
	g, beta := s.New(5, heads, backend.Exact), s.New(5, heads, backend.Exact)
	s.Add(alone, alone.Slice(0, 5))
	s.DeltaGates(g, beta, s.input(5, heads, backend.Exact, 1), s.input(5, heads, backend.Exact, 1), rule)
	return s.read(append(out, history, alone, g, beta)...)
}

func normGates(s *scene) ([]float32, error) {
	o, z, y := s.input(5, 120, backend.Work, 2), s.input(5, 120, backend.Work, 3), s.New(5, 120, backend.Work)
	s.NormGate(y, o, z, s.vector(40, 1), 1e-6)
	return s.read(y)
}

func prepares(s *scene, d, rotary int) ([]float32, error) {
	const rows, heads, keyHeads = 5, 3, 2
	a := backend.Attn{Heads: heads, KVHeads: keyHeads, HeadDim: d, Rotary: rotary, Eps: 1e-6, QNorm: s.vector(d, 1), KNorm: s.vector(d, 1)}
	q, gate, k := s.New(rows, heads*d, backend.Work), s.New(rows, heads*d, backend.Work), s.New(rows+2, keyHeads*d, backend.Work)
	qg, raw := s.input(rows, 2*heads*d, backend.Work, 2), s.input(rows, keyHeads*d, backend.Work, 2)
	cos, sin := s.input(rows, rotary/2, backend.Exact, 1), s.input(rows, rotary/2, backend.Exact, 1)
	s.Write(k, s.values((rows+2)*keyHeads*d, 1)) // other rows stay when the keys become Work
	s.AttnPrep(q, gate, k.Slice(1, rows+1), qg, raw, cos, sin, a)
	q2, gate2, k2 := s.New(rows, heads*d, backend.Work), s.New(rows, heads*d, backend.Work), s.New(rows, keyHeads*d, backend.Work)
	s.AttnPrep(q2, gate2, nil, qg, nil, cos, sin, a)
	s.AttnPrep(nil, nil, k2, nil, raw, cos, sin, a)
	return s.read(q, gate, k, q2, gate2, k2)
}

func attends(s *scene, d, group, keyHeads, rows, past int) ([]float32, error) {
	heads := group * keyHeads
	a := backend.Attn{Heads: heads, KVHeads: keyHeads, HeadDim: d}
	out := s.New(rows, heads*d, backend.Work)
	q, gate := s.halves(rows, heads*d, 2), s.halves(rows, heads*d, 3)
	k, v := s.halves(past+rows, keyHeads*d, 2), s.input(past+rows, keyHeads*d, backend.Work, 2)
	s.Attention(out, q, gate, k, v, past, a)
	return s.read(out)
}

func headAttention(s *scene) ([]float32, error) {
	var out []backend.Buffer
	for _, c := range []struct {
		heads, d, n, m int
		spans          []backend.Span
	}{
		{4, 16, 5, 70, nil},
		{2, 24, 40, 40, []backend.Span{{From: 0, To: 7}, {From: 7, To: 40}}},
		{1, 72, 3, 9, nil},
	} {
		y := s.New(c.n, c.heads*c.d, backend.Exact)
		var rows []backend.Span
		for i := range c.n {
			if c.spans != nil {
				rows = append(rows, c.spans[min(i/7, 1)])
			}
		}
		q, k, v := s.input(c.n, c.heads*c.d, backend.Exact, 2), s.input(c.m, c.heads*c.d, backend.Exact, 2), s.input(c.m, c.heads*c.d, backend.Exact, 2)
		s.MHA(y, q, k, v, c.heads, rows)
		out = append(out, y)
	}
	return s.read(out...)
}

func deltas(s *scene, keyDim, valueDim int, parts []int) ([]float32, error) {
	const keyHeads, valueHeads = 2, 4
	d := backend.Delta{KeyHeads: keyHeads, ValueHeads: valueHeads, KeyDim: keyDim, ValueDim: valueDim, NormEps: 1e-6}
	width := 2*keyHeads*keyDim + valueHeads*valueDim
	state := s.New(valueHeads*keyDim, valueDim, backend.Exact)
	var out []backend.Buffer
	for i, rows := range append(parts, parts[0]) {
		y := s.New(rows, valueHeads*valueDim, backend.Work)
		x := s.input(rows, width, backend.Work, 1)
		g, beta := s.New(rows, valueHeads, backend.Exact), s.New(rows, valueHeads, backend.Exact)
		decay, gain := s.values(rows*valueHeads, 1), s.values(rows*valueHeads, 1)
		for j := range decay {
			decay[j], gain[j] = -decay[j]*decay[j], gain[j]*gain[j]
		}
		s.Write(g, decay)
		s.Write(beta, gain)
		if i < len(parts) {
			s.GatedDelta(y, x, g, beta, d, state)
		} else {
			s.GatedDelta(y, x, g, beta, d, nil)
		}
		out = append(out, y)
	}
	return s.read(append(out, state)...)
}
