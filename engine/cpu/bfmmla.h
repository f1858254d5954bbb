// The bfloat16 tile for BFMMLA, which multiplies 2 rows by 2 outputs over 4 inputs.
//
// A panel keeps pairs of inputs, output by output, as the other paths have it; zipping two of
// its steps gives the instruction its 2 outputs by 4 inputs. Steps come in twos: activations and
// panels are padded with zeros that far.

// pair_rows takes four inputs of rows i and i+1, or of row i twice at the end.
INLINE bfloat16x8_t pair_rows(const uint8_t *a, int64_t stride, int two) {
  uint64_t x, y;
  memcpy(&x, a, 8);
  memcpy(&y, two ? a + stride : a, 8);
  return vreinterpretq_bf16_u64(vcombine_u64(vcreate_u64(x), vcreate_u64(y)));
}

INLINE void tile_bf16_rows(int mr, const uint8_t *a, int64_t stride, const uint32_t *panel, int64_t steps, float *c, int64_t ldc, int add) {
  float32x4_t acc[(MR + 1) / 2][2 * NV]; // [row pair][output pair]: 2 x 2 blocks
  const int pairs = (mr + 1) / 2;
  UNROLL
  for (int i = 0; i < pairs; i++) {
    UNROLL
    for (int v = 0; v < 2 * NV; v++) {
      const float *p = c + 2 * i * ldc + 2 * v;
      float32x2_t top = vld1_f32(p), low = 2 * i + 1 < mr ? vld1_f32(p + ldc) : top;
      acc[i][v] = add ? vcombine_f32(top, low) : vdupq_n_f32(0);
    }
  }
  for (int64_t s = 0; s < steps; s += 2, panel += 2 * NR) {
    bfloat16x8_t x[(MR + 1) / 2];
    UNROLL
    for (int i = 0; i < pairs; i++) x[i] = pair_rows(a + 2 * i * stride + s * 4, stride, 2 * i + 1 < mr);
    UNROLL
    for (int v = 0; v < NV; v++) {
      uint32x4_t b0 = vld1q_u32(panel + v * VW), b1 = vld1q_u32(panel + NR + v * VW);
      bfloat16x8_t left = vreinterpretq_bf16_u32(vzip1q_u32(b0, b1)), right = vreinterpretq_bf16_u32(vzip2q_u32(b0, b1));
      UNROLL
      for (int i = 0; i < pairs; i++) {
        acc[i][2 * v] = vbfmmlaq_f32(acc[i][2 * v], x[i], left);
        acc[i][2 * v + 1] = vbfmmlaq_f32(acc[i][2 * v + 1], x[i], right);
      }
    }
  }
  UNROLL
  for (int i = 0; i < pairs; i++) {
    UNROLL
    for (int v = 0; v < 2 * NV; v++) {
      float *p = c + 2 * i * ldc + 2 * v;
      vst1_f32(p, vget_low_f32(acc[i][v]));
      if (2 * i + 1 < mr) vst1_f32(p + ldc, vget_high_f32(acc[i][v]));
    }
  }
}

#define PEAK_BF16(acc, x, w) ((vf)vbfmmlaq_f32((float32x4_t)(acc), vreinterpretq_bf16_u32((uint32x4_t)(x)), vreinterpretq_bf16_u32((uint32x4_t)(w))))
#define PEAK_PAIR 4
