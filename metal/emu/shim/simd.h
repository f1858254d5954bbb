// simd.h - barriers and simdgroup exchange: shuffles, reductions, scans, votes.
#pragma once
#include "numeric.h"
namespace metal {
enum class mem_flags : uint {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags((uint)a | (uint)b); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags((uint)a & (uint)b); }
MSL_INL void threadgroup_barrier(mem_flags f, int line = __builtin_LINE()) { msl_tg_barrier((uint)f, line); }
MSL_INL void simdgroup_barrier(mem_flags f, int line = __builtin_LINE()) { msl_sg_barrier((uint)f, line); }
MSL_INL void atomic_thread_fence(mem_flags, ...) {}
// simd rendezvous with value exchange. Double-buffered slots: a lane can be at most one operation ahead.
struct SGX {
  msl::SG *s;
  uint p, lane, act;
};
MSL_INL SGX msl_xchg(const void *v, size_t n, msl_str op, int line) {
  auto *f = msl::self();
  auto *s = f->sg;
  uint p = f->parity ^= 1;
  (void)n;
  unsigned char *dst = s->slot[p][f->lane];
  for (size_t i = 0; i < n; i++) dst[i] = ((const unsigned char *)v)[i];
  f->op = op;
  f->line = line;
  msl_sg_wait(f);
  return {s, p, f->lane, s->active[p]};
}
template <class T> MSL_INL T msl_get(const SGX &x, uint lane) {
  T r;
  __builtin_memcpy(&r, x.s->slot[x.p][lane & 31], sizeof(T));
  return r;
}
template <class T> using msl_raw_t = std::remove_cv_t<T>;
#define SHUF(n, idx, def)                                                                                              \
  template <class T> MSL_INL T n(T v, ushort k, int line = __builtin_LINE()) {                                         \
    SGX x = msl_xchg(&v, sizeof(T), #n, line);                                                                         \
    uint l = x.lane;                                                                                                   \
    (void)l;                                                                                                           \
    int j = idx;                                                                                                       \
    if (j < 0 || j > 31 || !(x.act >> j & 1)) return def;                                                              \
    return msl_get<T>(x, j);                                                                                           \
  }
SHUF(simd_shuffle, (int)k, v);
SHUF(simd_broadcast, (int)k, v);
SHUF(simd_shuffle_xor, (int)(l ^ k), v);
SHUF(simd_shuffle_up, (int)l - (int)k, v);
SHUF(simd_shuffle_down, (int)l + (int)k, v);
SHUF(simd_shuffle_rotate_up, (int)((l - k) & 31), v);
SHUF(simd_shuffle_rotate_down, (int)((l + k) & 31), v);
SHUF(quad_shuffle, (int)((l & ~3u) | (k & 3)), v);
SHUF(quad_broadcast, (int)((l & ~3u) | (k & 3)), v);
SHUF(quad_shuffle_xor, (int)(l ^ (k & 3)), v);
SHUF(quad_shuffle_up, (int)(l & 3) >= (int)k ? (int)l - k : -1, v);
SHUF(quad_shuffle_down, (int)(l & 3) + k < 4 ? (int)l + k : -1, v);

#undef SHUF
template <class T> MSL_INL T simd_shuffle_and_fill_up(T v, T fill, ushort k, int line = __builtin_LINE()) {
  T vv[2] = {v, fill};
  SGX x = msl_xchg(vv, sizeof vv, "simd_shuffle_and_fill_up", line);
  int j = (int)x.lane - k;
  if (j >= 0) return msl_get<T>(x, j);
  T o[2];
  __builtin_memcpy(o, x.s->slot[x.p][j + 32], sizeof o);
  return o[1];
}
template <class T> MSL_INL T simd_shuffle_and_fill_up(T v, T fill, ushort k, ushort m, int line = __builtin_LINE()) {
  T vv[2] = {v, fill};
  SGX x = msl_xchg(vv, sizeof vv, "simd_shuffle_and_fill_up", line);
  int j = (int)(x.lane % m) - k;
  if (j >= 0) return msl_get<T>(x, x.lane - k);
  T o[2];
  __builtin_memcpy(o, x.s->slot[x.p][(x.lane / m) * m + j + m], sizeof o);
  return o[1];
}
template <class T> MSL_INL T simd_shuffle_and_fill_down(T v, T fill, ushort k, ushort m, int line = __builtin_LINE()) {
  T vv[2] = {v, fill};
  SGX x = msl_xchg(vv, sizeof vv, "simd_shuffle_and_fill_down", line);
  int j = (int)(x.lane % m) + k;
  if (j < (int)m) return msl_get<T>(x, x.lane + k);
  T o[2];
  __builtin_memcpy(o, x.s->slot[x.p][(x.lane / m) * m + j - m], sizeof o);
  return o[1];
}
template <class T> MSL_INL T simd_shuffle_and_fill_down(T v, T fill, ushort k, int line = __builtin_LINE()) {
  T vv[2] = {v, fill};
  SGX x = msl_xchg(vv, sizeof vv, "simd_shuffle_and_fill_down", line);
  int j = (int)x.lane + k;
  if (j < 32) return msl_get<T>(x, j);
  T o[2];
  __builtin_memcpy(o, x.s->slot[x.p][j - 32], sizeof o);
  return o[1];
}
// Reductions: fixed xor tree, evaluated once per rendezvous by the first lane that resumes.
template <class T, class F> MSL_INL T msl_reduce(T v, T ident, F f, msl_str op, int line) {
  SGX x = msl_xchg(&v, sizeof(T), op, line);
  T r;
  if (!x.s->done[x.p]) {
    T o[32];
    for (int i = 0; i < 32; i++) {
      o[i] = ident;
      if (x.act >> i & 1) o[i] = msl_get<T>(x, i);
    }
    for (int k = 16; k; k >>= 1)
      for (int i = 0; i < k; i++) o[i] = f(o[i], o[i + k]);
    __builtin_memcpy(x.s->res[x.p], &o[0], sizeof(T));
    x.s->done[x.p] = 1;
  }
  __builtin_memcpy(&r, x.s->res[x.p], sizeof(T));
  return r;
}
template <class T> struct msl_lim {
  static T hi() {
    if constexpr (is_floating_point_v<T>)
      return numeric_limits<T>::infinity();
    else
      return numeric_limits<T>::max();
  }
  static T lo() {
    if constexpr (is_floating_point_v<T>)
      return -numeric_limits<T>::infinity();
    else
      return numeric_limits<T>::min();
  }
};
template <class T, int N> struct msl_lim<vec<T, N>> {
  static vec<T, N> hi() { return vec<T, N>(msl_lim<T>::hi()); }
  static vec<T, N> lo() { return vec<T, N>(msl_lim<T>::lo()); }
};
#define RED(n, id, ex)                                                                                                 \
  template <class T> MSL_INL T n(T v, int line = __builtin_LINE()) {                                                   \
    return msl_reduce<T>(v, T(id), [](T a, T b) { return T(ex); }, #n, line);                                          \
  }
RED(simd_sum, 0, a + b);
RED(simd_product, 1, a *b);
RED(simd_max, msl_lim<T>::lo(), max(a, b));
RED(simd_min, msl_lim<T>::hi(), min(a, b));
RED(simd_and, ~T(0), a &b);
RED(simd_or, 0, a | b);
RED(simd_xor, 0, a ^ b);

#undef RED
MSL_INL bool simd_all(bool v, int line = __builtin_LINE()) {
  return msl_reduce<int>(v, 1, [](int a, int b) { return a & b; }, "simd_all", line);
}
MSL_INL bool simd_any(bool v, int line = __builtin_LINE()) {
  return msl_reduce<int>(v, 0, [](int a, int b) { return a | b; }, "simd_any", line);
}
#define SCAN(n, id, ex, incl)                                                                                          \
  template <class T> MSL_INL T n(T v, int line = __builtin_LINE()) {                                                   \
    SGX x = msl_xchg(&v, sizeof(T), #n, line);                                                                         \
    T a = T(id);                                                                                                       \
    for (uint i = 0; i < x.lane + incl; i++)                                                                           \
      if (x.act >> i & 1) {                                                                                            \
        T b = msl_get<T>(x, i);                                                                                        \
        a = T(ex);                                                                                                     \
      }                                                                                                                \
    return a;                                                                                                          \
  }
SCAN(simd_prefix_inclusive_sum, 0, a + b, 1);
SCAN(simd_prefix_exclusive_sum, 0, a + b, 0);
SCAN(simd_prefix_inclusive_product, 1, a *b, 1);
SCAN(simd_prefix_exclusive_product, 1, a *b, 0);

#undef SCAN
template <class T> MSL_INL T quad_sum(T v, int line = __builtin_LINE()) {
  SGX x = msl_xchg(&v, sizeof(T), "quad_sum", line);
  uint b = x.lane & ~3u;
  return T((msl_get<T>(x, b) + msl_get<T>(x, b + 1)) + (msl_get<T>(x, b + 2) + msl_get<T>(x, b + 3)));
}
template <class T> MSL_INL T quad_max(T v, int line = __builtin_LINE()) {
  SGX x = msl_xchg(&v, sizeof(T), "quad_max", line);
  uint b = x.lane & ~3u;
  return max(max(msl_get<T>(x, b), msl_get<T>(x, b + 1)), max(msl_get<T>(x, b + 2), msl_get<T>(x, b + 3)));
}
template <class T> MSL_INL T simd_broadcast_first(T v, int line = __builtin_LINE()) {
  SGX x = msl_xchg(&v, sizeof(T), "simd_broadcast_first", line);
  return msl_get<T>(x, __builtin_ctz(x.act));
}
struct simd_vote {
  ulong v;
  operator ulong() const { return v; }
  bool all() const { return v == 0xffffffff; }
  bool any() const { return v; }
  using vote_t = ulong;
};
MSL_INL simd_vote simd_ballot(bool v, int line = __builtin_LINE()) {
  SGX x = msl_xchg(&v, 1, "simd_ballot", line);
  ulong r = 0;
  for (int i = 0; i < 32; i++)
    if (x.act >> i & 1 && msl_get<bool>(x, i)) r |= 1ul << i;
  return {r};
}
MSL_INL bool simd_is_first(int line = __builtin_LINE()) {
  char c = 0;
  SGX x = msl_xchg(&c, 1, "simd_is_first", line);
  return (uint)__builtin_ctz(x.act) == x.lane;
}
MSL_INL simd_vote simd_active_threads_mask(int line = __builtin_LINE()) {
  char c = 0;
  SGX x = msl_xchg(&c, 1, "simd_active_threads_mask", line);
  return {x.act};
}
} // namespace metal
