// Matrix products of dense weights straight from device memory, through the cache of a core: no threadgroup memory and no
// barriers. Public measurements have this ahead on M3 and later (metal.md 1.3). Sums are those of gemm.metal, bit for bit.
//
// All weights of a launch are of the type that WEIGHTS says, and the depth is a multiple of 8.

// stored8 loads the 8x8 block of w that multiplies depths [k, k + 8) for outputs [n, n + 8); outputs from rows on are zero.
inline simdgroup_matrix<weight, 8, 8> stored8(device const uchar *w, uint pitch, uint n, uint rows, uint k, uint lane) {
  simdgroup_matrix<weight, 8, 8> b;
  if (n + 8 <= rows) {
    simdgroup_load(b, (device const weight *)(w + ulong(n) * pitch) + k, pitch / sizeof(weight), ulong2(0, 0), true);
    return b;
  }
  for (uint e = 0; e < 2; e++) {
    const uint row = n + fragment_col(lane) + e;
    weight v = weight(0.0f);
    if (row < rows) v = ((device const weight *)(w + ulong(row) * pitch))[k + fragment_row(lane)];
    b.thread_elements()[e] = v;
  }
  return b;
}

kernel void gemm_direct(PRODUCT_ARGUMENTS, uint2 group [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
  constexpr uint FM = BM / WM / 8, FN = BN / WN / 8;
  if (simd_broadcast(cancelled(status), 0) != 0) return;

  const uint sm = simd / WN * FM, sn = simd % WN * FN; // first fragment row and column of this simdgroup
  const uint m0 = group.x * BM + sm * 8;
  PRODUCT_SELECT(kEpilogue == 2 ? BN / 2 : BN)

  simdgroup_float8x8 acc[FM][FN];
  for (uint i = 0; i < FM; i++)
    for (uint j = 0; j < FN; j++) acc[i][j] = make_filled_simdgroup_matrix<float, 8>(0.0f);

  for (uint k = 0; k < p.k; k += 8) {
    simdgroup_float8x8 a[FM];
    simdgroup_matrix<weight, 8, 8> b[FN];
    for (uint i = 0; i < FM; i++) {
      const uint m = m0 + i * 8 + fragment_row(lane);
      float2 v = float2(0.0f);
      if (m < p.m) v = *(device const float2 *)(x + ulong(m) * p.k + k + fragment_col(lane));
      a[i].thread_elements()[0] = v.x;
      a[i].thread_elements()[1] = v.y;
    }
    for (uint j = 0; j < FN; j++) {
      if (kEpilogue != 2)
        b[j] = stored8(t.w, seg.pitch, n0 + (sn + j) * 8, seg.rows, k, lane);
      else if (j % 2 == 0) // blocks of gate and up rows alternate
        b[j] = stored8(t.w, seg.pitch, n0 + (sn + j) * 4, seg.rows, k, lane);
      else
        b[j] = stored8(up.w, other.pitch, n0 + (sn + j - 1) * 4, seg.rows, k, lane);
    }
    for (uint i = 0; i < FM; i++)
      for (uint j = 0; j < FN; j++) {
        const uint s = i % 2 == 0 ? j : FN - 1 - j; // serpentine: the last fragment of a row serves the next
        simdgroup_multiply_accumulate(acc[i][s], a[i], b[s], acc[i][s]);
      }
  }

  PRODUCT_TARGET
  finish_tile(acc, dst, bias, biased, m0, p.m, n0, sn, seg.rows, lane);
}
