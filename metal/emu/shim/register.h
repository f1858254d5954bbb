// register.h - what the rewriter's output calls: kernels, their parameters, function constants and values derived from
// them. Thunks come from template deduction over the kernel's function type.
#pragma once
#include "atomic.h"
#include "constants.h"
#define is_function_constant_defined(x) msl_fc_defined(&x)
#ifdef MSL_STRICT
#define MSL_PARAMS(...)
template <class R, class... A> inline void msl_use(R (*)(A...)) {}
#define MSL_REG(n, host, base, ...)                                                                                    \
  inline void msl_inst_##n() { msl_use(&__VA_ARGS__); }
#define MSL_FC(name, i)                                                                                                \
  inline int name##__fci() { return i; }
#define MSL_INIT(name, ...)                                                                                            \
  inline void name##__init() { name = (__VA_ARGS__); }
template <class T> bool msl_fc_defined(const T *p) { return true; }
#else
// ---- registration and argument thunks (emitted by the rewriter)
// ---------------------------------------------------------
extern "C" {
inline msl::Module msl_module;
__attribute__((visibility("default"), used)) msl::Module *msl_this_module() { return &msl_module; }
}
template <class T> bool msl_fc_defined(const T *p) {
  for (auto *f = msl_module.fcs; f; f = f->next)
    if (f->p == (const void *)p) return f->set;
  return false;
}
namespace msl {
template <class T> constexpr char fc_kind() {
  using U = std::remove_cv_t<T>;
  return std::is_same_v<U, bool> ? 'b' : metal::is_floating_point_v<U> ? 'f' : std::is_unsigned_v<U> ? 'u' : 'i';
}
struct RegFC {
  FConst c;
  template <class T> RegFC(const char *n, int i, T *p)
      : c{n, i, (void *)p, fc_kind<T>(), sizeof(T), false, msl_module.fcs} {
    msl_module.fcs = &c;
  }
};
struct RegInit {
  Reinit r;
  RegInit(void (*fn)()) : r{fn, nullptr, nullptr} {
    if (msl_module.re_last)
      msl_module.re_last->next = &r;
    else
      msl_module.re = &r;
    msl_module.re_last = &r;
    fn();
  }
};
__attribute__((visibility("default"))) uint32_t builtin(int b, int axis, TG *, Fiber *);
template <class U> struct Bi {
  static U get(int b, TG *t, Fiber *f) { return (U)builtin(b, 0, t, f); }
};
template <class U, int N> struct Bi<metal::vec<U, N>> {
  static metal::vec<U, N> get(int b, TG *t, Fiber *f) {
    metal::vec<U, N> v;
    for (int i = 0; i < N; i++) v.d[i] = (U)builtin(b, i, t, f);
    return v;
  }
};
__attribute__((visibility("default"))) void *arg_ptr(const Kernel *, int i, TG *);
template <class A> MSL_INL A arg(const Kernel *k, int i, TG *t, Fiber *f) {
  using B = std::remove_reference_t<A>;
  if constexpr (std::is_lvalue_reference_v<A>)
    return *(B *)arg_ptr(k, i, t);
  else if constexpr (std::is_pointer_v<A>)
    return (A)arg_ptr(k, i, t);
  else
    return Bi<std::remove_cv_t<B>>::get(k->p[i].index, t, f);
}
template <class F> struct Th;
template <class... A> struct Th<void(A...)> {
  template <size_t... I> static void go(const Kernel *k, TG *t, Fiber *f, std::index_sequence<I...>) {
    ((void (*)(A...))k->fn)(arg<A>(k, I, t, f)...);
  }
  static void call(const Kernel *k, TG *t, Fiber *f) { go(k, t, f, std::index_sequence_for<A...>{}); }
  template <class X> static const char *tn() { return __PRETTY_FUNCTION__; }
  template <class X> static ArgInfo one() {
    using P = std::remove_pointer_t<std::remove_reference_t<X>>;
    using Q = std::conditional_t<std::is_void_v<P>, char, P>;
    return {tn<X>(),           (uint32_t)sizeof(Q), (uint32_t)alignof(Q), std::is_pointer_v<X>, std::is_reference_v<X>,
            std::is_const_v<P>};
  }
  static const ArgInfo *info() {
    static const ArgInfo a[sizeof...(A) + 1] = {one<A>()...};
    return a;
  }
};
struct Reg {
  Kernel k;
  template <class R, class... A> Reg(const char *n, R (*fn)(A...), const Param *p, int np, const char *file, int line)
      : k{n, &Th<R(A...)>::call, p, np, &Th<R(A...)>::info, file, line, (void *)fn, nullptr, 0, msl_module.kernels} {
    msl_module.kernels = &k;
  }
};
} // namespace msl
#define MSL_PARAMS(name, ...) static const msl::Param name##__mslp[] = {__VA_ARGS__}
#define MSL_REG(n, host, base, ...)                                                                                    \
  static msl::Reg msl_reg_##n(host, &__VA_ARGS__, base##__mslp, sizeof(base##__mslp) / sizeof(msl::Param) - 1,         \
                              __FILE__, __LINE__)
#define MSL_FC(name, i) static msl::RegFC name##__fc(#name, (int)(i), &name)
#define MSL_INIT(name, ...) static msl::RegInit name##__ri([] { name = (__VA_ARGS__); })
#endif
#ifdef MSL_STRICT // words that OpenCL reserves and MSL does not
#define local msl_word_local
#define global msl_word_global
#define generic msl_word_generic
#define pipe msl_word_pipe
#define vec_step msl_word_vec_step
#define event_t msl_word_event_t
#endif
