// The kernels behind package cpu. Every kernel is written once (vec.h, expand.h,
// gemm.h, rows.h, delta.h, attend.h) with vector extensions that gcc and clang
// share, and compiled once per instruction set (path_*.c); Go picks a path at run
// time. Nothing here allocates, keeps state or starts threads.
#ifndef CLEF_KERNELS_H
#define CLEF_KERNELS_H

#include <stdint.h>

// Element types of stored weights; the first three equal models.DType.
enum { CLEF_F32 = 1, CLEF_BF16 = 2, CLEF_F16 = 3, CLEF_CODES = 4 };

// Forms in which a product is computed.
enum { CLEF_FORM_F32, CLEF_FORM_BF16, CLEF_FORM_INT8 };

// What happens to a finished tile.
enum { CLEF_STORE, CLEF_ADD, CLEF_SWIGLU };

// Activations fused into CLEF_STORE and CLEF_ADD.
enum { CLEF_NONE, CLEF_GELU, CLEF_GELU_TANH };

// A row-major float32 matrix. stride counts floats; rows start at 64-byte
// addresses and may be written up to the next multiple of 16 columns.
typedef struct {
  float *data;
  int64_t rows, cols, stride;
} clef_mat;

// A stored weight (rows = outputs). data, scales and biases may start at any
// address. CLEF_CODES: affine codes of `bits` bits, a scale and a bias of type
// group_type for every `group` columns.
typedef struct {
  const uint8_t *data, *scales, *biases;
  int64_t rows, cols, row_bytes, group_row_bytes;
  int32_t type, group_type, bits, group;
} clef_weight;

// One product: dst = epilogue(a * transpose(w)). a holds rows of `form`:
// float32, bfloat16 pairs or int8 with a scale and a sum per row and group.
typedef struct {
  clef_weight w, up;
  const uint8_t *a;
  int64_t a_stride; // bytes
  const float *a_scale, *a_sum;
  int64_t a_groups; // floats per row in a_scale and a_sum
  float *dst;
  int64_t dst_stride;
  uint8_t *half; // null, or takes the result of CLEF_SWIGLU instead of dst, as bfloat16
  int64_t half_stride; // bytes
  const float *bias; // null, or padded to 16 floats
  int64_t k_block;   // columns expanded at a time
  int32_t form, mode, act, rounded;
} clef_gemm;

// Softmax attention over blocks of keys. Query row i of a head sees keys
// [lo, hi): both come from `spans` (two int64 a row) or, without it, are
// 0 and past+i+1.
typedef struct {
  clef_mat dst, q, gate, k, v; // gate.data may be null
  const int64_t *spans;
  int64_t past, heads, kv_heads, dim;
  float scale;
  int32_t form;
} clef_attend;

// The gated delta rule of one layer.
typedef struct {
  clef_mat dst, qkv, g, beta;
  float *state; // (value_heads, key_dim, value_dim), read and updated
  int64_t key_heads, value_heads, key_dim, value_dim;
  float eps;
} clef_delta;

// The split, norm and rotation in front of attention.
typedef struct {
  clef_mat q, gate, k, qg, k_raw, cos, sin;
  const float *q_norm, *k_norm;
  int64_t heads, kv_heads, dim, rotary;
  float eps;
} clef_prep;

// One instruction set. Row kernels work on rows [from, to).
typedef struct {
  int32_t mr, nr, vw;     // tile rows and columns, floats in a vector
  int32_t dot_bf16;       // products of bfloat16 pairs in hardware
  int32_t dot_int8;       // products of bytes in hardware
  void (*gemm)(const clef_gemm *, int64_t m0, int64_t m1, int64_t n0, int64_t n1, uint8_t *scratch);
  void (*to_bf16)(clef_mat x, uint8_t *dst, int64_t stride, int64_t from, int64_t to);
  void (*to_rounded)(clef_mat x, uint8_t *dst, int64_t stride, int64_t from, int64_t to);
  void (*to_int8)(clef_mat x, uint8_t *dst, int64_t stride, float *scale, float *sum, int64_t group, int64_t from, int64_t to);
  void (*add)(clef_mat dst, clef_mat x, int64_t from, int64_t to);
  void (*rms_norm)(clef_mat dst, clef_mat x, const float *w, float eps, int64_t from, int64_t to);
  void (*layer_norm)(clef_mat dst, clef_mat x, const float *w, const float *b, float eps, int64_t from, int64_t to);
  void (*conv)(clef_mat dst, clef_mat x, clef_mat taps, clef_mat history, int64_t from, int64_t to);
  void (*gates)(clef_mat g, clef_mat beta, clef_mat a, clef_mat b, const float *a_log, const float *dt, int64_t from, int64_t to);
  void (*norm_gate)(clef_mat dst, clef_mat o, clef_mat z, const float *w, int64_t dim, float eps, int64_t from, int64_t to);
  void (*prep)(const clef_prep *, int64_t from, int64_t to);
  void (*delta)(const clef_delta *, int64_t head, float *scratch);
  void (*attend)(const clef_attend *, int64_t kv_head, int64_t from, int64_t to, uint8_t *scratch);
  void (*absorb)(clef_mat dst, clef_mat q, const clef_weight *w, int64_t head, int64_t dim, uint8_t *scratch);
  void (*math)(int32_t which, float *dst, const float *x, int64_t n);
  double (*peak)(int32_t form, int64_t loops); // operations done; the caller times it
} clef_path;

#if defined(__x86_64__)
extern const clef_path clef_avx2, clef_avx512, clef_avx512vnni, clef_avx512bf16;
#elif defined(__aarch64__)
extern const clef_path clef_neon, clef_neondot, clef_neonbf16;
#endif

#endif
