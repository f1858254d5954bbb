// Weights of a matrix product, as the libraries of products (gemm.metal, direct.metal, tensor.metal) read them: half, bfloat, float or
// affine codes, eight numbers at a time as float; the input rows; and what happens to a finished output.
//
// The host sets WEIGHTS for the operands that weights become: 0 half, 1 bfloat, 2 float.

#if WEIGHTS == 2
typedef float weight;
#elif WEIGHTS == 1
typedef bfloat weight;
#else
typedef half weight;
#endif

constant uint kFormats [[function_constant(0)]];  // bit set of the formats of all segments
constant uint kEpilogue [[function_constant(1)]]; // 0 store, 1 add to dst, 2 SwiGLU of segments 0 and 1
constant uint kAct [[function_constant(2)]];      // 0 none, 1 GELU, 2 GELU by tanh
constant bool kRagged [[function_constant(3)]];   // K is not a multiple of 8
constant uint kSegments [[function_constant(4)]];
constant uint kQuants [[function_constant(5)]];   // bit i: segment i has scales and biases
constant uint kBiases [[function_constant(6)]];   // bit i: segment i has a bias
constant bool kSecond = kSegments > 1;
constant bool kThird = kSegments > 2;
constant bool kFourth = kSegments > 3;
constant bool kQuant0 = (kQuants & 1) != 0;
constant bool kQuant1 = (kQuants & 2) != 0;
constant bool kQuant2 = (kQuants & 4) != 0;
constant bool kQuant3 = (kQuants & 8) != 0;
constant bool kBias0 = (kBiases & 1) != 0;
constant bool kBias1 = (kBiases & 2) != 0;
constant bool kBias2 = (kBiases & 4) != 0;
constant bool kBias3 = (kBiases & 8) != 0;
constant bool kStore1 = kSegments > 1 && kEpilogue != 2; // SwiGLU has one destination

// Formats of a weight, as bits of kFormats.
constant constexpr uint kHalf = 1, kBfloat = 2, kFloat = 4, kCode4 = 8, kCode8 = 16, kCodeAny = 32;

struct Segment {
  uint rows;    // N
  uint tile;    // first tile of this segment
  uint format;
  uint pitch;   // bytes in a row of w
  uint bits;    // of a code
  uint shift;   // log2 of the columns in a quantisation group
  uint groups;  // quantisation groups in a row
  uint wide;    // scales and biases are float, not bfloat
};

struct GemmParams {
  uint m, k, first; // rows of x, depth, first tile of this launch
  Segment segment[4];
};

// weights are the pointers of one segment.
struct Weights {
  device const uchar *w;
  device const uchar *scales;
  device const uchar *biases;
};

// widen reads scale or bias i of a segment.
inline float widen(device const uchar *p, bool wide, uint i) {
  if (wide) return ((device const float *)p)[i];
  return as_type<float>(uint(((device const ushort *)p)[i]) << 16);
}

struct Eight {
  float4 lo, hi;
};

// expand4 turns eight 4-bit codes into s · q + b. The bit pattern 0x6400 | q is the half 1024 + q, so that no integer is
// ever converted; the constant is taken off in float.
inline Eight expand4(uint u, float s, float b) {
  const uint v = u >> 8;
  const half2 a = as_type<half2>((u & 0x000F000Fu) | 0x64006400u), c = as_type<half2>((u & 0x00F000F0u) | 0x64006400u);
  const half2 d = as_type<half2>((v & 0x000F000Fu) | 0x64006400u), e = as_type<half2>((v & 0x00F000F0u) | 0x64006400u);
  const float b1 = b - 1024.0f * s, s16 = s * 0.0625f, b16 = b - 64.0f * s;
  Eight r;
  r.lo = float4(fma(float(a.x), s, b1), fma(float(c.x), s16, b16), fma(float(d.x), s, b1), fma(float(e.x), s16, b16));
  r.hi = float4(fma(float(a.y), s, b1), fma(float(c.y), s16, b16), fma(float(d.y), s, b1), fma(float(e.y), s16, b16));
  return r;
}

