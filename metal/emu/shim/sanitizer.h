// sanitizer.h - the callbacks that clang's sanitizer instrumentation calls. They are ours, not the sanitizers'
// runtimes: every load and store goes to the shadow, every atomic through one function, undefined behaviour becomes a
// finding.
#pragma once
#define UB(n, args, fatal, msg, ...)                                                                                   \
  extern "C" void __ubsan_handle_##n args {                                                                            \
    if (g_on) {                                                                                                        \
      errpc(self(), (uintptr_t)__builtin_return_address(0) - 1, msg, ##__VA_ARGS__);                                   \
      if (fatal) abort_tg(self());                                                                                     \
    }                                                                                                                  \
  }
UB(type_mismatch_v1, (void *, uintptr_t p), false, "misaligned or null access: 0x%lx is not aligned for its type",
   (unsigned long)p)
UB(out_of_bounds, (void *, uintptr_t i), true, "array index %ld out of bounds", (long)i)
UB(shift_out_of_bounds, (void *, uintptr_t, uintptr_t n), false, "shift count %ld out of range", (long)n)
#define PC (uintptr_t)__builtin_return_address(0) - 1
extern "C" {
#define RW(n)                                                                                                          \
  void __tsan_read##n(void *a) { access((uintptr_t)a, n, false, PC); }                                                 \
  void __tsan_write##n(void *a) { access((uintptr_t)a, n, true, PC); }                                                 \
  void __tsan_unaligned_read##n(void *a) { access((uintptr_t)a, n, false, PC); }                                       \
  void __tsan_unaligned_write##n(void *a) { access((uintptr_t)a, n, true, PC); }                                       \
  void __tsan_read_write##n(void *a) {                                                                                 \
    access((uintptr_t)a, n, false, PC);                                                                                \
    access((uintptr_t)a, n, true, PC);                                                                                 \
  }                                                                                                                    \
  void __tsan_unaligned_read_write##n(void *a) {                                                                       \
    access((uintptr_t)a, n, false, PC);                                                                                \
    access((uintptr_t)a, n, true, PC);                                                                                 \
  }                                                                                                                    \
  void __tsan_volatile_read##n(void *a) { access((uintptr_t)a, n, false, PC); }                                        \
  void __tsan_volatile_write##n(void *a) { access((uintptr_t)a, n, true, PC); }
RW(1) RW(2) RW(4) RW(8) RW(16) void *__tsan_memcpy(void *d, const void *s, size_t n) {
  access((uintptr_t)s, n, false, PC);
  access((uintptr_t)d, n, true, PC);
  return memcpy(d, s, n);
}
void *__tsan_memmove(void *d, const void *s, size_t n) {
  access((uintptr_t)s, n, false, PC);
  access((uintptr_t)d, n, true, PC);
  return memmove(d, s, n);
}
void *__tsan_memset(void *d, int c, size_t n) {
  access((uintptr_t)d, n, true, PC);
  return memset(d, c, n);
}
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
uint64_t msl_atomic(void *p, int size, int op, uint64_t v, uint64_t expect, int *ok) {
  access((uintptr_t)p, size & 255, op != 0, PC, true);
  bool fl = size & 256, sg = size & 512;
  size &= 255;
  auto rmw = [&](auto *q) -> uint64_t {
    using T = std::remove_pointer_t<decltype(q)>;
    if (op == 0) return __atomic_load_n(q, __ATOMIC_RELAXED);
    if (op == 9) {
      T e = (T)expect;
      *ok = __atomic_compare_exchange_n(q, &e, (T)v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
      return e;
    }
    T o = __atomic_load_n(q, __ATOMIC_RELAXED), nw;
    do {
      T x = (T)v;
      auto sx = (std::make_signed_t<T>)x, so = (std::make_signed_t<T>)o;
      (void)sx;
      switch (op) {
      case 1:
        nw = x;
        break;
      case 2:
        if (fl) {
          float a, b;
          memcpy(&a, &o, 4);
          memcpy(&b, &x, 4);
          a += b;
          nw = 0;
          memcpy(&nw, &a, 4);
        } else
          nw = o + x;
        break;
      case 3:
        nw = o - x;
        break;
      case 4:
        nw = sg ? (T)(sx < so ? sx : so) : x < o ? x : o;
        break;
      case 5:
        nw = sg ? (T)(sx > so ? sx : so) : x > o ? x : o;
        break;
      case 6:
        nw = o & x;
        break;
      case 7:
        nw = o | x;
        break;
      default:
        nw = o ^ x;
      }
    } while (!__atomic_compare_exchange_n(q, &o, nw, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return o;
  };
  if (size == 1) return rmw((uint8_t *)p);
  if (size == 2) return rmw((uint16_t *)p);
  if (size == 4) return rmw((uint32_t *)p);
  return rmw((uint64_t *)p);
}
}
