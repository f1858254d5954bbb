// Vectors of VW floats and the few functions of one variable that the model needs.
// Included once per path, after VW is defined.

#include <string.h>

#define INLINE static inline __attribute__((always_inline, unused))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

typedef float vf __attribute__((vector_size(VW * 4)));
typedef int32_t vi __attribute__((vector_size(VW * 4)));
typedef uint32_t vu __attribute__((vector_size(VW * 4)));
typedef uint16_t vh __attribute__((vector_size(VW * 2)));
typedef uint8_t vb __attribute__((vector_size(VW)));

INLINE vf vload(const float *p) { vf v; memcpy(&v, p, sizeof v); return v; }
INLINE vu vloadu(const void *p) { vu v; memcpy(&v, p, sizeof v); return v; }
INLINE vh vloadh(const void *p) { vh v; memcpy(&v, p, sizeof v); return v; }
INLINE void vstore(float *p, vf v) { memcpy(p, &v, sizeof v); }
INLINE vf vset(float x) { return x - (vf){0}; }
INLINE vi vseti(int32_t x) { return x - (vi){0}; }

// Bytes to lanes and back, in two steps: compilers take one step apart into scalars.
INLINE vu widen(vb b) { return __builtin_convertvector(__builtin_convertvector(b, vh), vu); }
INLINE vb narrow(vu u) { return __builtin_convertvector(__builtin_convertvector(u, vh), vb); }

INLINE vf vpick(vi m, vf a, vf b) { return (vf)((m & (vi)a) | (~m & (vi)b)); }
INLINE vf vmax(vf a, vf b) { return vpick(a > b, a, b); }
INLINE vf vmin(vf a, vf b) { return vpick(a < b, a, b); }
INLINE vf vabs(vf a) { return (vf)((vi)a & 0x7fffffff); }

// vsum adds the lanes pairwise.
typedef float v8f __attribute__((vector_size(32)));
typedef float v4f __attribute__((vector_size(16)));
INLINE float sum4(v4f v) {
  v4f a = v + __builtin_shufflevector(v, v, 2, 3, 2, 3);
  return a[0] + a[1];
}
#if VW >= 8
INLINE float sum8(v8f v) { return sum4(__builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7)); }
#endif
INLINE float vsum(vf v) {
#if VW == 16
  return sum8(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
#elif VW == 8
  return sum8(v);
#else
  return sum4(v);
#endif
}

typedef int32_t v8i __attribute__((vector_size(32)));
typedef int32_t v4i __attribute__((vector_size(16)));
INLINE float top4(v4f v) {
  float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
  return a > b ? a : b;
}
#if VW >= 8
INLINE float top8(v8f v) {
  v4f a = __builtin_shufflevector(v, v, 0, 1, 2, 3), b = __builtin_shufflevector(v, v, 4, 5, 6, 7);
  v4i m = a > b;
  return top4((v4f)((m & (v4i)a) | (~m & (v4i)b)));
}
#endif
INLINE float vtop(vf v) {
#if VW == 16
  v8f a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7), b = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  v8i m = a > b;
  return top8((v8f)((m & (v8i)a) | (~m & (v8i)b)));
#elif VW == 8
  return top8(v);
#else
  return top4(v);
#endif
}

// vexp is e^x: 2^n times a polynomial on |r| <= ln(2)/2 (Cody and Waite's split of
// ln 2; Cephes' coefficients). Arguments are clamped to [-87.33, 88.37].
INLINE vf vexp(vf x) {
  x = vpick(x < vset(-87.33f), vset(-87.33f), x);
  x = vpick(x > vset(88.37f), vset(88.37f), x);
  const float magic = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
  vf t = x * 1.44269504f + magic;
  vi n = (vi)t - 0x4b400000;
  vf f = t - magic;
  vf r = x - f * 0.693359375f;
  r = r + f * 2.12194440e-4f;
  vf p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  return p * (vf)((n + 127) << 23);
}

INLINE vf vsigmoid(vf x) { return 1.0f / (1.0f + vexp(-x)); }
INLINE vf vsilu(vf x) { return x / (1.0f + vexp(-x)); }

