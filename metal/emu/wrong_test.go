package emu

import (
	"fmt"
	"strings"
	"testing"
)

// TestWrongKernelsAreReported: every detector has a kernel that it must catch.
func TestWrongKernelsAreReported(t *testing.T) {
	l := library(t, "bad.metal", Options{Mode: Checked})
	for _, c := range []struct{ kernel, want string }{
		{"divergent_barrier", "returned early"},
		{"barrier_in_two_branches", "barrier divergence"},
		{"return_before_barrier", "returned early"},
		{"divergent_simd", "divergent simdgroup operation"},
		{"loop_trip_divergence", "simd_sum"},
		{"oob_write", "out of bounds of buffer(0): offset 256"},
		{"oob_read", "out of bounds of buffer(0): offset -12"},
		{"oob_vector", "out of bounds of buffer(0): offset 256"},
		{"oob_threadgroup", "array index 64 out of bounds"},
		{"oob_threadgroup_pointer", "out of bounds of threadgroup"},
		{"race_no_barrier", "data race on threadgroup"},
		{"race_wrong_flag", "barrier without mem_threadgroup"},
		{"race_same_simdgroup", "relies on lock-step"},
		{"race_device", "barrier without mem_device"},
		{"race_between_threadgroups", "ANOTHER threadgroup"},
		{"race_war", "data race on threadgroup"},
		{"uninitialised", "uninitialised threadgroup memory"},
		{"div_by_zero", "division by zero"},
		{"mma_with_exited_lanes", "exited lanes"},
		{"too_much_threadgroup_memory", "exceeds 32 KB"},
		{"misaligned", "misaligned"},
		{"private_index", "array index"},
		{"shift_too_far", "shift count"},
		{"wild_pointer", "wild pointer"},
		{"tensor_race", "threadgroup"},
		{"tensor_divergent", "barrier divergence"},
		{"tensor_wrong_scope", "matmul2d for 4 simdgroups run by 2"},
		{"tensor_unguarded", "wild pointer"},
		{"tensor_fine", ""},
		{"fine", ""},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			for _, order := range []Order{Forward, Reverse, Seeded} {
				out := make([]float32, 128)
				if c.want != "" {
					out = out[:64]
				}
				got := l.Run(Dispatch{
					Kernel: c.kernel, Groups: [3]uint32{2, 1, 1}, Group: [3]uint32{64, 1, 1}, Order: order, Seed: 7,
					Buffers: map[int][]byte{0: bytesOf(out)},
				})
				if c.want == "" && len(got) > 0 || c.want != "" && !reported(got, c.want) {
					t.Errorf("order %d: got %v, want a finding with %q", order, got, c.want)
				}
			}
		})
	}
}

func reported(findings []Finding, want string) bool {
	for _, f := range findings {
		if strings.Contains(f.Message, want) {
			return true
		}
	}
	return false
}

