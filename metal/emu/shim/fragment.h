// fragment.h - simdgroup_matrix: 8x8 fragments with two elements per lane, in Apple's undocumented but stable lane map.
#pragma once
#include "simd.h"
namespace metal {
template <class T, int R, int C> struct simdgroup_matrix {
  static_assert(R == 8 && C == 8, "only 8x8 simdgroup matrices exist");
  using storage_type = vec<T, 2>;
  vec<T, 2> e;
  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T diag) {
    int r, c;
    rc(r, c);
    e = vec<T, 2>(r == c ? diag : T(0), r == c + 1 ? diag : T(0));
  }
  thread vec<T, 2> &thread_elements() { return *(thread vec<T, 2> *)&e; }
  const thread vec<T, 2> &thread_elements() const { return *(const thread vec<T, 2> *)&e; }
  static MSL_INL void rc(int &r, int &c) {
    uint l = msl::self()->lane, q = l / 4;
    r = (q & 4) + (l / 2) % 4;
    c = (q & 2) * 2 + (l % 2) * 2;
  }
};
using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;
template <class T, int R, int C = R> MSL_INL simdgroup_matrix<T, R, C> make_filled_simdgroup_matrix(T v) {
  simdgroup_matrix<T, R, C> m;
  m.e = vec<T, 2>(v);
  return m;
}
template <class T, int R, int C = R> MSL_INL simdgroup_matrix<T, R, C> make_diagonal_simdgroup_matrix(T v) {
  return simdgroup_matrix<T, R, C>(v);
}
template <class T, class P> MSL_INL void simdgroup_load(simdgroup_matrix<T, 8, 8> &m, P src, ulong ld = 8,
                                                        ulong2 o = ulong2(0ul), bool tr = false) {
  int r, c;
  m.rc(r, c);
  if (!tr) {
    src += (o.y + r) * ld + o.x + c;
    m.e.d[0] = T(src[0]);
    m.e.d[1] = T(src[1]);
  } else {
    src += (o.x + c) * ld + o.y + r;
    m.e.d[0] = T(src[0]);
    m.e.d[1] = T(src[ld]);
  }
}
template <class T, class P> MSL_INL void simdgroup_store(const simdgroup_matrix<T, 8, 8> &m, P dst, ulong ld = 8,
                                                         ulong2 o = ulong2(0ul), bool tr = false) {
  int r, c;
  m.rc(r, c);
  if (!tr) {
    dst += (o.y + r) * ld + o.x + c;
    dst[0] = m.e.d[0];
    dst[1] = m.e.d[1];
  } else {
    dst += (o.x + c) * ld + o.y + r;
    dst[0] = m.e.d[0];
    dst[ld] = m.e.d[1];
  }
}
} // namespace metal
// Batched MMA: the lanes deposit fragment addresses; the last one to arrive multiplies for the whole simdgroup.
typedef float msl_f8 __attribute__((ext_vector_type(8)));
template <class D, class A, class B, class C>
__attribute__((noinline, no_sanitize("thread"))) void msl_mma_all(msl::SG *s, bool hasC) {
  alignas(32) float a[8][8];
  msl_f8 b[8], d[8];
  for (int l = 0; l < 32; l++) {
    int q = l / 4, r = (q & 4) + (l / 2) % 4, c = (q & 2) * 2 + (l % 2) * 2;
    const A *pa = (const A *)s->mm[l].a;
    const B *pb = (const B *)s->mm[l].b;
    a[r][c] = (float)pa[0];
    a[r][c + 1] = (float)pa[1];
    ((float *)&b[r])[c] = (float)pb[0];
    ((float *)&b[r])[c + 1] = (float)pb[1];
    const C *pc = (const C *)s->mm[l].c;
    ((float *)&d[r])[c] = hasC ? (float)pc[0] : 0.f;
    ((float *)&d[r])[c + 1] = hasC ? (float)pc[1] : 0.f;
  }
  for (int r = 0; r < 8; r++) {
    msl_f8 x = d[r];
    for (int k = 0; k < 8; k++) {
      msl_f8 av = a[r][k];
      x = __builtin_elementwise_fma(av, b[k], x);
    }
    d[r] = x;
  }
  for (int l = 0; l < 32; l++) {
    int q = l / 4, r = (q & 4) + (l / 2) % 4, c = (q & 2) * 2 + (l % 2) * 2;
    D *pd = (D *)s->mm[l].d;
    pd[0] = D(((float *)&d[r])[c]);
    pd[1] = D(((float *)&d[r])[c + 1]);
  }
}
template <class D, class A, class B, class C>
MSL_INL void msl_mma(metal::simdgroup_matrix<D, 8, 8> &d, const metal::simdgroup_matrix<A, 8, 8> &a,
                     const metal::simdgroup_matrix<B, 8, 8> &b, const metal::simdgroup_matrix<C, 8, 8> *c, int line) {
  auto *f = msl::self();
  auto *s = f->sg;
  uint l = f->lane;
  s->mm[l].a = &a.e;
  s->mm[l].b = &b.e;
  s->mm[l].c = c ? &c->e : nullptr;
  s->mm[l].d = &d.e;
  f->op = "simdgroup_multiply_accumulate";
  f->line = line;
  asm volatile("" ::: "memory");
  uint me = 1u << l, arr = s->arrived | me;
  bool plain = s->alive == s->all && (arr == me || (s->pend_op == f->op && s->pend_line == (uint)line));
  if (!plain) msl_sg_wait(f); // reports the divergence and does not return
  if (arr == s->all) {
    msl_mma_all<D, A, B, C>(s, c != nullptr);
    s->arrived = 0;
    s->ready = s->alive;
  } else {
    s->arrived = arr;
    s->pend_op = f->op;
    s->pend_line = line;
    msl_sg_yield(f);
  }
  asm volatile("" ::: "memory");
}
namespace metal {
template <class D, class A, class B, class C>
MSL_INL void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                                           const simdgroup_matrix<B, 8, 8> &b, const simdgroup_matrix<C, 8, 8> &c,
                                           int line = __builtin_LINE()) {
  msl_mma(d, a, b, &c, line);
}
template <class D, class A, class B>
MSL_INL void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                                const simdgroup_matrix<B, 8, 8> &b, int line = __builtin_LINE()) {
  msl_mma(d, a, b, (const simdgroup_matrix<D, 8, 8> *)nullptr, line);
}
template <class T>
MSL_INL simdgroup_matrix<T, 8, 8> operator*(const simdgroup_matrix<T, 8, 8> &a, const simdgroup_matrix<T, 8, 8> &b) {
  simdgroup_matrix<T, 8, 8> d;
  simdgroup_multiply(d, a, b);
  return d;
}
} // namespace metal
