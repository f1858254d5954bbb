// Kernels over rows: conversions, norms, convolution, gates.

INLINE float *row_of(clef_mat m, int64_t i) { return m.data + i * m.stride; }

// to_bf16 rounds rows to bfloat16. A row's bytes are padded with zeros to a whole lane.
static void path_to_bf16(clef_mat x, uint8_t *dst, int64_t stride, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    const float *p = row_of(x, i);
    uint8_t *d = dst + i * stride;
    int64_t c = 0;
    for (; c + VW <= x.cols; c += VW) {
      vh h = to_bf16(vload(p + c));
      memcpy(d + c * 2, &h, sizeof h);
    }
    if (c < x.cols) {
      float tail[VW] = {0};
      memcpy(tail, p + c, (size_t)(x.cols - c) * 4);
      vh h = to_bf16(vload(tail));
      memcpy(d + c * 2, &h, sizeof h);
    }
  }
}

// to_rounded rounds rows to bfloat16 precision but keeps float32 lanes.
static void path_to_rounded(clef_mat x, uint8_t *dst, int64_t stride, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++)
    for (int64_t c = 0; c < x.cols; c += VW) vstore((float *)(void *)(dst + i * stride) + c, (vf)bf16_high(vload(row_of(x, i) + c)));
}

// to_int8 quantises groups of columns symmetrically: byte = round(x/scale), scale =
// max|x|/127, sum = scale * sum of bytes. The columns are a multiple of group.
static void path_to_int8(clef_mat x, uint8_t *dst, int64_t stride, float *scale, float *sum, int64_t group, int64_t from, int64_t to) {
  const int64_t groups = x.cols / group;
  for (int64_t i = from; i < to; i++)
    for (int64_t g = 0; g < groups; g++) {
      const float *p = row_of(x, i) + g * group;
      uint8_t *d = dst + i * stride + g * group;
      vf top = (vf){0};
      for (int64_t c = 0; c < group; c += VW) top = vmax(top, vabs(vload(p + c)));
      float m = vtop(top), inv = m > 0 ? 127.0f / m : 0;
      vi total = (vi){0};
      for (int64_t c = 0; c < group; c += VW) {
        vi n = (vi)(vload(p + c) * inv + 12582912.0f) - 0x4b400000;
        total += n;
        vb b = narrow((vu)n);
        memcpy(d + c, &b, sizeof b);
      }
      float s = m / 127.0f;
      scale[i * groups + g] = s;
      sum[i * groups + g] = s * vsum(__builtin_convertvector(total, vf));
    }
}

static void path_add(clef_mat dst, clef_mat x, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++)
    for (int64_t c = 0; c < x.cols; c += VW) vstore(row_of(dst, i) + c, vload(row_of(dst, i) + c) + vload(row_of(x, i) + c));
}

// Sums over n floats that need not be a whole number of vectors.
INLINE float sum_squares(const float *p, int64_t n, float mean) {
  vf a = (vf){0}, b = (vf){0};
  int64_t c = 0;
  for (; c + 2 * VW <= n; c += 2 * VW) {
    vf x = vload(p + c) - mean, y = vload(p + c + VW) - mean;
    a += x * x;
    b += y * y;
  }
  float s = 0;
  for (; c < n; c++) s += (p[c] - mean) * (p[c] - mean);
  return vsum(a + b) + s;
}

INLINE float sum_of(const float *p, int64_t n) {
  vf a = (vf){0};
  int64_t c = 0;
  for (; c + VW <= n; c += VW) a += vload(p + c);
  float s = 0;
  for (; c < n; c++) s += p[c];
  return vsum(a) + s;
}

INLINE float rsqrt_of(float x) { return 1.0f / __builtin_sqrtf(x); }

static void path_rms_norm(clef_mat dst, clef_mat x, const float *w, float eps, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    const float *p = row_of(x, i);
    float r = rsqrt_of(sum_squares(p, x.cols, 0) / (float)x.cols + eps);
    for (int64_t c = 0; c < x.cols; c += VW) vstore(row_of(dst, i) + c, vload(p + c) * r * vload(w + c));
  }
}

static void path_layer_norm(clef_mat dst, clef_mat x, const float *w, const float *b, float eps, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    const float *p = row_of(x, i);
    float mean = sum_of(p, x.cols) / (float)x.cols;
    float r = rsqrt_of(sum_squares(p, x.cols, mean) / (float)x.cols + eps);
    for (int64_t c = 0; c < x.cols; c += VW) vstore(row_of(dst, i) + c, (vload(p + c) - mean) * r * vload(w + c) + vload(b + c));
  }
}

