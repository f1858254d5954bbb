package emu

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// need skips a test where kernels cannot be compiled.
func need(t testing.TB) {
	t.Helper()
	if err := Available(); err != nil {
		t.Skip(err)
	}
}

func source(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func library(t testing.TB, name string, o Options) *Library {
	t.Helper()
	need(t)
	l, err := Compile(name, source(t, name), o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func clean(t *testing.T, findings []Finding) {
	t.Helper()
	for _, f := range findings {
		t.Error(f)
	}
}

// bytesOf views numbers as memory.
func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// half and unhalf convert through a float's bits; test values are normal and in range.
func half(f float32) uint16 {
	b := math.Float32bits(f)
	if b<<1 == 0 {
		return uint16(b >> 16)
	}
	return uint16(b>>16)&0x8000 | uint16((b&0x7fffffff+0x1000-112<<23)>>13)
}

func unhalf(h uint16) float32 {
	if h<<1 == 0 {
		return 0
	}
	return math.Float32frombits(uint32(h&0x8000)<<16 | (uint32(h&0x7fff)<<13 + 112<<23))
}

func unbfloat(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// inAllModes runs f fast and checked, in every order and with three seeds.
func inAllModes(t *testing.T, f func(t *testing.T, m Mode, o Order, seed uint32)) {
	need(t)
	t.Run("fast", func(t *testing.T) { f(t, Fast, Forward, 0) })
	t.Run("fast reverse", func(t *testing.T) { f(t, Fast, Reverse, 0) })
	t.Run("checked", func(t *testing.T) { f(t, Checked, Forward, 0) })
	t.Run("checked reverse", func(t *testing.T) { f(t, Checked, Reverse, 0) })
	for _, seed := range []uint32{1, 2, 3} {
		t.Run("checked seeded", func(t *testing.T) { f(t, Checked, Seeded, seed) })
	}
}

func TestMatrixProduct(t *testing.T) {
	inAllModes(t, func(t *testing.T, m Mode, order Order, seed uint32) {
		l := library(t, "good.metal", Options{Mode: m})
		const M, N, K = 128, 64, 96
		a, w := make([]uint16, M*K), make([]uint16, N*K)
		for i := range a {
			a[i] = half(float32(rand.IntN(2000)-1000) / 2048)
		}
		for i := range w {
			w[i] = half(float32(rand.IntN(2000)-1000) / 2048)
		}
		bias := make([]float32, N)
		for i := range bias {
			bias[i] = float32(i)
		}
		c := make([]float32, M*N)
		clean(t, l.Run(Dispatch{
			Kernel: "gemm_nt", Groups: [3]uint32{N / 64, M / 64, 1}, Group: [3]uint32{128, 1, 1}, Order: order, Seed: seed,
			Memory: map[int]uint32{0: 8192}, Constants: map[int]float64{0: 1, 1: 3},
			Buffers: map[int][]byte{0: bytesOf(a), 1: bytesOf(w), 2: bytesOf(c), 3: bytesOf([]int32{M, N, K}), 4: bytesOf(bias)},
		}))
		for i := 0; i < M*N; i += 37 {
			want := float64(i%N) * 8
			for k := range K {
				want += float64(unhalf(a[i/N*K+k])) * float64(unhalf(w[i%N*K+k]))
			}
			if math.Abs(want-float64(c[i])) > 1e-3 {
				t.Fatalf("C[%d] = %v, want %v", i, c[i], want)
			}
		}
	})
}

func TestRows(t *testing.T) {
	inAllModes(t, func(t *testing.T, m Mode, order Order, seed uint32) {
		l := library(t, "good.metal", Options{Mode: m})
		const n, rows = 200, 5
		x, soft := make([]float32, n*rows), make([]float32, n*rows)
		for i := range x {
			x[i] = float32(rand.NormFloat64())
		}
		w, y := make([]uint16, n), make([]uint16, n*rows)
		grid := Dispatch{Groups: [3]uint32{rows, 1, 1}, Group: [3]uint32{96, 1, 1}, Order: order, Seed: seed}
		d := grid
		d.Kernel = "rmsnorm_bf16"
		d.Buffers = map[int][]byte{0: bytesOf(x), 1: bytesOf(w), 2: bytesOf(y), 3: bytesOf([]int32{n}), 4: bytesOf([]float32{1e-6})}
		clean(t, l.Run(d))
		d = grid
		d.Kernel, d.Buffers = "softmax_rows", map[int][]byte{0: bytesOf(x), 1: bytesOf(soft), 2: bytesOf([]int32{n})}
		clean(t, l.Run(d))
		for r := range rows {
			square, z := 0.0, 0.0
			for _, v := range x[r*n : (r+1)*n] {
				square += float64(v) * float64(v)
				z += math.Exp(float64(v))
			}
			for i, v := range x[r*n : (r+1)*n] {
				got := float64(unbfloat(y[r*n+i]))
				if want := float64(v) / math.Sqrt(square/n+1e-6); math.Abs(want-got) > .01*math.Abs(want)+1e-3 {
					t.Fatalf("rmsnorm %d,%d: got %v, want %v", r, i, got, want)
				}
				if got, want := float64(soft[r*n+i]), math.Exp(float64(v))/z; math.Abs(want-got) > 1e-6 {
					t.Fatalf("softmax %d,%d: got %v, want %v", r, i, got, want)
				}
			}
		}
	})
}

func TestLanguage(t *testing.T) {
	inAllModes(t, func(t *testing.T, m Mode, order Order, seed uint32) {
		l := library(t, "good.metal", Options{Mode: m})
		got := make([]uint32, 64)
		clean(t, l.Run(Dispatch{
			Kernel: "language", Groups: [3]uint32{2, 1, 1}, Group: [3]uint32{32, 1, 1}, Order: order, Seed: seed,
			Buffers: map[int][]byte{0: bytesOf(got), 1: bytesOf([]float32{1, 2, 3, 4, 5, 6})},
		}))
		for i, want := range []uint32{16, 12, 8, 16, 4, 5, 2048, 256, 4461, 0x3f800000, 2, 10, 1, 4, 39, 5, 10} {
			if got[i] != want {
				t.Errorf("value %d: got %d, want %d", i, got[i], want)
			}
		}
		count := make([]uint32, 1)
		clean(t, l.Run(Dispatch{
			Kernel: "simd_ops", Groups: [3]uint32{2, 1, 1}, Group: [3]uint32{32, 1, 1}, Order: order, Seed: seed,
			Buffers: map[int][]byte{0: bytesOf(got), 1: bytesOf(count)},
		}))
		for i := range got {
			lane := uint32(i % 32)
			want := 528 + (lane ^ 1) + 1 + (lane+1)*(lane+2)/2 + 7 + 10 + (4*(lane&^3) + 10)
			if lane < 28 {
				want += lane + 5
			}
			if got[i] != want {
				t.Errorf("lane %d: got %d, want %d", i, got[i], want)
			}
		}
		if count[0] != 64 {
			t.Errorf("atomic counter: got %d, want 64", count[0])
		}
	})
}

// TestMathModes: a softmax with -INFINITY padding must survive Metal's default fast math.
func TestMathModes(t *testing.T) {
	const n, rows = 200, 3
	x, y := make([]float32, n*rows), make([]float32, n*rows)
	for i := range x {
		x[i] = float32(i%17) * .3
	}
	for _, m := range []Math{SafeMath, Contract, FastMath} {
		l := library(t, "good.metal", Options{Math: m})
		clean(t, l.Run(Dispatch{
			Kernel: "softmax_rows", Groups: [3]uint32{rows, 1, 1}, Group: [3]uint32{64, 1, 1},
			Buffers: map[int][]byte{0: bytesOf(x), 1: bytesOf(y), 2: bytesOf([]int32{n})},
		}))
		sum := 0.0
		for _, v := range y[:n] {
			sum += float64(v)
		}
		if math.IsNaN(sum) || math.Abs(sum-1) > 1e-5 {
			t.Errorf("math mode %v: row sums to %v, want 1", m, sum)
		}
	}
}

func TestSignatures(t *testing.T) {
	l := library(t, "good.metal", Options{})
	all, err := l.Signatures()
	if err != nil {
		t.Fatal(err)
	}
	g := all["gemm_nt"]
	if len(g) != 9 || g[3].Kind != "buffer" || g[3].Index != 3 || !g[3].Ref || g[3].ElemSize != 12 ||
		g[4].OnlyIf != "kHasBias" || g[5].Kind != "threadgroup" || !g[0].Readonly || g[2].Readonly {
		t.Errorf("signature of gemm_nt: got %+v", g)
	}
	right := []Binding{
		{"buffer", 0, 0, 2, false},
		{"buffer", 1, 0, 2, false},
		{"buffer", 2, 0, 4, true},
		{"bytes", 3, 12, 0, false},
		{"buffer", 4, 0, 4, false},
		{"threadgroup", 0, 0, 2, true},
	}
	if bad := CheckTable("gemm_nt", g, right); len(bad) > 0 {
		t.Errorf("a right table: got %q, want nothing", bad)
	}
	wrong := []Binding{
		{"buffer", 0, 0, 4, false},
		{"buffer", 5, 0, 2, false},
		{"buffer", 2, 0, 4, false},
		{"bytes", 3, 16, 0, false},
		{"threadgroup", 0, 0, 2, true},
	}
	bad := CheckTable("gemm_nt", g, wrong)
	for i, want := range []string{"element", "no such argument", "input", "host struct", "not bound"} {
		if i >= len(bad) || !strings.Contains(bad[i], want) {
			t.Errorf("problem %d of a wrong table: got %q, want one with %q", i, bad, want)
		}
	}
}

func BenchmarkMatrixProduct(b *testing.B) {
	l := library(b, "good.metal", Options{})
	const M, N, K = 128, 128, 256
	a, w, c := make([]uint16, M*K), make([]uint16, N*K), make([]float32, M*N)
	d := Dispatch{
		Kernel: "gemm_nt", Groups: [3]uint32{N / 64, M / 64, 1}, Group: [3]uint32{128, 1, 1}, Memory: map[int]uint32{0: 8192},
		Constants: map[int]float64{0: 0, 1: 0},
		Buffers:   map[int][]byte{0: bytesOf(a), 1: bytesOf(w), 2: bytesOf(c), 3: bytesOf([]int32{M, N, K})},
	}
	start := time.Now()
	for b.Loop() {
		l.Run(d)
	}
	b.ReportMetric(2*M*N*K*float64(b.N)/time.Since(start).Seconds()/1e9, "GFLOP/s")
}