// vsoftplus is log(1+e^x) = max(x,0) + log1p(e^-|x|), the logarithm by the series
// of 2*atanh(e/(2+e)), whose argument is at most 1/3.
INLINE vf vsoftplus(vf x) {
  vf e = vexp(-vabs(x));
  vf s = e / (e + 2.0f), q = s * s;
  vf p = q * (1.0f / 15) + 1.0f / 13;
  p = p * q + 1.0f / 11;
  p = p * q + 1.0f / 9;
  p = p * q + 1.0f / 7;
  p = p * q + 1.0f / 5;
  p = p * q + 1.0f / 3;
  p = p * q + 1.0f;
  return vmax(x, vset(0)) + 2.0f * s * p;
}

// vgelu is x*Phi(x). Phi's tail is 0.5*erfc(|x|/sqrt 2) by Abramowitz and Stegun
// 7.1.26, so that nothing cancels for negative x.
INLINE vf vgelu(vf x) {
  vf z = vabs(x) * 0.70710678f;
  vf t = 1.0f / (z * 0.3275911f + 1.0f);
  vf p = t * 1.061405429f - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  vf tail = 0.5f * x * (p * t * vexp(-z * z));
  return vpick(x < vset(0), tail, x - tail);
}

// vgelu_tanh is 0.5x(1+tanh(u)) = x*sigmoid(2u).
INLINE vf vgelu_tanh(vf x) {
  vf u = x * 0.7978845608f * (x * x * 0.044715f + 1.0f);
  return x / (1.0f + vexp(u * -2.0f));
}

// Functions of `which` for tests of their error bounds, in this order.
static void path_math(int32_t which, float *dst, const float *x, int64_t n) {
  for (int64_t i = 0; i < n; i += VW) {
    vf v = vload(x + i);
    switch (which) {
    case 0: v = vexp(v); break;
    case 1: v = vsigmoid(v); break;
    case 2: v = vsilu(v); break;
    case 3: v = vsoftplus(v); break;
    case 4: v = vgelu(v); break;
    default: v = vgelu_tanh(v);
    }
    vstore(dst + i, v);
  }
}

// bfloat16 by rounding to nearest even, kept in the upper or lower half of a lane.
INLINE vu bf16_high(vf x) {
  vu u = (vu)x;
  return (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u;
}
INLINE vu bf16_low(vf x) { return bf16_high(x) >> 16; }

// to_bf16 rounds to bfloat16, in order.
INLINE vh to_bf16(vf x) {
#ifdef ROUND_BF16
  return ROUND_BF16(x);
#else
  return __builtin_convertvector(bf16_low(x), vh);
#endif
}

// to_bf16_two rounds two vectors, one after the other.
INLINE vu to_bf16_two(vf a, vf b) {
#ifdef ROUND_BF16_TWO
  return ROUND_BF16_TWO(a, b);
#else
  vh x = to_bf16(a), y = to_bf16(b);
  vu out;
  memcpy(&out, &x, sizeof x);
  memcpy((uint8_t *)&out + sizeof x, &y, sizeof y);
  return out;
#endif
}

// bf16_pairs interleaves: lane i holds low[i] in its lower half and high[i] above.
INLINE vu bf16_pairs(vf low, vf high) { return bf16_low(low) | bf16_high(high); }

INLINE vf from_bf16(vh h) { return (vf)(__builtin_convertvector(h, vu) << 16); }

// from_f16 widens IEEE half floats, subnormals and infinities included.
INLINE vf from_f16(vh h) {
  vu u = __builtin_convertvector(h, vu);
  vf f = (vf)((u & 0x7fff) << 13) * 5.192296858534828e33f; // 2^112
  vu inf = (vu)((u & 0x7c00) == 0x7c00);
  return (vf)((vu)f | (inf & 0x7f800000u) | ((u & 0x8000) << 16));
}

// Transposition of a VW x VW block of 32-bit lanes: log2(VW) perfect shuffles.
#if VW == 16
#define SHUFFLE_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define SHUFFLE_HIGH(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif VW == 8
#define SHUFFLE_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define SHUFFLE_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define SHUFFLE_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define SHUFFLE_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

INLINE void transpose(vu t[VW]) {
  vu u[VW];
  UNROLL
  for (int stage = 1; stage < VW; stage *= 2) {
    UNROLL
    for (int i = 0; i < VW / 2; i++) {
      u[2 * i] = SHUFFLE_LOW(t[i], t[i + VW / 2]);
      u[2 * i + 1] = SHUFFLE_HIGH(t[i], t[i + VW / 2]);
    }
    UNROLL
    for (int i = 0; i < VW; i++) t[i] = u[i];
  }
}
