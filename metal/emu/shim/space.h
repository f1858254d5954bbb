// space.h - address spaces and scalar types of the Metal Shading Language.
//
// Two readings of the same text. The strict pass gives the address spaces their meaning through clang's OpenCL C++
// front end, so that mixing them is a type error; the run passes make them empty, so that the text is plain C++17.
#pragma once
#ifdef __OPENCL_CPP_VERSION__
#define MSL_STRICT 1
#pragma OPENCL EXTENSION __cl_clang_variadic_functions : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma clang diagnostic ignored "-Wpedantic-core-features"
#endif
#include "runtime.h"
#include <type_traits>
#include <utility>
#pragma clang diagnostic ignored "-Wduplicate-decl-specifier"
#pragma clang diagnostic ignored "-Wunknown-attributes"
#pragma clang diagnostic ignored "-Wundefined-internal"
#ifdef MSL_STRICT
#define device __global
#define constant const __constant
#define threadgroup __local
#define thread __private
#else
#define device
#define constant const
#define threadgroup
#define thread
#endif
#define kernel
#define MSL_INL __attribute__((always_inline)) inline
#define METAL_FUNC MSL_INL
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#ifndef MSL_STRICT
typedef _Float16 half;
#endif
using std::size_t;
#define double MSL_error_double_is_not_in_MSL

template <class D, class S> constexpr MSL_INL D as_type(const S &s) {
  static_assert(sizeof(D) == sizeof(S), "as_type: size mismatch");
  if constexpr (std::is_trivially_copyable_v<D> && std::is_trivially_copyable_v<S>)
    return __builtin_bit_cast(D, s);
  else {
    D d;
    __builtin_memcpy((void *)&d, (const void *)&s, sizeof d);
    return d;
  }
}
