// traits.h - the type traits of <metal_type_traits>, with half and bfloat as floating point.
#pragma once
#include "bfloat.h"
namespace metal {
using ::bfloat;
#ifndef MSL_STRICT
using ::half;
#endif
using ::as_type;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::ulong;
using ::ushort;
using std::bool_constant;
using std::conditional_t;
using std::enable_if_t;
using std::false_type;
using std::integral_constant;
using std::is_const_v;
using std::is_convertible_v;
using std::is_integral;
using std::is_integral_v;
using std::is_pointer_v;
using std::is_same;
using std::is_same_v;
using std::is_unsigned_v;
using std::make_signed_t;
using std::make_unsigned_t;
using std::remove_const_t;
using std::remove_cv_t;
using std::remove_pointer_t;
using std::remove_reference_t;
using std::size_t;
using std::true_type;
template <class T> struct is_floating_point
    : std::bool_constant<std::is_same_v<std::remove_cv_t<T>, float> || std::is_same_v<std::remove_cv_t<T>, half> ||
                         std::is_same_v<std::remove_cv_t<T>, bfloat>> {};
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> constexpr bool is_signed_v = std::is_signed_v<T> || is_floating_point_v<T>;
template <class T> struct is_arithmetic : std::bool_constant<std::is_integral_v<T> || is_floating_point_v<T>> {};
template <class T> constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> constexpr bool msl_scalar = is_arithmetic<std::remove_cv_t<T>>::value;
} // namespace metal
