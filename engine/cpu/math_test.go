package cpu

import (
	"math"
	"testing"
)

// functions are the functions of one variable, their exact values, and how far off a kernel may
// be: within `relative` of the value, or within `absolute`.
var functions = []struct {
	name               string
	which              int
	exact              func(float64) float64
	relative, absolute float64
	from, to           float64
}{
	{"exp", 0, math.Exp, 2.5e-7, 0, -87.3, 88.3},
	{"sigmoid", 1, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 4e-7, 1e-37, -200, 200},
	{"silu", 2, func(x float64) float64 { return x / (1 + math.Exp(-x)) }, 4e-7, 1e-35, -200, 200},
	{"softplus", 3, func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, 5e-7, 1e-37, -200, 200},
	{"gelu", 4, func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }, 1e-6, 3e-7, -40, 40},
	{"gelu tanh", 5, func(x float64) float64 {
		return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}, 2e-6, 1e-7, -40, 40},
}

// TestFunctions walks through the floats of each function's range: every 997th of them, both
// signs, so that all exponents and a spread of mantissas are met.
func TestFunctions(t *testing.T) {
	for _, p := range paths() {
		for _, f := range functions {
			t.Run(p.key+"/"+f.name, func(t *testing.T) {
				x, y := make([]float32, 0, 4096), make([]float32, 4096)
				flush := func() {
					for len(x)%16 != 0 {
						x = append(x, 0)
					}
					p.path.math(f.which, y, x)
					for i, v := range x {
						want := f.exact(float64(v))
						if d := math.Abs(float64(y[i]) - want); !(d <= f.relative*math.Abs(want)+f.absolute) {
							t.Fatalf("f(%v): got %v, want %v (off by %.2g, relative %.2g)", v, y[i], want, d, d/math.Abs(want))
						}
					}
					x = x[:0]
				}
				for u := uint32(0); u < 0x7f800000; u += 997 {
					for _, v := range []float32{math.Float32frombits(u), -math.Float32frombits(u)} {
						if float64(v) >= f.from && float64(v) <= f.to {
							x = append(x, v)
						}
					}
					if len(x) >= 4000 {
						flush()
					}
				}
				flush()
			})
		}
	}
}

// TestFunctionsAtTheEdge: infinities give the limits, NaN stays NaN.
func TestFunctionsAtTheEdge(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, p := range paths() {
		x, y := make([]float32, 16), make([]float32, 16)
		x[0], x[1], x[2] = inf, -inf, nan
		for _, f := range functions[:4] {
			p.path.math(f.which, y, x)
			if f.name == "sigmoid" && (y[0] != 1 || y[1] > 1e-37) {
				t.Errorf("%s %s(±Inf): got %v and %v, want 1 and 0", p.key, f.name, y[0], y[1])
			}
			if f.name == "exp" && (y[0] < 1e38 || y[1] > 2e-38) {
				t.Errorf("%s exp(±Inf): got %v and %v, want huge and 0", p.key, y[0], y[1])
			}
			if y[2] == y[2] {
				t.Errorf("%s %s(NaN): got %v, want NaN", p.key, f.name, y[2])
			}
		}
	}
}
