// NEON as every 64-bit ARM processor has it.
#include "kernels.h"
#include <arm_neon.h>

#define PATH clef_neon
#define VW 4
#define NV 4
#define MR 6
#define MR8 3
#define DV 2

// Sums of four products of signed bytes; 8-bit codes are shifted into their range.
#define CODE_OFFSET 128
#define DOT_INT8(acc, x, w) ((vi)dot_bytes((int32x4_t)(acc), (int8x16_t)(x), (int8x16_t)(w)))
static inline __attribute__((always_inline)) int32x4_t dot_bytes(int32x4_t acc, int8x16_t x, int8x16_t w) {
  int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(w)));
  int32x4_t high = vpaddlq_s16(vmull_high_s8(x, w));
  return vaddq_s32(acc, vpaddq_s32(low, high));
}

#include "path.h"
