// Stored weights to panels. A panel holds NR outputs: step s of it is NR 32-bit
// lanes, lane n with the next 1 (float32), 2 (bfloat16) or 4 (codes) inputs of
// output n. Outputs and inputs past the end are zero. Steps are padded to VW.

// put transposes VW rows of VW lanes into a panel at its column and step.
INLINE void put(vu t[VW], uint32_t *panel) {
  transpose(t);
  UNROLL
  for (int s = 0; s < VW; s++) memcpy(panel + (int64_t)s * NR, &t[s], sizeof t[s]);
}

// Loaders take the next VW lanes of a row that holds at least that many inputs.
INLINE vu f32_of_f32(const uint8_t *p) { return vloadu(p); }
INLINE vu f32_of_bf16(const uint8_t *p) { return (vu)from_bf16(vloadh(p)); }
INLINE vu f32_of_f16(const uint8_t *p) { return (vu)from_f16(vloadh(p)); }
INLINE vu bf16_of_bf16(const uint8_t *p) { return vloadu(p); }

// f32_of takes VW numbers of a type.
INLINE vf f32_of(const uint8_t *p, int type) {
  switch (type) {
  case CLEF_F32: return (vf)f32_of_f32(p);
  case CLEF_BF16: return (vf)f32_of_bf16(p);
  default: return (vf)f32_of_f16(p);
  }
}

INLINE vu bf16_of_f32(const uint8_t *p) { return to_bf16_two((vf)vloadu(p), (vf)vloadu(p + VW * 4)); }
INLINE vu bf16_of_f16(const uint8_t *p) { return to_bf16_two(from_f16(vloadh(p)), from_f16(vloadh(p + VW * 2))); }

// Weights come from memory in as many streams as there are rows, too many for the processor to
// foresee: AHEAD is how many bytes before its use a row's next part is asked for. At the end of
// the rows it is the beginning of the VW rows behind them.
enum { AHEAD = 768 };

// DENSE defines the expansion of VW outputs from row n, inputs [k0, k1). PER is the number of
// inputs in a lane, BYTES the size of a stored input.
#define DENSE(name, LOAD, PER, BYTES)                                                          \
  static void name(const clef_weight *w, int64_t n, int64_t k0, int64_t k1, uint32_t *panel) { \
    const int64_t unit = (int64_t)VW * PER, rows = w->rows - n;                                \
    const uint8_t *p = w->data + n * w->row_bytes + k0 * BYTES;                                \
    const int64_t last = k1 - AHEAD / BYTES, next = VW * w->row_bytes - (k1 - k0) * BYTES;     \
    for (; k0 < k1; k0 += unit, p += unit * BYTES, panel += (int64_t)VW * NR) {                \
      const uint8_t *ahead = p + AHEAD + (k0 < last ? 0 : next);                               \
      vu t[VW];                                                                                \
      if (rows >= VW && k0 + unit <= k1) {                                                     \
        UNROLL                                                                                 \
        for (int i = 0; i < VW; i++) {                                                         \
          __builtin_prefetch(ahead + i * w->row_bytes, 0, 2);                                  \
          t[i] = LOAD(p + i * w->row_bytes);                                                   \
        }                                                                                      \
      } else {                                                                                 \
        for (int i = 0; i < VW; i++) {                                                         \
          uint8_t tail[VW * 8] = {0};                                                          \
          int64_t left = k1 - k0 < unit ? k1 - k0 : unit;                                      \
          if (i < rows) memcpy(tail, p + i * w->row_bytes, (size_t)(left * BYTES));            \
          t[i] = LOAD(tail);                                                                   \
        }                                                                                      \
      }                                                                                        \
      put(t, panel);                                                                           \
    }                                                                                          \
  }

DENSE(expand_f32_f32, f32_of_f32, 1, 4)
DENSE(expand_f32_bf16, f32_of_bf16, 1, 2)
DENSE(expand_f32_f16, f32_of_f16, 1, 2)
DENSE(expand_bf16_f32, bf16_of_f32, 2, 4)
DENSE(expand_bf16_bf16, bf16_of_bf16, 2, 2)
DENSE(expand_bf16_f16, bf16_of_f16, 2, 2)

enum { SPAN = 128 }; // codes unpacked at a time

typedef uint8_t v16b __attribute__((vector_size(16)));
typedef uint16_t v16h __attribute__((vector_size(32)));
typedef uint64_t v8q __attribute__((vector_size(64)));
typedef uint8_t v8b __attribute__((vector_size(8)));

// unpack4 splits the nibbles of n codes, n a multiple of 32: a byte of two codes becomes a
// little-endian pair of bytes.
INLINE void unpack4(const uint8_t *p, int64_t n, uint8_t *out) {
  for (int64_t i = 0; i < n; i += 32, p += 16, out += 32) {
    v16b x;
    memcpy(&x, p, sizeof x);
    v16h y = __builtin_convertvector(x, v16h);
    y = (y | y << 4) & 0x0f0f;
    memcpy(out, &y, sizeof y);
  }
}

