// numeric.h - the math, integer and relational functions of the Metal library, for scalars and vectors. half functions
// compute in float and round once; fast:: and precise:: are the same here, Apple's differ by a few ulp.
#pragma once
#include "limits.h"
namespace metal {
#define MF1(n, b)                                                                                                      \
  MSL_INL float n(float x) { return b(x); }                                                                            \
  MSL_INL half n(half x) { return (half)b((float)x); }                                                                 \
  template <class T, int N> MSL_INL vec<T, N> n(const vec<T, N> &v) {                                                  \
    vec<T, N> r = v;                                                                                                   \
    for (int i = 0; i < N; i++) r.d[i] = T(n(v.d[i]));                                                                 \
    return r;                                                                                                          \
  }
#define MF2(n, b)                                                                                                      \
  MSL_INL float n(float x, float y) { return b(x, y); }                                                                \
  MSL_INL half n(half x, half y) { return (half)b((float)x, (float)y); }                                               \
  template <class T, int N> MSL_INL vec<T, N> n(const vec<T, N> &v, const vec<T, N> &w) {                              \
    vec<T, N> r = v;                                                                                                   \
    for (int i = 0; i < N; i++) r.d[i] = T(n(v.d[i], w.d[i]));                                                         \
    return r;                                                                                                          \
  }
MSL_INL float msl_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
MSL_INL float msl_exp10(float x) { return __builtin_powf(10.f, x); }
MSL_INL float msl_fract(float x) {
  float r = x - __builtin_floorf(x);
  return r < 0x1.fffffep-1f ? r : 0x1.fffffep-1f;
}
MSL_INL float msl_sign(float x) { return x > 0 ? 1.f : x < 0 ? -1.f : 0.f; }
MSL_INL float msl_sat(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.f), 1.f); }
// clang-format off
#define MSL_ALL_MATH \
  MF1(exp, __builtin_expf) MF1(exp2, __builtin_exp2f) MF1(exp10, msl_exp10) \
  MF1(log, __builtin_logf) MF1(log2, __builtin_log2f) MF1(log10, __builtin_log10f) \
  MF1(sin, __builtin_sinf) MF1(cos, __builtin_cosf) MF1(tan, __builtin_tanf) \
  MF1(asin, __builtin_asinf) MF1(acos, __builtin_acosf) MF1(atan, __builtin_atanf) \
  MF1(sinh, __builtin_sinhf) MF1(cosh, __builtin_coshf) MF1(tanh, __builtin_tanhf) \
  MF1(asinh, __builtin_asinhf) MF1(acosh, __builtin_acoshf) MF1(atanh, __builtin_atanhf) \
  MF1(sqrt, __builtin_sqrtf) MF1(rsqrt, msl_rsqrt) MF1(floor, __builtin_floorf) MF1(ceil, __builtin_ceilf) \
  MF1(round, __builtin_roundf) MF1(rint, __builtin_rintf) MF1(trunc, __builtin_truncf) \
  MF1(fabs, __builtin_fabsf) MF1(fract, msl_fract) \
  MF2(pow, __builtin_powf) MF2(powr, __builtin_powf) MF2(atan2, __builtin_atan2f) MF2(fmod, __builtin_fmodf) \
  MF2(fmin, __builtin_fminf) MF2(fmax, __builtin_fmaxf) MF2(copysign, __builtin_copysignf)
// clang-format on
MSL_ALL_MATH
MF1(sign, msl_sign);
MF1(saturate, msl_sat);
MF2(fdim, __builtin_fdimf);
MF2(nextafter, __builtin_nextafterf);
MSL_INL float sinpi(float x) { return __builtin_sinf(3.14159265358979f * x); }
MSL_INL float cospi(float x) { return __builtin_cosf(3.14159265358979f * x); }
MSL_INL float ldexp(float x, int e) { return __builtin_ldexpf(x, e); }
MSL_INL float frexp(float x, int &e) { return __builtin_frexpf(x, &e); }
MSL_INL float modf(float x, float &i) { return __builtin_modff(x, &i); }
MSL_INL int ilogb(float x) { return __builtin_ilogbf(x); }
MSL_INL float sincos(float x, float &c) {
  c = __builtin_cosf(x);
  return __builtin_sinf(x);
}
MSL_INL float divide(float a, float b) { return a / b; }
MSL_INL float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MSL_INL half fma(half a, half b, half c) { return (half)__builtin_fmaf(a, b, c); }
template <class T, int N> MSL_INL vec<T, N> fma(const vec<T, N> &a, const vec<T, N> &b, const vec<T, N> &c) {
  vec<T, N> r = a;
  for (int i = 0; i < N; i++) r.d[i] = fma(a.d[i], b.d[i], c.d[i]);
  return r;
}
template <class T> MSL_INL T mad(T a, T b, T c) { return fma(a, b, c); }
#define MM(T)                                                                                                          \
  MSL_INL constexpr T min(T a, T b) { return b < a ? b : a; }                                                          \
  MSL_INL constexpr T max(T a, T b) { return a < b ? b : a; }                                                          \
  MSL_INL constexpr T clamp(T x, T a, T b) { return x < a ? a : x > b ? b : x; }                                       \
  MSL_INL constexpr T min3(T a, T b, T c) { return min(a, min(b, c)); }                                                \
  MSL_INL constexpr T max3(T a, T b, T c) { return max(a, max(b, c)); }
