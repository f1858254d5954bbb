//go:build cgo && unix && (amd64 || arm64)

package cpu

/*
#cgo CFLAGS: -O3 -Wall -Wextra
#cgo LDFLAGS: -lm
#include "kernels.h"

static inline void call_gemm(const clef_path *p, const clef_gemm *g, int64_t m0, int64_t m1, int64_t n0, int64_t n1, uint8_t *s) { p->gemm(g, m0, m1, n0, n1, s); }
static inline void call_to_bf16(const clef_path *p, clef_mat x, uint8_t *d, int64_t stride, int64_t from, int64_t to) { p->to_bf16(x, d, stride, from, to); }
static inline void call_to_rounded(const clef_path *p, clef_mat x, uint8_t *d, int64_t stride, int64_t from, int64_t to) { p->to_rounded(x, d, stride, from, to); }
static inline void call_to_int8(const clef_path *p, clef_mat x, uint8_t *d, int64_t stride, float *scale, float *sum, int64_t group, int64_t from, int64_t to) { p->to_int8(x, d, stride, scale, sum, group, from, to); }
static inline void call_add(const clef_path *p, clef_mat d, clef_mat x, int64_t from, int64_t to) { p->add(d, x, from, to); }
static inline void call_rms_norm(const clef_path *p, clef_mat d, clef_mat x, const float *w, float eps, int64_t from, int64_t to) { p->rms_norm(d, x, w, eps, from, to); }
static inline void call_layer_norm(const clef_path *p, clef_mat d, clef_mat x, const float *w, const float *b, float eps, int64_t from, int64_t to) { p->layer_norm(d, x, w, b, eps, from, to); }
static inline void call_conv(const clef_path *p, clef_mat d, clef_mat x, clef_mat taps, clef_mat past, int64_t from, int64_t to) { p->conv(d, x, taps, past, from, to); }
static inline void call_gates(const clef_path *p, clef_mat g, clef_mat beta, clef_mat a, clef_mat b, const float *a_log, const float *dt, int64_t from, int64_t to) { p->gates(g, beta, a, b, a_log, dt, from, to); }
static inline void call_norm_gate(const clef_path *p, clef_mat d, clef_mat o, clef_mat z, const float *w, int64_t dim, float eps, int64_t from, int64_t to) { p->norm_gate(d, o, z, w, dim, eps, from, to); }
static inline void call_prep(const clef_path *p, const clef_prep *a, int64_t from, int64_t to) { p->prep(a, from, to); }
static inline void call_delta(const clef_path *p, const clef_delta *d, int64_t head, float *s) { p->delta(d, head, s); }
static inline void call_attend(const clef_path *p, const clef_attend *a, int64_t head, int64_t from, int64_t to, uint8_t *s) { p->attend(a, head, from, to, s); }
static inline void call_absorb(const clef_path *p, clef_mat d, clef_mat q, clef_weight w, int64_t head, int64_t dim, uint8_t *s) { p->absorb(d, q, &w, head, dim, s); }
static inline void call_math(const clef_path *p, int32_t which, float *d, const float *x, int64_t n) { p->math(which, d, x, n); }
static inline double call_peak(const clef_path *p, int32_t form, int64_t loops) { return p->peak(form, loops); }
*/
import "C"

import "unsafe"

// cPath calls the kernels of one instruction set.
type cPath struct {
	c     *C.clef_path
	label string
}

func (p cPath) name() string { return p.label }

func (p cPath) shape() shape {
	return shape{
		mr: int(p.c.mr), nr: int(p.c.nr), vw: int(p.c.vw), taskRows: taskRows,
		dotBF16: p.c.dot_bf16 != 0, dotInt8: p.c.dot_int8 != 0,
	}
}

func floats(s []float32) *C.float { return (*C.float)(unsafe.SliceData(s)) }
func bytesOf(s []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(s)) }
func num(n int) C.int64_t         { return C.int64_t(n) }

func cMat(m mat) C.clef_mat {
	return C.clef_mat{data: floats(m.data), rows: num(m.rows), cols: num(m.cols), stride: num(m.stride)}
}

func cWeight(w *weight) C.clef_weight {
	return C.clef_weight{
		data: bytesOf(w.data), scales: bytesOf(w.scales), biases: bytesOf(w.biases),
		rows: num(w.rows), cols: num(w.cols), row_bytes: num(w.rowBytes), group_row_bytes: num(w.groupBytes),
		_type: C.int32_t(w.dtype), group_type: C.int32_t(w.groupType), bits: C.int32_t(w.bits), group: C.int32_t(w.group),
	}
}