func TestWrongDispatchesAreReported(t *testing.T) {
	l := library(t, "bad.metal", Options{Mode: Checked})
	big := make([]byte, 4096)
	one, group := [3]uint32{1, 1, 1}, [3]uint32{64, 1, 1}
	memory := func(n uint32) map[int]uint32 { return map[int]uint32{0: n} }
	for _, c := range []struct {
		what, want string
		d          Dispatch
	}{
		{"too many threads", "outside 1..1024", Dispatch{Kernel: "fine", Groups: one, Group: [3]uint32{1025, 1, 1}, Buffers: map[int][]byte{0: big}}},
		{"wrong index", "is not bound", Dispatch{Kernel: "fine", Groups: one, Group: group, Buffers: map[int][]byte{1: big}}},
		{"index out of range", "outside 0..30", Dispatch{Kernel: "fine", Groups: one, Group: group, Buffers: map[int][]byte{0: big, 31: big}}},
		{"struct too small", "needs 32", Dispatch{Kernel: "layout", Groups: one, Group: group, Memory: memory(256), Buffers: map[int][]byte{0: big, 1: big[:16]}}},
		{"no length", "no length set", Dispatch{Kernel: "layout", Groups: one, Group: group, Buffers: map[int][]byte{0: big, 1: big}}},
		{"length too small", "out of bounds of threadgroup", Dispatch{Kernel: "layout", Groups: one, Group: group, Memory: memory(128), Buffers: map[int][]byte{0: big, 1: big}}},
		{"length unaligned", "multiple of 16", Dispatch{Kernel: "layout", Groups: one, Group: group, Memory: memory(260), Buffers: map[int][]byte{0: big, 1: big}}},
		{"too much memory", "exceeds 32 KB", Dispatch{Kernel: "layout", Groups: one, Group: group, Memory: memory(32784), Buffers: map[int][]byte{0: big, 1: big}}},
		{"misaligned offset", "not aligned", Dispatch{Kernel: "layout", Groups: one, Group: group, Memory: memory(256), Buffers: map[int][]byte{0: big, 1: big[8:]}}},
		{"unknown kernel", "no kernel", Dispatch{Kernel: "nope", Groups: one, Group: group}},
		{"unknown constant", "no function constant", Dispatch{Kernel: "fine", Groups: one, Group: group, Buffers: map[int][]byte{0: big}, Constants: map[int]float64{9: 1}}},
	} {
		if got := l.Run(c.d); !reported(got, c.want) {
			t.Errorf("%s: got %v, want a finding with %q", c.what, got, c.want)
		}
	}
}

func TestWrongSourcesAreRefused(t *testing.T) {
	need(t)
	if testing.Short() {
		t.Skip("the compiler runs three times for each source; not with -short")
	}
	const head = "#include <metal_stdlib>\nusing namespace metal;\n"
	const args = "device float *o [[buffer(0)]], device half *h [[buffer(1)]], constant float *c [[buffer(2)]], " +
		"threadgroup float *s [[threadgroup(0)]], uint t [[thread_position_in_grid]]"
	k := func(body string) string { return head + "kernel void f(" + args + ") { " + body + " }" }
	for _, c := range []struct{ what, src string }{
		{"tensor operations without their header", k("mpp::tensor_ops::matmul2d<1, execution_simdgroups<4>> m;")},
		{"tensor of device memory on threadgroup memory", k("using x = tensor<threadgroup float, extents<int, 16, 16>, tensor_inline>; x y(o, extents<int, 16, 16>());")},
		{"device to threadgroup", k("threadgroup float *p = o; p[0] = 1;")},
		{"device to thread", k("thread float *p = o; p[0] = 1;")},
		{"constant to device", k("device const float *p = c; o[0] = p[0];")},
		{"cast across spaces", k("threadgroup float *p = (threadgroup float *)o; p[0] = 1;")},
		{"write to constant", k("c[0] = 1;")},
		{"wrong element type", k("device float *p = h; p[0] = 1;")},
		{"address of a local as device", k("float x = 0; device float *p = &x; p[0] = 1;")},
		{"helper without address space", head + "inline float g(const float *p) { return p[0]; } kernel void f(device float *o [[buffer(0)]]) { o[0] = g(o); }"},
		{"helper with the wrong one", head + "inline float g(threadgroup const float *p) { return p[0]; } kernel void f(device float *o [[buffer(0)]]) { o[0] = g(o); }"},
		{"double", k("double d = 1; o[0] = d;")},
		{"variable-length array", k("int n = o[0]; float v[n]; v[0] = 1; o[0] = v[0];")},
		{"recursion", head + "inline int g(int n) { return n ? g(n - 1) : 0; } kernel void f(device float *o [[buffer(0)]]) { o[0] = g(o[0]); }"},
		{"mutual recursion", head + "int b(int n); inline int a(int n) { return n ? b(n - 1) : 0; } int b(int n) { return a(n); } kernel void f(device float *o [[buffer(0)]]) { o[0] = a(o[0]); }"},
		{"virtual", head + "struct A { virtual float f() { return 1; } }; kernel void f(device float *o [[buffer(0)]]) { A a; o[0] = a.f(); }"},
		{"goto", k("goto x; x: o[0] = 1;")},
		{"new", k("thread float *p = new float[4]; o[0] = p[0];")},
		{"float to bfloat", k("bfloat b = 1.0f; o[0] = float(b);")},
		{"vector size", k("float4 v = float4(1, 2, 3); o[0] = v.x;")},
		{"vector mix", k("float4 v = float4(1) + float3(1); o[0] = v.x;")},
		{"implicit vector conversion", k("half4 a = half4(1); float4 v = a; o[0] = v.x;")},
		{"swizzle", k("float2 v = float2(1); o[0] = v.z;")},
		{"duplicate buffer index", head + "kernel void f(device float *a [[buffer(0)]], device float *b [[buffer(0)]]) { a[0] = b[0]; }"},
		{"unknown attribute", head + "kernel void f(device float *a [[buffer(0)]], uint t [[thread_id]]) { a[0] = t; }"},
		{"pointer without space in kernel", head + "kernel void f(float *a [[buffer(0)]]) { a[0] = 1; }"},
		{"float shift", k("o[0] = 1.0 << 2;")},
		{"pointer to pointer", head + "kernel void f(device float * device *a [[buffer(0)]]) { a[0][0] = 1; }"},
		{"threadgroup variable in helper", head + "inline float g(uint t) { threadgroup float s[4]; s[t] = 1; return s[0]; } kernel void f(device float *a [[buffer(0)]], uint t [[thread_position_in_grid]]) { a[0] = g(t); }"},
	} {
		problems, err := Strict("x.metal", c.src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) == 0 {
			t.Errorf("%s: accepted, want a problem", c.what)
		}
	}
}

