// Products. A task takes some outputs, expands their weights into panels once for every
// k_block inputs and runs all its rows of activations over them, MR rows at a time.
// The finished strip of MR rows goes through the epilogue while it is in L1.

// TILE defines a kernel of mr rows by NR outputs over `steps` lanes. DOT multiplies and
// accumulates a lane of activations, broadcast, with a vector of weights.
#define TILE(name, DOT)                                                                                \
  INLINE void name##_rows(int mr, const uint8_t *a, int64_t stride, const uint32_t *panel, int64_t steps, \
                          float *c, int64_t ldc, int add) {                                            \
    vf acc[MR][NV];                                                                                    \
    UNROLL                                                                                             \
    for (int i = 0; i < mr; i++) {                                                                     \
      UNROLL                                                                                           \
      for (int v = 0; v < NV; v++) acc[i][v] = add ? vload(c + i * ldc + v * VW) : (vf){0};            \
    }                                                                                                  \
    for (int64_t s = 0; s < steps; s++, panel += NR) {                                                 \
      vu b[NV];                                                                                        \
      UNROLL                                                                                           \
      for (int v = 0; v < NV; v++) b[v] = vloadu(panel + v * VW);                                      \
      UNROLL                                                                                           \
      for (int i = 0; i < mr; i++) {                                                                   \
        uint32_t x;                                                                                    \
        memcpy(&x, a + i * stride + s * 4, 4);                                                         \
        vu y = x + (vu){0};                                                                            \
        UNROLL                                                                                         \
        for (int v = 0; v < NV; v++) acc[i][v] = DOT(acc[i][v], y, b[v]);                              \
      }                                                                                                \
    }                                                                                                  \
    UNROLL                                                                                             \
    for (int i = 0; i < mr; i++) {                                                                     \
      UNROLL                                                                                           \
      for (int v = 0; v < NV; v++) vstore(c + i * ldc + v * VW, acc[i][v]);                            \
    }                                                                                                  \
  }

// ROWS defines the function that runs such a kernel over any number of rows.
#define ROWS(name)                                                                                                        \
  static void name(int mr, const uint8_t *a, int64_t stride, const uint32_t *panel, int64_t steps, float *c, int64_t ldc, \
                   int add) {                                                                                             \
    for (; mr >= MR; mr -= MR, a += MR * stride, c += MR * ldc) name##_rows(MR, a, stride, panel, steps, c, ldc, add);     \
    for (; MR > 4 && mr >= 4; mr -= 4, a += 4 * stride, c += 4 * ldc)                                                     \
      name##_rows(MR > 4 ? 4 : MR, a, stride, panel, steps, c, ldc, add);                                                 \
    for (; mr > 0; mr--, a += stride, c += ldc) name##_rows(1, a, stride, panel, steps, c, ldc, add);                     \
  }

#define DOT_F32(acc, x, w) ((vf)(x) * (vf)(w) + (acc))
TILE(tile_f32, DOT_F32)
ROWS(tile_f32)
#if defined(TILE_BF16)
#include TILE_BF16
ROWS(tile_bf16)
#elif defined(DOT_BF16)
TILE(tile_bf16, DOT_BF16)
ROWS(tile_bf16)
#else
#define tile_bf16 tile_f32
#endif

// tile_int8_rows multiplies bytes within a group and scales the integer sums: weight = scale*code+bias,
// activation = x_scale*byte, x_sum = x_scale*sum of bytes.
INLINE void tile_int8_rows(int mr, const uint8_t *a, int64_t stride, const float *x_scale, const float *x_sum, int64_t x_groups,
                           const uint32_t *panel, const float *scales, const float *biases, int64_t groups, int64_t steps,
                           float *c, int64_t ldc, int add) {
  vf acc[MR8][NV];
  UNROLL
  for (int i = 0; i < mr; i++) {
    UNROLL
    for (int v = 0; v < NV; v++) acc[i][v] = add ? vload(c + i * ldc + v * VW) : (vf){0};
  }
  for (int64_t g = 0; g < groups; g++, a += steps * 4, scales += NR, biases += NR) {
    vi q[MR8][NV];
    UNROLL
    for (int i = 0; i < mr; i++) {
      UNROLL
      for (int v = 0; v < NV; v++) q[i][v] = (vi){0};
    }
    for (int64_t s = 0; s < steps; s++, panel += NR) {
      vu b[NV];
      UNROLL
      for (int v = 0; v < NV; v++) b[v] = vloadu(panel + v * VW);
      UNROLL
      for (int i = 0; i < mr; i++) {
        uint32_t x;
        memcpy(&x, a + i * stride + s * 4, 4);
        vu y = x + (vu){0};
        UNROLL
        for (int v = 0; v < NV; v++) q[i][v] = DOT_INT8(q[i][v], y, b[v]);
      }
    }
    UNROLL
    for (int i = 0; i < mr; i++) {
      float xs = x_scale[i * x_groups + g], xt = x_sum[i * x_groups + g];
      UNROLL
      for (int v = 0; v < NV; v++) {
        vf f = __builtin_convertvector(q[i][v], vf) * xs;
        acc[i][v] = f * vload(scales + v * VW) + (xt * vload(biases + v * VW) + acc[i][v]);
      }
    }
  }
  UNROLL
  for (int i = 0; i < mr; i++) {
    UNROLL
    for (int v = 0; v < NV; v++) vstore(c + i * ldc + v * VW, acc[i][v]);
  }
}