// expand8 does the same for four 8-bit codes.
inline float4 expand8(uint u, float s, float b) {
  const half2 a = as_type<half2>((u & 0x00FF00FFu) | 0x64006400u), c = as_type<half2>(((u >> 8) & 0x00FF00FFu) | 0x64006400u);
  const float b1 = b - 1024.0f * s;
  return float4(fma(float(a.x), s, b1), fma(float(c.x), s, b1), fma(float(a.y), s, b1), fma(float(c.y), s, b1));
}

// codes gathers eight codes of 2, 3, 5 or 6 bits: they start at a byte, because eight of them fill whole bytes.
inline Eight codes(device const uchar *p, uint bits, float s, float b) {
  ulong u = 0;
  for (uint i = 0; i < bits; i++) u |= ulong(p[i]) << (8 * i);
  const uint mask = (1u << bits) - 1;
  float v[8];
  for (uint i = 0; i < 8; i++) v[i] = fma(float(uint(u >> (bits * i)) & mask), s, b);
  Eight r;
  r.lo = float4(v[0], v[1], v[2], v[3]);
  r.hi = float4(v[4], v[5], v[6], v[7]);
  return r;
}

// element reads one number of a dense row.
inline float element(device const uchar *row, uint format, uint k) {
  if ((kFormats & kHalf) && format == kHalf) return float(((device const half *)row)[k]);
  if ((kFormats & kFloat) && format == kFloat) return ((device const float *)row)[k];
  return as_type<float>(uint(((device const ushort *)row)[k]) << 16);
}

// weights8 reads columns [k, k + 8) of row n as float.
inline Eight weights8(thread const Weights &t, constant Segment &s, uint n, uint k, uint depth) {
  device const uchar *row = t.w + ulong(n) * s.pitch;
  Eight r;
  if ((kFormats & (kCode4 | kCode8 | kCodeAny)) && s.format >= kCode4) {
    const uint at = n * s.groups + (k >> s.shift);
    const float scale = widen(t.scales, s.wide != 0, at), bias = widen(t.biases, s.wide != 0, at);
    if ((kFormats & kCode4) && s.format == kCode4) return expand4(((device const uint *)row)[k / 8], scale, bias);
    if ((kFormats & kCode8) && s.format == kCode8) {
      r.lo = expand8(((device const uint *)row)[k / 4], scale, bias);
      r.hi = expand8(((device const uint *)row)[k / 4 + 1], scale, bias);
      return r;
    }
    return codes(row + k / 8 * s.bits, s.bits, scale, bias);
  }
  if (kRagged) {
    float v[8];
    for (uint i = 0; i < 8; i++) v[i] = k + i < depth ? element(row, s.format, k + i) : 0.0f;
    r.lo = float4(v[0], v[1], v[2], v[3]);
    r.hi = float4(v[4], v[5], v[6], v[7]);
  } else if ((kFormats & kHalf) && s.format == kHalf) {
    r.lo = float4(*(device const half4 *)(row + 2 * k));
    r.hi = float4(*(device const half4 *)(row + 2 * k + 8));
  } else if ((kFormats & kFloat) && s.format == kFloat) {
    r.lo = *(device const float4 *)(row + 4 * k);
    r.hi = *(device const float4 *)(row + 4 * k + 16);
  } else {
    const uint2 a = *(device const uint2 *)(row + 2 * k), b = *(device const uint2 *)(row + 2 * k + 8);
    r.lo = as_type<float4>(uint4(a.x << 16, a.x & 0xFFFF0000u, a.y << 16, a.y & 0xFFFF0000u));
    r.hi = as_type<float4>(uint4(b.x << 16, b.x & 0xFFFF0000u, b.y << 16, b.y & 0xFFFF0000u));
  }
  return r;
}

