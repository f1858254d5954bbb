// tensor.h - the part of <metal_tensor> and MetalPerformancePrimitives that kernels use: inline tensors with static extents
// and matmul2d into cooperative tensors, by whole threadgroups. What Apple leaves to the implementation is unfriendly here:
// elements are spread over the threads in an odd order, one in each thread is not valid, and nothing starts as zero.
#pragma once
#include "fragment.h"
namespace metal {
constexpr int dynamic_extent = -1;
template <class Index, int... Sizes> struct extents {
  using index_type = Index;
  static constexpr int size(int i) {
    const int all[] = {Sizes...};
    return all[i];
  }
  static constexpr int rank = sizeof...(Sizes);
};
struct tensor_inline {};
template <int N> struct execution_simdgroups {
  static constexpr int count = N;
};
using execution_simdgroup = execution_simdgroups<1>;
template <class Element, class Extents, class Kind> struct tensor {
  static_assert(Extents::rank == 2, "matmul2d takes tensors of two dimensions");
  static_assert(std::is_same_v<Kind, tensor_inline>, "only inline tensors are emulated");
  using element_type = Element;
  using extents_type = Extents;
  Element *data;
  tensor(Element *p, Extents) : data(p) {}
};
} // namespace metal
// The header's own text makes mpp::tensor_ops a name of this, so that a source that does not include it fails here too.
namespace msl_tensor_ops {
struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };
};
// A descriptor is a template argument. C++17 takes no structs there, so this one is a number with the fields in it: the
// function hides the struct, which is still found in front of "::mode".
constexpr ulong matmul2d_descriptor(int m, int n, int k = metal::dynamic_extent, bool left = false, bool right = false,
                                    bool relaxed = false,
                                    matmul2d_descriptor::mode how = matmul2d_descriptor::mode::multiply) {
  return ulong(m) | ulong(n) << 16 | ulong(k & 0xffff) << 32 | ulong(left) << 48 | ulong(right) << 49 |
         ulong(relaxed) << 50 | ulong(how) << 51;
}
template <class T> struct msl_plain { // without address space
  using type = std::remove_cv_t<T>;
};
#ifdef MSL_STRICT
template <class T> struct msl_plain<__local T> {
  using type = std::remove_cv_t<T>;
};
template <class T> struct msl_plain<__global T> {
  using type = std::remove_cv_t<T>;
};
#endif
// The types that Apple's table allows, with float results.
template <class L, class R>
constexpr bool msl_multiplies = (metal::is_floating_point_v<L> && metal::is_floating_point_v<R>);
// msl_cooperative is a destination of M x N elements spread over Threads threads.
template <class T, int M, int N, int Threads> struct msl_cooperative {
  static constexpr int count = M * N / Threads;
  T e[count + 1];
  msl_cooperative() {
    for (int i = 0; i <= count; i++) e[i] = metal::numeric_limits<T>::quiet_NaN();
  }
  constexpr ushort get_capacity() const { return count + 1; }
  constexpr bool is_valid_element(ushort i) const { return i != 1; }
  thread T &operator[](ushort i) { return *(thread T *)&e[i]; }
  // place is the number of element i of this thread in the tile: threads own strided, rotated elements.
  static MSL_INL int place(int i, int thread_index) {
    const int k = i > 1 ? i - 1 : i;
    return k * Threads + (thread_index * 5 + k) % Threads;
  }
  metal::vec<int, 2> get_multidimensional_index(ushort i) const {
    if (i == 1) return metal::vec<int, 2>(1 << 20, 1 << 20);
    const int at = place(i, msl_thread());
    return metal::vec<int, 2>(at % N, at / N);
  }
#ifdef MSL_STRICT
  static int msl_thread() { return 0; }
#else
  static MSL_INL int msl_thread() { return msl::self()->tid; }
#endif
};
template <ulong Descriptor, class Scope> struct matmul2d {
  static constexpr int M = Descriptor & 0xffff, N = Descriptor >> 16 & 0xffff, K = Descriptor >> 32 & 0xffff;
  static constexpr bool TL = Descriptor >> 48 & 1, TR = Descriptor >> 49 & 1, accumulate = Descriptor >> 51 & 1;
  static constexpr int threads = Scope::count * 32;
  static_assert(M % 16 == 0 && N % 16 == 0 && K % 16 == 0, "tensor units multiply blocks of 16");
  static_assert(M * N % threads == 0, "a tile is spread evenly over the threads");
  template <class L, class R, class T> msl_cooperative<T, M, N, threads> get_destination_cooperative_tensor() const {
    check<L, R>();
    return msl_cooperative<T, M, N, threads>();
  }
#ifndef MSL_STRICT
  // touch reads every element once, by some thread of the scope: which one is the implementation's business.
  template <class E> static void touch(const E *p, int n, int t) {
    for (int i = t; i < n; i += threads) {
      const E v = p[(i + 37) % n];
      asm volatile("" ::"m"(v));
    }
  }
  // multiply does the arithmetic without the checks, which touch has done.
  template <class A, class B, class T>
  __attribute__((noinline, no_sanitize("thread"))) static void
  multiply(const A *left, const B *right, msl_cooperative<T, M, N, threads> &sum, int t) {
    for (int i = 0; i < sum.get_capacity(); i++) {
      if (!sum.is_valid_element(i)) continue;
      const int at = sum.place(i, t), m = at / N, n = at % N;
      float s = accumulate ? float(sum.e[i]) : 0.0f;
      for (int k = 0; k < K; k++) {
        const float a = float(left[TL ? k * M + m : m * K + k]), b = float(right[TR ? n * K + k : k * N + n]);
        s = __builtin_fmaf(a, b, s);
      }
      sum.e[i] = T(s);
    }
  }
#endif
  template <class L, class R> static constexpr void check() {
    using A = typename L::extents_type;
    using B = typename R::extents_type;
    static_assert(A::size(TL ? 1 : 0) == K && A::size(TL ? 0 : 1) == M, "left operand has other extents");
    static_assert(B::size(TR ? 0 : 1) == K && B::size(TR ? 1 : 0) == N, "right operand has other extents");
    static_assert(msl_multiplies<typename msl_plain<typename L::element_type>::type,
                                 typename msl_plain<typename R::element_type>::type>,
                  "matmul2d does not multiply these types");
  }
  template <class L, class R, class T>
  void run(thread L &left, thread R &right, thread msl_cooperative<T, M, N, threads> &sum,
           int line = __builtin_LINE()) const {
    check<L, R>();
#ifndef MSL_STRICT
    msl_tensor_op(Scope::count, line);
    const int t = msl::self()->tid;
    touch(left.data, M * K, t);
    touch(right.data, N * K, t);
    multiply(left.data, right.data, sum, t);
#endif
  }
};
} // namespace msl_tensor_ops
