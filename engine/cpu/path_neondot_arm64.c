// NEON with dot products of bytes (SDOT).
#include "kernels.h"
#include <arm_neon.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif
#define PATH clef_neondot
#define VW 4
#define NV 4
#define MR 6
#define MR8 3
#define DV 2
#define HAS_INT8 1

// The products are signed; 8-bit codes are shifted into their range.
#define CODE_OFFSET 128
#define DOT_INT8(acc, x, w) ((vi)vdotq_s32((int32x4_t)(acc), (int8x16_t)(w), (int8x16_t)(x)))

#include "path.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
