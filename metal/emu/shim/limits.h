// limits.h - metal::numeric_limits.
#pragma once
#include "vector.h"
namespace metal {
template <class T> struct numeric_limits;
#define L(T, lo, hi)                                                                                                   \
  template <> struct numeric_limits<T> {                                                                               \
    static constexpr T max() { return hi; }                                                                            \
    static constexpr T min() { return lo; }                                                                            \
    static constexpr T lowest() { return lo; }                                                                         \
    static constexpr bool is_integer = true;                                                                           \
    static constexpr int digits = sizeof(T) * 8 - (lo < 0);                                                            \
    static constexpr T infinity() { return 0; }                                                                        \
  };
L(bool, false, true);
L(char, -128, 127);
L(signed char, -128, 127);
L(uchar, 0, 255);
L(short, -32768, 32767);
L(ushort, 0, 65535);
L(int, (-2147483647 - 1), 2147483647);
L(uint, 0, 4294967295u);
L(long, (-9223372036854775807L - 1), 9223372036854775807L);
L(ulong, 0, 18446744073709551615UL);

#undef L
template <> struct numeric_limits<float> {
  static constexpr float max() { return 3.402823466e38f; }
  static constexpr float min() { return 1.175494351e-38f; }
  static constexpr float lowest() { return -max(); }
  static constexpr float infinity() { return __builtin_inff(); }
  static constexpr float quiet_NaN() { return __builtin_nanf(""); }
  static constexpr float epsilon() { return 1.1920929e-7f; }
  static constexpr bool is_integer = false;
};
template <> struct numeric_limits<half> {
  static constexpr half max() { return (half)65504.f; }
  static constexpr half min() { return (half)6.103515625e-5f; }
  static constexpr half lowest() { return (half)-65504.f; }
  static constexpr half infinity() { return (half)__builtin_inff(); }
  static constexpr half quiet_NaN() { return (half)__builtin_nanf(""); }
  static constexpr half epsilon() { return (half)9.765625e-4f; }
  static constexpr bool is_integer = false;
};
template <> struct numeric_limits<bfloat> {
  static constexpr bfloat max() { return as_type<bfloat>((ushort)0x7f7f); }
  static constexpr bfloat min() { return as_type<bfloat>((ushort)0x0080); }
  static constexpr bfloat lowest() { return as_type<bfloat>((ushort)0xff7f); }
  static constexpr bfloat infinity() { return as_type<bfloat>((ushort)0x7f80); }
  static constexpr bfloat quiet_NaN() { return as_type<bfloat>((ushort)0x7fc0); }
  static constexpr bfloat epsilon() { return bfloat(0.0078125f); }
  static constexpr bool is_integer = false;
};
} // namespace metal