// unpack_any reads eight codes at a time from a little-endian bit stream. left is
// the number of bytes that may be read from p.
INLINE void unpack_any(const uint8_t *p, int64_t left, int64_t n, int bits, uint8_t *out) {
  const uint64_t b = (uint64_t)bits;
  const v8q shift = {0, b, 2 * b, 3 * b, 4 * b, 5 * b, 6 * b, 7 * b};
  const uint64_t mask = (1u << bits) - 1;
  for (int64_t i = 0; i < n; i += 8, p += bits, left -= bits, out += 8) {
    uint64_t x = 0;
    memcpy(&x, p, left >= 8 ? 8 : (size_t)bits);
    v8q c = (((v8q){0} + x) >> shift) & mask;
    v8b d = __builtin_convertvector(c, v8b);
    memcpy(out, &d, 8);
  }
}

// unpack takes the codes [k, k+n) of a row; the rest of SPAN becomes zero.
static void unpack(const clef_weight *w, int64_t row, int64_t k, int64_t n, uint8_t *out) {
  const uint8_t *p = w->data + row * w->row_bytes + k * w->bits / 8;
  for (int64_t i = 0; i < n * w->bits / 8; i += 64) __builtin_prefetch(p + AHEAD + i, 0, 2);
  if (w->bits == 8 && n == SPAN) memcpy(out, p, SPAN);
  else if (w->bits == 8) memcpy(out, p, (size_t)n);
  else if (w->bits == 4) unpack4(p, n, out);
  else unpack_any(p, w->row_bytes - k * w->bits / 8, n, w->bits, out);
  if (n < SPAN) memset(out + n, 0, (size_t)(SPAN - n));
}

// group_values reads one group's scales or biases of VW outputs; past the last output they are zero.
INLINE vf group_values(const uint8_t *base, const clef_weight *w, int64_t n, int64_t g) {
  const int64_t rows = w->rows - n < VW ? w->rows - n : VW;
  const uint8_t *p = base + n * w->group_row_bytes;
  if (w->group_type == CLEF_F32) {
    float f[VW] = {0};
    for (int64_t i = 0; i < rows; i++) memcpy(f + i, p + i * w->group_row_bytes + g * 4, 4);
    return vload(f);
  }
  uint16_t h[VW] = {0};
  for (int64_t i = 0; i < rows; i++) memcpy(h + i, p + i * w->group_row_bytes + g * 2, 2);
  return w->group_type == CLEF_F16 ? from_f16(vloadh((const uint8_t *)h)) : from_bf16(vloadh((const uint8_t *)h));
}

INLINE vf codes_f32(const uint8_t *c, float scale, float bias) {
  vb b;
  memcpy(&b, c, sizeof b);
  return __builtin_convertvector((vi)widen(b), vf) * scale + bias;
}

// expand_quant dequantises VW outputs from row n to float32 lanes or bfloat16 pairs.
INLINE void expand_quant(const clef_weight *w, int64_t n, int64_t k0, int64_t k1, uint32_t *panel, int per) {
  uint8_t codes[VW][SPAN];
  float scale[VW], bias[VW];
  const int64_t unit = (int64_t)VW * per;
  for (int64_t k = k0; k < k1; k += SPAN) {
    int64_t len = k1 - k < SPAN ? k1 - k : SPAN;
    for (int i = 0; i < VW; i++) {
      if (n + i < w->rows) unpack(w, n + i, k, len, codes[i]);
      else memset(codes[i], 0, SPAN);
    }
    for (int64_t o = 0; o < len; o += unit, panel += (int64_t)VW * NR) {
      if (o == 0 || (k + o) % w->group == 0) {
        vstore(scale, group_values(w->scales, w, n, (k + o) / w->group));
        vstore(bias, group_values(w->biases, w, n, (k + o) / w->group));
      }
      vu t[VW];
      UNROLL
      for (int i = 0; i < VW; i++) {
        vf a = codes_f32(codes[i] + o, scale[i], bias[i]);
        t[i] = per == 1 ? (vu)a : to_bf16_two(a, codes_f32(codes[i] + o + VW, scale[i], bias[i]));
      }
      put(t, panel);
    }
  }
}
static void expand_f32_codes(const clef_weight *w, int64_t n, int64_t k0, int64_t k1, uint32_t *panel) { expand_quant(w, n, k0, k1, panel, 1); }
static void expand_bf16_codes(const clef_weight *w, int64_t n, int64_t k0, int64_t k1, uint32_t *panel) { expand_quant(w, n, k0, k1, panel, 2); }