// rows8 reads columns [k, k + 8) of row m of x as float.
inline Eight rows8(device const float *x, uint m, uint k, uint depth) {
  const ulong at = ulong(m) * depth + k;
  Eight r;
  if (kRagged) {
    float v[8];
    for (uint i = 0; i < 8; i++) v[i] = k + i < depth ? x[at + i] : 0.0f;
    r.lo = float4(v[0], v[1], v[2], v[3]);
    r.hi = float4(v[4], v[5], v[6], v[7]);
  } else {
    r.lo = *(device const float4 *)(x + at);
    r.hi = *(device const float4 *)(x + at + 4);
  }
  return r;
}

// slab_x reads eight numbers of a row of x, zeros outside of it.
inline Eight slab_x(device const float *x, uint m, uint rows, uint k, uint depth) {
  Eight v;
  v.lo = v.hi = float4(0.0f);
  if (m < rows && k < depth) v = rows8(x, m, k, depth);
  return v;
}

// store8 puts one row of an 8x8 block into threadgroup memory; blocks are contiguous.
template <typename T> inline void store8(threadgroup T *dst, Eight v) {
  *(threadgroup vec<T, 4> *)dst = vec<T, 4>(v.lo);
  *(threadgroup vec<T, 4> *)(dst + 4) = vec<T, 4>(v.hi);
}

// erfExact follows erf within 2e-7: a polynomial in x² below 1, exp(-x²) times one in 1 / (1 + x/2) above.
inline float erfExact(float x) {
  const float a = min(fabs(x), 4.0f);
  if (a < 1.0f) {
    const float z = x * x;
    float s = -9.808485629037023e-06f;
    s = fma(s, z, 0.0001131287426687777f);
    s = fma(s, z, -0.0008490165928378701f);
    s = fma(s, z, 0.005221421364694834f);
    s = fma(s, z, -0.026865558698773384f);
    s = fma(s, z, 0.11283784359693527f);
    s = fma(s, z, -0.37612637877464294f);
    return x * fma(s, z, 1.128379225730896f);
  }
  const float t = 1.0f / (1.0f + 0.5f * a);
  float s = 0.11900468915700912f;
  s = fma(s, t, -0.47007328271865845f);
  s = fma(s, t, 0.5616933107376099f);
  s = fma(s, t, -0.1023891270160675f);
  s = fma(s, t, 0.34723252058029175f);
  s = fma(s, t, 0.2598479688167572f);
  s = fma(s, t, 0.2848873436450958f);
  s = fma(s, t, -0.00015247696137521416f);
  return copysign(1.0f - exp(-a * a) * s, x);
}

inline float activate(float v) {
  if (kAct == 1) return 0.5f * v * (1.0f + erfExact(v * 0.70710678118654752f));
  if (kAct == 2) {
    const float u = clamp(0.7978845608028654f * (v + 0.044715f * v * v * v), -15.0f, 15.0f);
    return v * (1.0f - 1.0f / (exp(2.0f * u) + 1.0f));
  }
  return v;
}

// PRODUCT_ARGUMENTS are the arguments of every kernel for products.
#define PRODUCT_ARGUMENTS \
  constant GemmParams &p [[buffer(0)]], device const float *x [[buffer(1)]], device const uchar *w0 [[buffer(2)]], \
  device const uchar *w1 [[buffer(3), function_constant(kSecond)]], \
  device const uchar *w2 [[buffer(4), function_constant(kThird)]], \
  device const uchar *w3 [[buffer(5), function_constant(kFourth)]], \
  device const uchar *s0 [[buffer(6), function_constant(kQuant0)]], \
  device const uchar *s1 [[buffer(7), function_constant(kQuant1)]], \
  device const uchar *s2 [[buffer(8), function_constant(kQuant2)]], \
  device const uchar *s3 [[buffer(9), function_constant(kQuant3)]], \
  device const uchar *q0 [[buffer(10), function_constant(kQuant0)]], \
  device const uchar *q1 [[buffer(11), function_constant(kQuant1)]], \
  device const uchar *q2 [[buffer(12), function_constant(kQuant2)]], \
  device const uchar *q3 [[buffer(13), function_constant(kQuant3)]], \
  device const float *b0 [[buffer(14), function_constant(kBias0)]], \
  device const float *b1 [[buffer(15), function_constant(kBias1)]], \
  device const float *b2 [[buffer(16), function_constant(kBias2)]], \
  device const float *b3 [[buffer(17), function_constant(kBias3)]], device float *d0 [[buffer(18)]], \
  device float *d1 [[buffer(19), function_constant(kStore1)]], \
  device float *d2 [[buffer(20), function_constant(kThird)]], \
  device float *d3 [[buffer(21), function_constant(kFourth)]], device atomic_uint *status [[buffer(30)]]

