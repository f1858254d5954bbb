package qwen

import (
	"math"
	"math/rand/v2"
	"testing"

	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
)

// chunk is the size of a block of the chunked delta rule.
const chunk = 64

// headInputs holds the inputs of one value head: q is scaled, q and k are normalised.
type headInputs struct {
	q, k, v [][]float64
	beta, g []float64
}

// chunked computes the delta rule of one head in its chunked form (clef.md 4.5):
// within a chunk a unit triangular system, between chunks a state. It is the
// independent check of the token by token form.
func chunked(in headInputs, dk, dv int) [][]float64 {
	state := matrix(dk, dv)
	var out [][]float64
	for from := 0; from < len(in.g); from += chunk {
		to := min(from+chunk, len(in.g))
		out = append(out, oneChunk(in.slice(from, to), state)...)
	}
	return out
}

func (h headInputs) slice(from, to int) headInputs {
	return headInputs{h.q[from:to], h.k[from:to], h.v[from:to], h.beta[from:to], h.g[from:to]}
}

// oneChunk returns the outputs of a chunk and advances state.
func oneChunk(in headInputs, state [][]float64) [][]float64 {
	n := len(in.g)
	sum := make([]float64, n) // inclusive cumulative log decay
	for i := range n {
		sum[i] = in.g[i]
		if i > 0 {
			sum[i] += sum[i-1]
		}
	}
	// Solve (I-A)U = β⊙V and (I-A)W = β⊙exp(G)⊙K by forward substitution.
	u, w := make([][]float64, n), make([][]float64, n)
	for i := range n {
		u[i], w[i] = scaled(in.v[i], in.beta[i]), scaled(in.k[i], in.beta[i]*math.Exp(sum[i]))
		for j := range i {
			a := -in.beta[i] * inner(in.k[i], in.k[j]) * math.Exp(sum[i]-sum[j])
			axpy(u[i], a, u[j])
			axpy(w[i], a, w[j])
		}
	}
	fresh, out := make([][]float64, n), make([][]float64, n)
	for i := range n {
		fresh[i] = u[i]
		for k, s := range state {
			axpy(fresh[i], -w[i][k], s)
		}
	}
	for i := range n {
		out[i] = make([]float64, len(u[i]))
		for k, s := range state {
			axpy(out[i], math.Exp(sum[i])*in.q[i][k], s)
		}
		for j := range i + 1 {
			axpy(out[i], inner(in.q[i], in.k[j])*math.Exp(sum[i]-sum[j]), fresh[j])
		}
	}
	for k, s := range state {
		for c := range s {
			s[c] *= math.Exp(sum[n-1])
		}
		for i := range n {
			axpy(s, math.Exp(sum[n-1]-sum[i])*in.k[i][k], fresh[i])
		}
	}
	return out
}

func matrix(rows, cols int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
	}
	return out
}

func scaled(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	axpy(out, by, x)
	return out
}

func axpy(dst []float64, a float64, x []float64) {
	for i, v := range x {
		dst[i] += a * v
	}
}

func inner(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// TestChunkedEqualsTokenByToken compares the two forms of the delta rule on random
// data with strong and weak decay, over chunk borders and a partial last chunk.
func TestChunkedEqualsTokenByToken(t *testing.T) {
	const heads, dk, dv = 3, 16, 24
	for _, tokens := range []int{1, 63, 64, 65, 200} {
		for _, decay := range []float64{0.01, 1, 12} {
			r := rand.New(rand.NewPCG(uint64(tokens), uint64(100*decay)))
			b := scalar.New()
			qkv, g, beta := b.New(tokens, heads*(2*dk+dv), backend.Exact), b.New(tokens, heads, backend.Exact), b.New(tokens, heads, backend.Exact)
			x, gs, bs := noise(r, tokens*heads*(2*dk+dv)), noise(r, tokens*heads), noise(r, tokens*heads)
			for i := range gs {
				gs[i] = -float32(decay) * float32(math.Abs(float64(gs[i])))
				bs[i] = float32(1 / (1 + math.Exp(-2*float64(bs[i]))))
			}
			b.Write(qkv, x)
			b.Write(g, gs)
			b.Write(beta, bs)
			dst := b.New(tokens, heads*dv, backend.Exact)
			b.GatedDelta(dst, qkv, g, beta, backend.Delta{KeyHeads: heads, ValueHeads: heads, KeyDim: dk, ValueDim: dv, NormEps: l2Eps}, nil)
			got := make([]float32, tokens*heads*dv)
			if err := b.Read(got, dst); err != nil {
				t.Fatal(err)
			}
			for h := range heads {
				want := chunked(inputs(x, gs, bs, h, heads, dk, dv), dk, dv)
				for i, row := range want {
					for c, w := range row {
						if v := got[(i*heads+h)*dv+c]; math.Abs(float64(v)-w) > 1e-5 {
							t.Fatalf("%d tokens, decay %v, head %d, token %d: got %v, want %v", tokens, decay, h, i, v, w)
						}
					}
				}
			}
		}
	}
}

func noise(r *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}

// inputs cuts one head out of interleaved rows, normalised as the rule wants them.
func inputs(x, g, beta []float32, h, heads, dk, dv int) headInputs {
	var in headInputs
	width := heads * (2*dk + dv)
	unit := func(v []float32, scale float64) []float64 {
		out, sum := make([]float64, len(v)), l2Eps
		for _, e := range v {
			sum += float64(e) * float64(e)
		}
		for i, e := range v {
			out[i] = float64(e) / math.Sqrt(sum) * scale
		}
		return out
	}
	for t := range len(g) / heads {
		row := x[t*width : (t+1)*width]
		in.q = append(in.q, unit(row[h*dk:(h+1)*dk], 1/math.Sqrt(float64(dk))))
		in.k = append(in.k, unit(row[(heads+h)*dk:(heads+h+1)*dk], 1))
		var v []float64
		for _, e := range row[2*heads*dk+h*dv : 2*heads*dk+(h+1)*dv] {
			v = append(v, float64(e))
		}
		in.v = append(in.v, v)
		in.g, in.beta = append(in.g, float64(g[t*heads+h])), append(in.beta, float64(beta[t*heads+h]))
	}
	return in
}
