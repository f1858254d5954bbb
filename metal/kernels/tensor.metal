// Matrix products on the tensor units of the M5 (Metal 4, macOS 26.2): what gemm.metal computes, through matmul2d of
// MetalPerformancePrimitives. A library of its own, because a system whose compiler refuses it must lose nothing else.
//
// Tensor units multiply float no faster than simdgroups do, and bfloat four times as fast. So a float becomes the sum of
// two bfloats, 17 bits together, and a product two or three passes: with weights that are half or bfloat, high · w and
// low · w; else high · high, low · high and high · low. Unlike half, bfloat never leaves its range.
//
// A tile is two halves of BN / 2 columns, which for SwiGLU are gate and up: elements of two cooperative tensors from one
// descriptor lie in the same lanes, wherever the implementation puts them. All tiles walk K in steps of BK = 32.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>

#if WEIGHTS == 2
typedef bfloat factor;
#else
typedef weight factor;
#endif

// split8 stores eight floats as the sum of two bfloats.
inline void split8(threadgroup bfloat *high, threadgroup bfloat *low, Eight v) {
  const vec<bfloat, 4> a = vec<bfloat, 4>(v.lo), b = vec<bfloat, 4>(v.hi);
  *(threadgroup vec<bfloat, 4> *)high = a;
  *(threadgroup vec<bfloat, 4> *)(high + 4) = b;
  *(threadgroup vec<bfloat, 4> *)low = vec<bfloat, 4>(v.lo - float4(a));
  *(threadgroup vec<bfloat, 4> *)(low + 4) = vec<bfloat, 4>(v.hi - float4(b));
}

kernel void gemm_tensor(PRODUCT_ARGUMENTS, uint2 group [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]]) {
  constexpr uint threads = WM * WN * 32, half_columns = BN / 2, KB = BK / 8;
  threadgroup bfloat xh[BM * BK];
  threadgroup bfloat xl[BM * BK];
  threadgroup factor wh[BN * BK];
#if WEIGHTS == 2
  threadgroup bfloat wl[BN * BK];
#endif
  threadgroup uint stop[1];
  if (tid == 0) stop[0] = cancelled(status);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (stop[0] != 0) return;

  const uint m0 = group.x * BM;
  PRODUCT_SELECT(kEpilogue == 2 ? half_columns : BN)

  constexpr auto shape = mpp::tensor_ops::matmul2d_descriptor(
      BM, half_columns, BK, false, true, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
  mpp::tensor_ops::matmul2d<shape, execution_simdgroups<WM * WN>> multiply;
  using left = tensor<threadgroup bfloat, extents<int32_t, BK, BM>, tensor_inline>;
  using right = tensor<threadgroup factor, extents<int32_t, BK, half_columns>, tensor_inline>;
  left high(xh, extents<int32_t, BK, BM>()), low(xl, extents<int32_t, BK, BM>());
  right first(wh, extents<int32_t, BK, half_columns>());
  right second(wh + half_columns * BK, extents<int32_t, BK, half_columns>());
#if WEIGHTS == 2
  right firstLow(wl, extents<int32_t, BK, half_columns>());
  right secondLow(wl + half_columns * BK, extents<int32_t, BK, half_columns>());
#endif
  auto sum = multiply.template get_destination_cooperative_tensor<left, right, float>();
  auto sum2 = multiply.template get_destination_cooperative_tensor<left, right, float>();
  for (ushort i = 0; i < sum.get_capacity(); i++)
    if (sum.is_valid_element(i)) {
      sum[i] = 0.0f;
      sum2[i] = 0.0f;
    }

  for (uint k0 = 0; k0 < p.k; k0 += BK) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; i < BM * KB; i += threads) {
      const uint r = i / KB, b = i % KB;
      split8(xh + r * BK + 8 * b, xl + r * BK + 8 * b, slab_x(x, m0 + r, p.m, k0 + 8 * b, p.k));
    }
    for (uint i = tid; i < BN * KB; i += threads) {
      const uint r = i / KB, b = i % KB;
      const bool upper = kEpilogue == 2 && r >= half_columns;
      const uint n = n0 + (upper ? r - half_columns : r);
      Eight v;
      v.lo = v.hi = float4(0.0f);
      if (k0 + 8 * b < p.k && n < seg.rows) {
        if (upper)
          v = weights8(up, other, n, k0 + 8 * b, p.k);
        else
          v = weights8(t, seg, n, k0 + 8 * b, p.k);
      }
#if WEIGHTS == 2
      split8(wh + r * BK + 8 * b, wl + r * BK + 8 * b, v);
#else
      store8(wh + r * BK + 8 * b, v);
#endif
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply.run(high, first, sum);
    multiply.run(low, first, sum);
    multiply.run(high, second, sum2);
    multiply.run(low, second, sum2);
#if WEIGHTS == 2
    multiply.run(high, firstLow, sum);
    multiply.run(high, secondLow, sum2);
#endif
  }

  PRODUCT_TARGET
  for (ushort i = 0; i < sum.get_capacity(); i++) {
    if (!sum.is_valid_element(i)) continue;
    const auto at = sum.get_multidimensional_index(i);
    const uint n = n0 + uint(at[0]), m = m0 + uint(at[1]);
    if (m >= p.m) continue;
    if (kEpilogue == 2) {
      if (n < seg.rows) dst[ulong(m) * seg.rows + n] = silu(sum[i]) * sum2[i];
      continue;
    }
    if (n < seg.rows) finish(dst, bias, biased, m, n, seg.rows, sum[i]);
    if (n + half_columns < seg.rows) finish(dst, bias, biased, m, n + half_columns, seg.rows, sum2[i]);
  }
}