// conv: taps and history are (K, C) and (K-1, C); dst is not x.
static void path_conv(clef_mat dst, clef_mat x, clef_mat taps, clef_mat history, int64_t from, int64_t to) {
  const int64_t k = taps.rows;
  for (int64_t t = from; t < to; t++)
    for (int64_t c = 0; c < x.cols; c += VW) {
      vf y = (vf){0};
      for (int64_t j = 0; j < k; j++) {
        int64_t at = t - (k - 1) + j;
        const float *p = at >= 0 ? row_of(x, at) : history.data ? row_of(history, at + k - 1) : 0;
        if (p) y += vload(row_of(taps, j) + c) * vload(p + c);
      }
      vstore(row_of(dst, t) + c, vsilu(y));
    }
}

static void path_gates(clef_mat g, clef_mat beta, clef_mat a, clef_mat b, const float *a_log, const float *dt, int64_t from, int64_t to) {
  for (int64_t t = from; t < to; t++)
    for (int64_t h = 0; h < g.cols; h += VW) {
      vf rate = vexp(vload(a_log + h));
      vstore(row_of(g, t) + h, -rate * vsoftplus(vload(row_of(a, t) + h) + vload(dt + h)));
      vstore(row_of(beta, t) + h, vsigmoid(vload(row_of(b, t) + h)));
    }
}

// A run of n columns that may end inside a vector: room columns are left at c. vpart and
// vkeep touch no more than that.
#define EACH(n, c, room) for (int64_t c = 0, room = (n); room > 0; c += VW, room -= VW)

INLINE vf vpart(const float *p, int64_t n) {
  if (n >= VW) return vload(p);
  float t[VW] = {0};
  memcpy(t, p, (size_t)n * 4);
  return vload(t);
}
INLINE void vkeep(float *p, vf v, int64_t n) {
  if (n >= VW) vstore(p, v);
  else memcpy(p, &v, (size_t)n * 4);
}

static void path_norm_gate(clef_mat dst, clef_mat o, clef_mat z, const float *w, int64_t dim, float eps, int64_t from, int64_t to) {
  for (int64_t t = from; t < to; t++)
    for (int64_t h = 0; h < o.cols; h += dim) {
      const float *p = row_of(o, t) + h, *q = row_of(z, t) + h;
      float *d = row_of(dst, t) + h;
      float r = rsqrt_of(sum_squares(p, dim, 0) / (float)dim + eps);
      EACH(dim, c, room) vkeep(d + c, vpart(p + c, room) * r * vpart(w + c, room) * vsilu(vpart(q + c, room)), room);
    }
}

// norm_rotate writes one head: RMS norm, then rotation of the first `rotary` dims.
INLINE void norm_rotate(float *d, const float *p, const float *w, const float *cos, const float *sin, int64_t dim, int64_t rotary, float eps) {
  float r = rsqrt_of(sum_squares(p, dim, 0) / (float)dim + eps);
  EACH(dim, c, room) vkeep(d + c, vpart(p + c, room) * r * vpart(w + c, room), room);
  const int64_t half = rotary / 2;
  EACH(half, c, room) {
    vf x = vpart(d + c, room), y = vpart(d + half + c, room), cs = vpart(cos + c, room), sn = vpart(sin + c, room);
    vkeep(d + c, x * cs - y * sn, room);
    vkeep(d + half + c, y * cs + x * sn, room);
  }
}

static void path_prep(const clef_prep *a, int64_t from, int64_t to) {
  for (int64_t t = from; t < to; t++) {
    const float *cos = row_of(a->cos, t), *sin = row_of(a->sin, t);
    for (int64_t h = 0; h < a->heads; h++) {
      const float *p = row_of(a->qg, t) + h * 2 * a->dim;
      norm_rotate(row_of(a->q, t) + h * a->dim, p, a->q_norm, cos, sin, a->dim, a->rotary, a->eps);
      memcpy(row_of(a->gate, t) + h * a->dim, p + a->dim, (size_t)a->dim * 4);
    }
    for (int64_t h = 0; h < a->kv_heads; h++)
      norm_rotate(row_of(a->k, t) + h * a->dim, row_of(a->k_raw, t) + h * a->dim, a->k_norm, cos, sin, a->dim, a->rotary, a->eps);
  }
}