MM(char);
MM(signed char);
MM(uchar);
MM(short);
MM(ushort);
MM(int);
MM(uint);
MM(long);
MM(ulong);
MM(half);
MSL_INL float min(float a, float b) { return __builtin_fminf(a, b); }
MSL_INL float max(float a, float b) { return __builtin_fmaxf(a, b); }
MSL_INL float clamp(float x, float a, float b) { return __builtin_fminf(__builtin_fmaxf(x, a), b); }
MSL_INL float max3(float a, float b, float c) { return max(a, max(b, c)); }
MSL_INL float min3(float a, float b, float c) { return min(a, min(b, c)); }
#undef MM
#define MSL_MIX(n)                                                                                                     \
  template <class T, int N, class U, class = std::enable_if_t<msl_scalar<U>>>                                          \
  MSL_INL vec<T, N> n(const vec<T, N> &v, U w) {                                                                       \
    return n(v, vec<T, N>(T(w)));                                                                                      \
  }                                                                                                                    \
  template <class T, int N, class U, class = std::enable_if_t<msl_scalar<U>>>                                          \
  MSL_INL vec<T, N> n(U w, const vec<T, N> &v) {                                                                       \
    return n(vec<T, N>(T(w)), v);                                                                                      \
  }
MSL_MIX(fmin);
MSL_MIX(fmax);
MSL_MIX(pow);
MSL_MIX(fmod);

#define MV2(n)                                                                                                         \
  template <class T, int N> MSL_INL vec<T, N> n(const vec<T, N> &v, const vec<T, N> &w) {                              \
    vec<T, N> r = v;                                                                                                   \
    for (int i = 0; i < N; i++) r.d[i] = n(v.d[i], w.d[i]);                                                            \
    return r;                                                                                                          \
  }                                                                                                                    \
  MSL_MIX(n)
MV2(min);
MV2(max);
template <class T, int N> MSL_INL vec<T, N> clamp(const vec<T, N> &v, const vec<T, N> &a, const vec<T, N> &b) {
  return min(max(v, a), b);
}
template <class T, int N> MSL_INL vec<T, N> clamp(const vec<T, N> &v, T a, T b) { return min(max(v, a), b); }
MSL_INL constexpr int abs(int x) { return x < 0 ? -x : x; }
MSL_INL constexpr long abs(long x) { return x < 0 ? -x : x; }
MSL_INL constexpr short abs(short x) { return x < 0 ? -x : x; }
MSL_INL constexpr char abs(char x) { return x < 0 ? -x : x; }
MSL_INL constexpr signed char abs(signed char x) { return x < 0 ? -x : x; }
MSL_INL float abs(float x) { return __builtin_fabsf(x); }
MSL_INL half abs(half x) { return (half)__builtin_fabsf(x); }
MSL_INL constexpr uint abs(uint x) { return x; }
MSL_INL constexpr uchar abs(uchar x) { return x; }
MSL_INL constexpr ushort abs(ushort x) { return x; }
MSL_INL constexpr ulong abs(ulong x) { return x; }
template <class T, int N> MSL_INL vec<T, N> abs(const vec<T, N> &v) {
  vec<T, N> r = v;
  for (int i = 0; i < N; i++) r.d[i] = abs(v.d[i]);
  return r;
}
template <class T> MSL_INL T mix(T a, T b, T t) { return a + (b - a) * t; }
MSL_INL float step(float e, float x) { return x < e ? 0.f : 1.f; }
MSL_INL float smoothstep(float a, float b, float x) {
  float t = clamp((x - a) / (b - a), 0.f, 1.f);
  return t * t * (3 - 2 * t);
}
template <class T, class = std::enable_if_t<msl_scalar<T>>> MSL_INL T select(T a, T b, bool c) { return c ? b : a; }
template <class T, int N> MSL_INL vec<T, N> select(const vec<T, N> &a, const vec<T, N> &b, const vec<bool, N> &c) {
  vec<T, N> r = a;
  for (int i = 0; i < N; i++) r.d[i] = c.d[i] ? b.d[i] : a.d[i];
  return r;
}
template <class T, int N> MSL_INL T dot(const vec<T, N> &a, const vec<T, N> &b) {
  T s = a.d[0] * b.d[0];
  for (int i = 1; i < N; i++) s += a.d[i] * b.d[i];
  return s;
}
template <class T, int N> MSL_INL T length(const vec<T, N> &a) { return T(sqrt(dot(a, a))); }
template <class T, int N> MSL_INL T distance(const vec<T, N> &a, const vec<T, N> &b) { return length(a - b); }
template <class T, int N> MSL_INL vec<T, N> normalize(const vec<T, N> &a) { return a * vec<T, N>(T(rsqrt(dot(a, a)))); }
template <int N> MSL_INL bool any(const vec<bool, N> &v) {
  bool r = false;
  for (int i = 0; i < N; i++) r |= v.d[i];
  return r;
}
template <int N> MSL_INL bool all(const vec<bool, N> &v) {
  bool r = true;
  for (int i = 0; i < N; i++) r &= v.d[i];
  return r;
}
MSL_INL bool any(bool b) { return b; }
MSL_INL bool all(bool b) { return b; }
#define MP(n, ex)                                                                                                      \
  MSL_INL bool n(float x) {                                                                                            \
    uint u = as_type<uint>(x);                                                                                         \
    (void)u;                                                                                                           \
    return ex;                                                                                                         \
  }                                                                                                                    \
  MSL_INL bool n(half h) { return n((float)h); }                                                                       \
  MSL_INL bool n(bfloat h) { return n((float)h); }                                                                     \
  template <class T, int N> MSL_INL vec<bool, N> n(const vec<T, N> &v) {                                               \
    vec<bool, N> r(false);                                                                                             \
    for (int i = 0; i < N; i++) r.d[i] = n(v.d[i]);                                                                    \
    return r;                                                                                                          \
  }
