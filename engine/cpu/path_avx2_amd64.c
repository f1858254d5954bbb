// AVX2 with FMA.
#include "kernels.h"
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define PATH clef_avx2
#define VW 8
#define NV 2
#define MR 6
#define MR8 2
#define DV 1

// Exact sums of four products of an unsigned and a signed byte: even and odd bytes are
// widened to 16 bits first.
#define CODE_OFFSET 0
#define DOT_INT8(acc, x, w) ((vi)dot_bytes((__m256i)(acc), (__m256i)(x), (__m256i)(w)))
static inline __attribute__((always_inline)) __m256i dot_bytes(__m256i acc, __m256i x, __m256i w) {
  __m256i even = _mm256_madd_epi16(_mm256_srai_epi16(_mm256_slli_epi16(x, 8), 8), _mm256_and_si256(w, _mm256_set1_epi16(255)));
  __m256i odd = _mm256_madd_epi16(_mm256_srai_epi16(x, 8), _mm256_srli_epi16(w, 8));
  return _mm256_add_epi32(acc, _mm256_add_epi32(even, odd));
}

#include "path.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
