// bfloat.h - bfloat as in MSL 3.1: 8 significant bits, round to nearest even, implicit to float, explicit from float.
#pragma once
#include "space.h"
// bfloat: 8-bit mantissa, round to nearest even; explicit from float, implicit to float (as MSL 3.1).
struct bfloat {
  unsigned short b;
  bfloat() = default;
  static constexpr MSL_INL unsigned short rne(float f) {
    uint u = __builtin_bit_cast(uint, f);
    if ((u & 0x7fffffff) > 0x7f800000) return (u >> 16) | 64;
    return (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  }
  constexpr MSL_INL explicit bfloat(float f) : b(rne(f)) {}
  constexpr MSL_INL explicit bfloat(half f) : b(rne((float)f)) {}
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>> constexpr bfloat(T f) : b(rne((float)f)) {}
  constexpr MSL_INL float f() const { return __builtin_bit_cast(float, (uint)b << 16); }
  template <class T, class = std::enable_if_t<std::is_same_v<T, float>>> constexpr MSL_INL operator T() const {
    return f();
  } // implicit to float only
  template <class T,
            class = std::enable_if_t<(std::is_integral_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, half>>,
            class = int>
  constexpr explicit operator T() const {
    return (T)f();
  }
  constexpr explicit operator bool() const { return f() != 0; }
  constexpr bfloat operator-() const {
    bfloat r(0.f);
    r.b = b ^ 0x8000;
    return r;
  }
#define O(o)                                                                                                           \
  friend constexpr bfloat operator o(bfloat x, bfloat y) { return bfloat((float)x o(float) y); }                       \
  template <class T> constexpr bfloat &operator o## = (T y) { return *this = bfloat((float)*this o(float) y); }        \
  friend constexpr float operator o(bfloat x, float y) { return (float)x o y; }                                        \
  friend constexpr float operator o(float x, bfloat y) { return x o(float) y; }                                        \
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>>                                                  \
  friend constexpr bfloat operator o(bfloat x, T y) {                                                                  \
    return bfloat((float)x o(float) y);                                                                                \
  }                                                                                                                    \
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>, class = int>                                     \
  friend constexpr bfloat operator o(T x, bfloat y) {                                                                  \
    return bfloat((float)x o(float) y);                                                                                \
  }
  O(+);
  O(-);
  O(*);
  O(/);

#undef O
#define O(o)                                                                                                           \
  friend constexpr bool operator o(bfloat x, bfloat y) { return x.f() o y.f(); }                                       \
  friend constexpr bool operator o(bfloat x, float y) { return x.f() o y; }                                            \
  friend constexpr bool operator o(float x, bfloat y) { return x o y.f(); }
  O(==);
  O(!=);
  O(<);
  O(>);
  O(<=);
  O(>=);

#undef O
};