MP(isnan, (u & 0x7fffffff) > 0x7f800000);
MP(isinf, (u & 0x7fffffff) == 0x7f800000);
MP(isfinite, (u & 0x7f800000) != 0x7f800000);
MP(signbit, u >> 31);
MP(isnormal, (u & 0x7f800000) != 0x7f800000 && (u & 0x7f800000));

#undef MP
MSL_INL int popcount(uint x) { return __builtin_popcount(x); }
MSL_INL int popcount(int x) { return __builtin_popcount(x); }
MSL_INL ulong popcount(ulong x) { return __builtin_popcountl(x); }
MSL_INL uchar popcount(uchar x) { return __builtin_popcount(x); }
MSL_INL ushort popcount(ushort x) { return __builtin_popcount(x); }
MSL_INL uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
MSL_INL int clz(int x) { return x ? __builtin_clz(x) : 32; }
MSL_INL uint ctz(uint x) { return x ? __builtin_ctz(x) : 32; }
MSL_INL int ctz(int x) { return x ? __builtin_ctz(x) : 32; }
MSL_INL ulong clz(ulong x) { return x ? __builtin_clzl(x) : 64; }
MSL_INL ulong ctz(ulong x) { return x ? __builtin_ctzl(x) : 64; }
MSL_INL uint reverse_bits(uint x) { return __builtin_bitreverse32(x); }
MSL_INL uint mulhi(uint a, uint b) { return ((ulong)a * b) >> 32; }
MSL_INL int mulhi(int a, int b) { return ((long)a * b) >> 32; }
MSL_INL ulong mulhi(ulong a, ulong b) { return ((unsigned __int128)a * b) >> 64; }
MSL_INL uint rotate(uint x, uint n) {
  n &= 31;
  return n ? (x << n) | (x >> (32 - n)) : x;
}
MSL_INL int mul24(int a, int b) { return a * b; }
MSL_INL int mad24(int a, int b, int c) { return a * b + c; }
MSL_INL uint extract_bits(uint x, uint o, uint n) { return n == 32 ? x : (x >> o) & ((1u << n) - 1); }
MSL_INL int extract_bits(int x, uint o, uint n) { return n == 32 ? x : (x << (32 - o - n)) >> (32 - n); }
MSL_INL uint insert_bits(uint b, uint i, uint o, uint n) {
  uint m = (n == 32 ? ~0u : ((1u << n) - 1)) << o;
  return (b & ~m) | ((i << o) & m);
}
MSL_INL uint absdiff(int a, int b) { return a > b ? a - b : b - a; }
MSL_INL uint addsat(uint a, uint b) {
  uint r;
  return __builtin_add_overflow(a, b, &r) ? ~0u : r;
}
MSL_INL uint subsat(uint a, uint b) { return a > b ? a - b : 0; }
MSL_INL float4 unpack_unorm4x8_to_float(uint x) {
  return float4((x & 255) / 255.f, ((x >> 8) & 255) / 255.f, ((x >> 16) & 255) / 255.f, (x >> 24) / 255.f);
}
namespace fast {
MSL_ALL_MATH using metal::min;
using metal::clamp;
using metal::fma;
using metal::max;
MSL_INL float divide(float a, float b) { return a / b; }
using metal::isnan;
using metal::length;
using metal::normalize;
using metal::saturate;
using metal::sign;
} // namespace fast
namespace precise {
MSL_ALL_MATH using metal::min;
using metal::clamp;
using metal::fma;
using metal::max;
MSL_INL float divide(float a, float b) { return a / b; }
using metal::length;
using metal::normalize;
} // namespace precise
} // namespace metal
