// AVX-512 with VNNI: dot products of bytes.
#include "kernels.h"
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")
#endif

#define PATH clef_avx512vnni
#define VW 16
#define NV 2
#define MR 12
#define MR8 6
#define DV 2
#define HAS_INT8 1
#define CODE_OFFSET 0
#define DOT_INT8(acc, x, w) ((vi)_mm512_dpbusd_epi32((__m512i)(acc), (__m512i)(w), (__m512i)(x)))

#include "path.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
