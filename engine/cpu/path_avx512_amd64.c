// AVX-512 F, BW, DQ and VL.
#include "kernels.h"
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma")
#endif

#define PATH clef_avx512
#define VW 16
#define NV 2
#define MR 12
#define MR8 6
#define DV 2

// Exact sums of four products of an unsigned and a signed byte: even and odd bytes are
// widened to 16 bits first.
#define CODE_OFFSET 0
#define DOT_INT8(acc, x, w) ((vi)dot_bytes((__m512i)(acc), (__m512i)(x), (__m512i)(w)))
static inline __attribute__((always_inline)) __m512i dot_bytes(__m512i acc, __m512i x, __m512i w) {
  __m512i even = _mm512_madd_epi16(_mm512_srai_epi16(_mm512_slli_epi16(x, 8), 8), _mm512_and_si512(w, _mm512_set1_epi16(255)));
  __m512i odd = _mm512_madd_epi16(_mm512_srai_epi16(x, 8), _mm512_srli_epi16(w, 8));
  return _mm512_add_epi32(acc, _mm512_add_epi32(even, odd));
}

#include "path.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