static void tile_int8(int mr, const uint8_t *a, int64_t stride, const float *xs, const float *xt, int64_t x_groups, const uint32_t *panel,
                      const float *scales, const float *biases, int64_t groups, int64_t steps, float *c, int64_t ldc, int add) {
  for (; mr >= MR8; mr -= MR8, a += MR8 * stride, xs += MR8 * x_groups, xt += MR8 * x_groups, c += MR8 * ldc)
    tile_int8_rows(MR8, a, stride, xs, xt, x_groups, panel, scales, biases, groups, steps, c, ldc, add);
  for (; mr > 0; mr--, a += stride, xs += x_groups, xt += x_groups, c += ldc)
    tile_int8_rows(1, a, stride, xs, xt, x_groups, panel, scales, biases, groups, steps, c, ldc, add);
}

INLINE int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// A panel in the scratch memory of a task.
typedef struct {
  uint32_t *lanes;
  float *scales, *biases; // int8 only
} panel;

INLINE int per_lane(const clef_gemm *g) { return g->form == CLEF_FORM_INT8 ? 4 : g->form == CLEF_FORM_BF16 ? 2 : 1; }

// panel_bytes is the room of one panel of len inputs.
INLINE int64_t panel_bytes(const clef_gemm *g, const clef_weight *w, int64_t len) {
  int64_t bytes = round_up((len + per_lane(g) - 1) / per_lane(g), VW) * NR * 4;
  if (g->form == CLEF_FORM_INT8) bytes += len / w->group * NR * 8;
  return bytes;
}

static panel panel_at(const clef_gemm *g, const clef_weight *w, uint8_t *base, int64_t len, int64_t i) {
  panel p = {0};
  base += i * panel_bytes(g, w, len);
  p.lanes = (uint32_t *)(void *)base;
  if (g->form == CLEF_FORM_INT8) {
    p.scales = (float *)(void *)(base + round_up((len + 3) / 4, VW) * NR * 4);
    p.biases = p.scales + len / w->group * NR;
  }
  return p;
}

static void round_panel(uint32_t *p, int64_t n) {
  for (int64_t i = 0; i < n; i += VW) vstore((float *)(void *)(p + i), (vf)bf16_high((vf)vloadu(p + i)));
}

static void fill_panels(const clef_gemm *g, const clef_weight *w, int64_t n0, int64_t n1, int64_t k0, int64_t k1, uint8_t *base) {
  for (int64_t n = n0; n < n1; n += NR) {
    panel p = panel_at(g, w, base, k1 - k0, (n - n0) / NR);
    for (int v = 0; v < NV; v++) {
      if (g->form == CLEF_FORM_INT8)
        expand_int8(w, n + v * VW, k0, k1, p.lanes + v * VW, p.scales + v * VW, p.biases + v * VW);
      else
        expander_of(g->form, w->type)(w, n + v * VW, k0, k1, p.lanes + v * VW);
    }
    if (g->rounded && w->type != CLEF_BF16) round_panel(p.lanes, round_up(k1 - k0, VW) * NR);
  }
}

INLINE vf activate(vf x, int act) {
  return act == CLEF_GELU ? vgelu(x) : act == CLEF_GELU_TANH ? vgelu_tanh(x) : x;
}