func (p cPath) gemm(g *gemm, m0, m1, n0, n1 int, scratch []byte) {
	a := g.a
	j := C.clef_gemm{
		w: cWeight(g.w), a: bytesOf(a.data), a_stride: num(a.stride), a_scale: floats(a.scale), a_sum: floats(a.sum), a_groups: num(a.groups),
		dst: floats(g.dst.data), dst_stride: num(g.dst.stride), bias: floats(g.bias), k_block: num(g.kBlock),
		form: C.int32_t(a.form), mode: C.int32_t(g.mode), act: C.int32_t(g.act),
	}
	if a.rounded {
		j.rounded = 1
	}
	if g.half != nil {
		j.half, j.half_stride = bytesOf(g.half.data), num(g.half.stride)
	}
	if g.up != nil {
		j.up = cWeight(g.up)
	}
	C.call_gemm(p.c, &j, num(m0), num(m1), num(n0), num(n1), bytesOf(scratch))
}

func (p cPath) toBF16(x mat, dst []byte, stride, from, to int) {
	C.call_to_bf16(p.c, cMat(x), bytesOf(dst), num(stride), num(from), num(to))
}

func (p cPath) toRounded(x mat, dst []byte, stride, from, to int) {
	C.call_to_rounded(p.c, cMat(x), bytesOf(dst), num(stride), num(from), num(to))
}

func (p cPath) toInt8(x mat, a *prepared, from, to int) {
	C.call_to_int8(p.c, cMat(x), bytesOf(a.data), num(a.stride), floats(a.scale), floats(a.sum), num(a.group), num(from), num(to))
}

func (p cPath) add(dst, x mat, from, to int) { C.call_add(p.c, cMat(dst), cMat(x), num(from), num(to)) }

func (p cPath) rmsNorm(dst, x mat, w []float32, eps float32, from, to int) {
	C.call_rms_norm(p.c, cMat(dst), cMat(x), floats(w), C.float(eps), num(from), num(to))
}

func (p cPath) layerNorm(dst, x mat, w, b []float32, eps float32, from, to int) {
	C.call_layer_norm(p.c, cMat(dst), cMat(x), floats(w), floats(b), C.float(eps), num(from), num(to))
}

func (p cPath) conv(dst, x, taps, history mat, from, to int) {
	C.call_conv(p.c, cMat(dst), cMat(x), cMat(taps), cMat(history), num(from), num(to))
}

func (p cPath) gates(g, beta, a, b mat, aLog, dt []float32, from, to int) {
	C.call_gates(p.c, cMat(g), cMat(beta), cMat(a), cMat(b), floats(aLog), floats(dt), num(from), num(to))
}

func (p cPath) normGate(dst, o, z mat, w []float32, eps float32, from, to int) {
	C.call_norm_gate(p.c, cMat(dst), cMat(o), cMat(z), floats(w), num(len(w)), C.float(eps), num(from), num(to))
}

func (p cPath) prep(a *prep, from, to int) {
	j := C.clef_prep{
		q: cMat(a.q), gate: cMat(a.gate), k: cMat(a.k), qg: cMat(a.qg), k_raw: cMat(a.kRaw), cos: cMat(a.cos), sin: cMat(a.sin),
		q_norm: floats(a.qNorm), k_norm: floats(a.kNorm), heads: num(a.heads), kv_heads: num(a.kvHeads), dim: num(a.dim), rotary: num(a.rotary), eps: C.float(a.eps),
	}
	C.call_prep(p.c, &j, num(from), num(to))
}

func (p cPath) delta(d *delta, head int, scratch []byte) {
	j := C.clef_delta{
		dst: cMat(d.dst), qkv: cMat(d.qkv), g: cMat(d.g), beta: cMat(d.beta), state: floats(d.state),
		key_heads: num(d.keyHeads), value_heads: num(d.valueHeads), key_dim: num(d.keyDim), value_dim: num(d.valueDim), eps: C.float(d.eps),
	}
	C.call_delta(p.c, &j, num(head), (*C.float)(unsafe.Pointer(unsafe.SliceData(scratch))))
}

func (p cPath) attend(a *attend, kvHead, from, to int, scratch []byte) {
	j := C.clef_attend{
		dst: cMat(a.dst), q: cMat(a.q), gate: cMat(a.gate), k: cMat(a.k), v: cMat(a.v), spans: (*C.int64_t)(unsafe.SliceData(a.spans)),
		past: num(a.past), heads: num(a.heads), kv_heads: num(a.kvHeads), dim: num(a.dim), scale: C.float(a.scale), form: C.int32_t(a.form),
	}
	C.call_attend(p.c, &j, num(kvHead), num(from), num(to), bytesOf(scratch))
}

func (p cPath) absorb(dst, q mat, k *weight, head, dim int, scratch []byte) {
	C.call_absorb(p.c, cMat(dst), cMat(q), cWeight(k), num(head), num(dim), bytesOf(scratch))
}

func (p cPath) math(which int, dst, x []float32) {
	C.call_math(p.c, C.int32_t(which), floats(dst), floats(x), num(len(x)))
}

func (p cPath) peak(f form, loops int) float64 {
	return float64(C.call_peak(p.c, C.int32_t(f), num(loops)))
}
