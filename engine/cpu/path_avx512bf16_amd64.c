// AVX-512 with VNNI and BF16: dot products of bytes and of bfloat16 pairs.
#include "kernels.h"
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma")
#endif

#define PATH clef_avx512bf16
#define VW 16
#define NV 2
#define MR 12
#define MR8 6
#define DV 2
#define HAS_INT8 1
#define CODE_OFFSET 0
#define DOT_INT8(acc, x, w) ((vi)_mm512_dpbusd_epi32((__m512i)(acc), (__m512i)(w), (__m512i)(x)))
#define DOT_BF16(acc, x, w) ((vf)_mm512_dpbf16_ps((__m512)(acc), (__m512bh)(x), (__m512bh)(w)))
#define ROUND_BF16(x) ((vh)_mm512_cvtneps_pbh((__m512)(x)))
#define ROUND_BF16_TWO(a, b) ((vu)_mm512_cvtne2ps_pbh((__m512)(b), (__m512)(a)))

#include "path.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