// group_rows lays out the scales or biases of VW outputs from row n, groups [g0, g1), NR lanes to a
// group; past the last output they are zero.
INLINE void group_rows(const uint8_t *base, const clef_weight *w, int64_t n, int64_t g0, int64_t g1, float *out) {
  const int64_t size = w->group_type == CLEF_F32 ? 4 : 2;
  for (int64_t g = g0; g < g1; g += VW, out += (int64_t)VW * NR) {
    const int64_t len = g1 - g < VW ? g1 - g : VW;
    vu t[VW];
    for (int i = 0; i < VW; i++) {
      const uint8_t *p = base + (n + i) * w->group_row_bytes + g * size;
      uint8_t part[VW * 4] = {0};
      if (n + i >= w->rows) p = part;
      else if (len < VW) p = memcpy(part, p, (size_t)(len * size));
      t[i] = (vu)f32_of(p, w->group_type);
    }
    transpose(t);
    for (int64_t s = 0; s < len; s++) vstore(out + s * NR, (vf)t[s]);
  }
}

typedef uint8_t vb2 __attribute__((vector_size(VW * 2)));
typedef uint16_t vh2 __attribute__((vector_size(VW * 4)));

// codes_of takes the next four codes for each lane, of 4 or 8 bits, as unpack does.
INLINE vu codes_of(const uint8_t *p, int bits) {
  if (bits == 8) return vloadu(p);
  vb2 x;
  memcpy(&x, p, sizeof x);
  vh2 y = __builtin_convertvector(x, vh2);
  return (vu)((y | y << 4) & 0x0f0f);
}

// expand_codes lays out codes of 4 or 8 bits without a detour through memory. There are VW outputs
// from row n, and the inputs fill whole lanes.
INLINE void expand_codes(const clef_weight *w, int64_t n, int64_t k0, int64_t k1, uint32_t *panel, int bits) {
  const int64_t unit = (int64_t)VW * 4;
  const uint8_t *p = w->data + n * w->row_bytes + k0 * bits / 8;
  const int64_t last = k1 - AHEAD * 8 / bits, next = VW * w->row_bytes - (k1 - k0) * bits / 8;
  for (; k0 < k1; k0 += unit, p += unit * bits / 8, panel += (int64_t)VW * NR) {
    const uint8_t *ahead = p + AHEAD + (k0 < last ? 0 : next);
    vu t[VW];
    UNROLL
    for (int i = 0; i < VW; i++) {
      __builtin_prefetch(ahead + i * w->row_bytes, 0, 2);
      t[i] = codes_of(p + i * w->row_bytes, bits);
    }
    put(t, panel);
  }
}

// expand_int8 lays out VW outputs' codes four inputs to a lane, and their scales and biases
// by group. Codes are unsigned; a path with signed products subtracts OFFSET.
static void expand_int8(const clef_weight *w, int64_t n, int64_t k0, int64_t k1, uint32_t *panel, float *scales, float *biases) {
  uint8_t codes[VW][SPAN];
  const int64_t unit = (int64_t)VW * 4, g0 = k0 / w->group, g1 = k1 / w->group;
  const int offset = w->bits == 8 ? CODE_OFFSET : 0;
  group_rows(w->scales, w, n, g0, g1, scales);
  group_rows(w->biases, w, n, g0, g1, biases);
  for (int64_t g = 0; offset && g < g1 - g0; g++) vstore(biases + g * NR, vload(biases + g * NR) + vload(scales + g * NR) * (float)offset);
  const int whole = n + VW <= w->rows && (k1 - k0) % unit == 0 && !offset;
  if (whole && (w->bits == 4 || w->bits == 8)) {
    if (w->bits == 4) expand_codes(w, n, k0, k1, panel, 4);
    else expand_codes(w, n, k0, k1, panel, 8);
    return;
  }
  memset(codes, 0, sizeof codes);
  for (int64_t k = k0; k < k1; k += SPAN) {
    int64_t len = k1 - k < SPAN ? k1 - k : SPAN;
    for (int i = 0; i < VW; i++) {
      if (n + i >= w->rows) continue;
      unpack(w, n + i, k, len, codes[i]);
      if (offset)
        for (int j = 0; j < SPAN; j++) codes[i][j] = (uint8_t)(codes[i][j] - offset);
    }
    for (int64_t o = 0; o < len; o += unit, panel += (int64_t)VW * NR) {
      vu t[VW];
      UNROLL
      for (int i = 0; i < VW; i++) t[i] = vloadu(codes[i] + o);
      put(t, panel);
    }
  }
}

typedef void (*expander)(const clef_weight *, int64_t, int64_t, int64_t, uint32_t *);

static expander expander_of(int form, int type) {
  static const expander table[2][5] = {
      {0, expand_f32_f32, expand_f32_bf16, expand_f32_f16, expand_f32_codes},
      {0, expand_bf16_f32, expand_bf16_bf16, expand_bf16_f16, expand_bf16_codes},
  };
  return table[form == CLEF_FORM_BF16][type];
}
