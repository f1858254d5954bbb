// atomic.h - relaxed atomics, the only order that MSL has.
#pragma once
#include "fragment.h"
namespace metal {
#define atomic_uint msl_atomic_uint // OpenCL mode predefines these names
#define atomic_int msl_atomic_int
#define atomic_float msl_atomic_float
#define atomic_ulong msl_atomic_ulong
#define memory_order msl_memory_order
#define memory_order_relaxed msl_memory_order_relaxed
enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
template <class T> struct _atomic {
  T v;
};
template <class T> using atomic = _atomic<T>;
using atomic_uint = _atomic<uint>;
using atomic_int = _atomic<int>;
using atomic_float = _atomic<float>;
using atomic_bool = _atomic<bool>;
using atomic_ulong = _atomic<ulong>;
template <class T> MSL_INL T msl_at(const volatile _atomic<T> *p, int op, T v) {
  ulong u = 0;
  __builtin_memcpy(&u, &v, sizeof v);
  ulong r = msl_atomic((void *)p, sizeof(T) | (std::is_same_v<T, float> ? 256 : 0) | (std::is_signed_v<T> ? 512 : 0),
                       op, u, 0, nullptr);
  T o;
  __builtin_memcpy(&o, &r, sizeof o);
  return o;
}
template <class T> struct msl_id {
  using type = T;
};
template <class T> MSL_INL T atomic_load_explicit(const volatile _atomic<T> *p, memory_order) {
  return msl_at(p, 0, T());
}
#define AT(n, op)                                                                                                      \
  template <class T> MSL_INL T n(volatile _atomic<T> *p, typename msl_id<T>::type v, memory_order) {                   \
    return msl_at(p, op, v);                                                                                           \
  }
AT(atomic_exchange_explicit, 1);
AT(atomic_fetch_add_explicit, 2);
AT(atomic_fetch_sub_explicit, 3);
AT(atomic_fetch_min_explicit, 4);
AT(atomic_fetch_max_explicit, 5);
AT(atomic_fetch_and_explicit, 6);
AT(atomic_fetch_or_explicit, 7);
AT(atomic_fetch_xor_explicit, 8);

#undef AT
template <class T>
MSL_INL void atomic_store_explicit(volatile _atomic<T> *p, typename msl_id<T>::type v, memory_order) {
  msl_at(p, 1, v);
}
template <class T> MSL_INL bool atomic_compare_exchange_weak_explicit(volatile _atomic<T> *p, T *e,
                                                                      typename msl_id<T>::type v, memory_order,
                                                                      memory_order) {
  ulong u = 0, x = 0;
  __builtin_memcpy(&u, &v, sizeof v);
  __builtin_memcpy(&x, e, sizeof v);
  int ok;
  ulong r = msl_atomic((void *)p, sizeof(T), 9, u, x, &ok);
  __builtin_memcpy(e, &r, sizeof v);
  return ok;
}
} // namespace metal