// finish sends mr rows of a strip to columns [n0, n1) of dst.
static void finish(const clef_gemm *g, int mr, int64_t m, int64_t n0, int64_t n1, const float *c, const float *up, int64_t ldc) {
  for (int i = 0; i < mr; i++, c += ldc, up += ldc) {
    float *d = g->dst + (m + i) * g->dst_stride + n0;
    uint8_t *half = g->half + (m + i) * g->half_stride + n0 * 2;
    for (int64_t n = 0; n < n1 - n0; n += VW) {
      vf x = vload(c + n);
      if (g->bias) x += vload(g->bias + n0 + n);
      if (g->mode == CLEF_SWIGLU) x = vsilu(x) * vload(up + n);
      else if (g->act != CLEF_NONE) x = activate(x, g->act);
      if (g->mode == CLEF_ADD) x += vload(d + n);
      if (g->half) {
        vh h = to_bf16(x);
        memcpy(half + n * 2, &h, sizeof h);
      } else {
        vstore(d + n, x);
      }
    }
  }
}

// expect asks for the part of dst that the tile at output n will end in, so that it arrives while
// the tile is computed. For a whole strip at once there would be too many misses at a time.
INLINE void expect(const clef_gemm *g, int mr, int64_t m, int64_t n) {
  const int64_t size = g->half ? 2 : 4, stride = g->half ? g->half_stride : g->dst_stride * 4;
  const uint8_t *d = (g->half ? g->half : (const uint8_t *)g->dst) + m * stride + n * size;
  for (int i = 0; i < mr; i++, d += stride)
    for (int64_t b = 0; b < NR * size; b += 64) __builtin_prefetch(d + b);
}

// run_strip multiplies mr rows from m with the panels of one weight, outputs from n0.
static void run_strip(const clef_gemm *g, const clef_weight *w, int mr, int64_t m, int64_t n0, int64_t count, int64_t k0, int64_t k1,
                      uint8_t *base, float *c, int64_t ldc) {
  const uint8_t *a = g->a + m * g->a_stride + k0 * 4 / per_lane(g);
  int64_t steps = (k1 - k0 + per_lane(g) - 1) / per_lane(g);
  for (int64_t i = 0; i < count; i++) {
    panel p = panel_at(g, w, base, k1 - k0, i);
    if (k1 == w->cols) expect(g, mr, m, n0 + i * NR);
    if (g->form == CLEF_FORM_INT8) {
      int64_t at = m * g->a_groups + k0 / w->group;
      tile_int8(mr, a, g->a_stride, g->a_scale + at, g->a_sum + at, g->a_groups, p.lanes, p.scales, p.biases, (k1 - k0) / w->group,
                w->group / 4, c + i * NR, ldc, k0 > 0);
    } else if (g->form == CLEF_FORM_BF16) {
      tile_bf16(mr, a, g->a_stride, p.lanes, steps, c + i * NR, ldc, k0 > 0);
    } else {
      tile_f32(mr, a, g->a_stride, p.lanes, steps, c + i * NR, ldc, k0 > 0);
    }
  }
}

// path_gemm computes rows [m0, m1) of outputs [n0, n1). n0 is a multiple of NR. scratch holds
// the panels of k_block inputs and the strips; see scratch in gemm.go.
static void path_gemm(const clef_gemm *g, int64_t m0, int64_t m1, int64_t n0, int64_t n1, uint8_t *scratch) {
  const int64_t k = g->w.cols, block = k < g->k_block ? k : g->k_block;
  const int64_t count = (n1 - n0 + NR - 1) / NR, ldc = count * NR, rows = block < k ? m1 - m0 : MR;
  const int two = g->mode == CLEF_SWIGLU;
  uint8_t *up_panels = scratch + count * panel_bytes(g, &g->w, block);
  float *c = (float *)(void *)(two ? up_panels + count * panel_bytes(g, &g->up, block) : up_panels);
  float *up = two ? c + rows * ldc : c;
  for (int64_t k0 = 0; k0 < k; k0 += block) {
    int64_t k1 = k0 + block < k ? k0 + block : k;
    fill_panels(g, &g->w, n0, n1, k0, k1, scratch);
    if (two) fill_panels(g, &g->up, n0, n1, k0, k1, up_panels);
    for (int64_t m = m0; m < m1; m += MR) {
      int mr = m1 - m < MR ? (int)(m1 - m) : MR;
      int64_t at = block < k ? (m - m0) * ldc : 0;
      run_strip(g, &g->w, mr, m, n0, count, k0, k1, scratch, c + at, ldc);
      if (two) run_strip(g, &g->up, mr, m, n0, count, k0, k1, up_panels, up + at, ldc);
      if (k1 == k) finish(g, mr, m, n0, n1, c + at, up + at, ldc);
    }
  }
}