// PRODUCT_SELECT(columns) finds the segment of this threadgroup's tile, which makes that many outputs of a row: which, seg,
// its weights t, for SwiGLU the other segment's (other, up), and the first output n0.
#define PRODUCT_SELECT(columns) \
  const uint tile = p.first + group.y; \
  uint which = 0; \
  if (kEpilogue != 2) { \
    if (kSecond && tile >= p.segment[1].tile) which = 1; \
    if (kThird && tile >= p.segment[2].tile) which = 2; \
    if (kFourth && tile >= p.segment[3].tile) which = 3; \
  } \
  Weights t = {w0, kQuant0 ? s0 : w0, kQuant0 ? q0 : w0}, up = t; \
  if (kSecond && (which == 1 || kEpilogue == 2)) up = {w1, kQuant1 ? s1 : w1, kQuant1 ? q1 : w1}; \
  if (which == 1) t = up; \
  if (kThird && which == 2) t = {w2, kQuant2 ? s2 : w2, kQuant2 ? q2 : w2}; \
  if (kFourth && which == 3) t = {w3, kQuant3 ? s3 : w3, kQuant3 ? q3 : w3}; \
  constant Segment &seg = p.segment[which]; \
  constant Segment &other = p.segment[kEpilogue == 2 ? 1 : which]; \
  const uint n0 = (tile - seg.tile) * (columns);

// PRODUCT_TARGET finds where the outputs go, and their bias.
#define PRODUCT_TARGET \
  device float *dst = d0; \
  if (kStore1 && which == 1) dst = d1; \
  if (kThird && which == 2) dst = d2; \
  if (kFourth && which == 3) dst = d3; \
  device const float *bias = kBias0 ? b0 : (device const float *)w0; \
  if (kBias1 && which == 1) bias = b1; \
  if (kBias2 && which == 2) bias = b2; \
  if (kBias3 && which == 3) bias = b3; \
  const bool biased = (kBiases >> which & 1) != 0;

// finish stores output n of row m as the epilogue says; SwiGLU stores by itself.
inline void finish(device float *dst, device const float *bias, bool biased, uint m, uint n, uint columns, float sum) {
  const float v = activate(sum + (biased ? bias[n] : 0.0f));
  const ulong at = ulong(m) * columns + n;
  dst[at] = kEpilogue == 1 ? dst[at] + v : v;
}

// finish_tile stores the fragments of a simdgroup: rows from m on, columns from fragment sn of the tile on, which begins
// at output n0. For SwiGLU, fragments of gate and up alternate.
template <uint FM, uint FN>
inline void finish_tile(thread simdgroup_float8x8 (&acc)[FM][FN], device float *dst, device const float *bias, bool biased,
                        uint m, uint rows, uint n0, uint sn, uint columns, uint lane) {
  for (uint i = 0; i < FM; i++) {
    const uint row = m + i * 8 + fragment_row(lane);
    if (row >= rows) continue;
    if (kEpilogue == 2) {
      for (uint j = 0; j < FN; j += 2)
        for (uint e = 0; e < 2; e++) {
          const uint n = n0 + (sn + j) * 4 + fragment_col(lane) + e;
          if (n < columns)
            dst[ulong(row) * columns + n] = silu(acc[i][j].thread_elements()[e]) * acc[i][j + 1].thread_elements()[e];
        }
      continue;
    }
    for (uint j = 0; j < FN; j++)
      for (uint e = 0; e < 2; e++) {
        const uint n = n0 + (sn + j) * 8 + fragment_col(lane) + e;
        if (n < columns) finish(dst, bias, biased, row, n, columns, acc[i][j].thread_elements()[e]);
      }
  }
}
