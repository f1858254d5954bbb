// constants.h - the macros of <metal_math> and the C limits.
#pragma once
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define MAXFLOAT 3.402823466e38f
#define FLT_MAX 3.402823466e38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.1920929e-7f
#define HALF_MAX ((half)65504.f)
#define HALF_MIN ((half)6.103515625e-5f)
#define MAXHALF ((half)65504.f)
#define M_PI_F 3.14159265358979323846f
#define M_PI_H ((half)3.14159265f)
#define M_PI_2_F 1.57079632679489661923f
#define M_1_PI_F 0.31830988618379067154f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LN10_F 2.30258509299404568402f
#define M_LOG10E_F 0.43429448190325182765f
#define M_PI_4_F 0.78539816339744830962f
#define M_2_PI_F 0.63661977236758134308f
#define M_LN2_F 0.69314718055994530942f
#define M_E_F 2.71828182845904523536f
#define M_SQRT2_F 1.41421356237309504880f
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define CHAR_BIT 8
#endif