func TestStrictAcceptsGoodSource(t *testing.T) {
	need(t)
	problems, err := Strict("good.metal", source(t, "good.metal"), Options{})
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v, %v, want no problems", problems, err)
	}
}

// TestEveryBarrierIsNeeded removes each barrier of the good kernels in turn: the
// removal must be noticed.
func TestEveryBarrierIsNeeded(t *testing.T) {
	need(t)
	const barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);"
	src := source(t, "good.metal")
	for k := range strings.Count(src, barrier) {
		parts := strings.SplitN(src, barrier, k+2)
		mutant := strings.Join(parts[:k+1], barrier) + parts[k+1]
		l, err := Compile(fmt.Sprintf("mutant%d.metal", k), mutant, Options{Mode: Checked})
		if err != nil {
			t.Fatal(err)
		}
		if !anyFinding(l) {
			t.Errorf("barrier %d removed: not noticed", k+1)
		}
	}
}

// anyFinding runs the three kernels with barriers and reports whether the emulator complains.
func anyFinding(l *Library) bool {
	a, c := make([]uint16, 64*64), make([]float32, 64*64)
	x, y, w := make([]float32, 400), make([]float32, 400), make([]uint16, 200)
	rows := bytesOf([]int32{200})
	for _, d := range []Dispatch{
		{
			Kernel: "gemm_nt", Groups: [3]uint32{1, 1, 1}, Group: [3]uint32{128, 1, 1}, Memory: map[int]uint32{0: 8192},
			Buffers: map[int][]byte{0: bytesOf(a), 1: bytesOf(a), 2: bytesOf(c), 3: bytesOf([]int32{64, 64, 64})},
		},
		{
			Kernel: "rmsnorm_f16", Groups: [3]uint32{2, 1, 1}, Group: [3]uint32{64, 1, 1},
			Buffers: map[int][]byte{0: bytesOf(x), 1: bytesOf(w), 2: bytesOf(a), 3: rows, 4: bytesOf([]float32{1e-6})},
		},
		{
			Kernel: "softmax_rows", Groups: [3]uint32{2, 1, 1}, Group: [3]uint32{64, 1, 1},
			Buffers: map[int][]byte{0: bytesOf(x), 1: bytesOf(y), 2: rows},
		},
	} {
		d.Constants = map[int]float64{0: 0, 1: 0}
		for _, order := range []Order{Forward, Reverse, Seeded} {
			d.Order, d.Seed = order, 5
			if len(l.Run(d)) > 0 {
				return true
			}
		}
	}
	return false
}
