// Matrix products: dst = act(x · wᵀ + bias), up to four weights over one x in one launch, with the residual add
// and SwiGLU in the epilogue. Weights are expanded on the way to threadgroup memory, once for each tile of BM rows.
//
// The host sets the tile: BM x BN outputs, BK of K at a time, WM x WN simdgroups. Operands from x are float: rounding
// them moves answers. K is walked in steps of 8 in every tile shape, so all shapes give the same bits. With AHEAD, the next
// slab of the depth is on its way to registers while this one is multiplied.

// slab_w reads eight numbers of row r of a tile of weights; for SwiGLU, blocks of gate and up rows alternate.
inline Eight slab_w(thread const Weights &t, constant Segment &seg, thread const Weights &up, constant Segment &other,
                    uint n0, uint r, uint k, uint depth) {
  const uint n = n0 + (kEpilogue == 2 ? r / 16 * 8 + r % 8 : r);
  Eight v;
  v.lo = v.hi = float4(0.0f);
  if (k >= depth || n >= seg.rows) return v;
  if (kEpilogue == 2 && r / 8 % 2 != 0) return weights8(up, other, n, k, depth);
  return weights8(t, seg, n, k, depth);
}

kernel void gemm(PRODUCT_ARGUMENTS, uint2 group [[threadgroup_position_in_grid]],
                 uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                 uint simd [[simdgroup_index_in_threadgroup]]) {
  constexpr uint threads = WM * WN * 32;
  constexpr uint FM = BM / WM / 8, FN = BN / WN / 8, KB = BK / 8;
  threadgroup float xs[BM * BK];
  threadgroup weight ws[BN * BK];
  threadgroup uint stop[1];
  if (tid == 0) stop[0] = cancelled(status);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (stop[0] != 0) return;

  const uint m0 = group.x * BM;
  PRODUCT_SELECT(kEpilogue == 2 ? BN / 2 : BN) // SwiGLU makes half as many outputs of the columns of a tile

  simdgroup_float8x8 acc[FM][FN];
  for (uint i = 0; i < FM; i++)
    for (uint j = 0; j < FN; j++) acc[i][j] = make_filled_simdgroup_matrix<float, 8>(0.0f);
  const uint sm = simd / WN * FM, sn = simd % WN * FN; // first fragment row and column of this simdgroup

  constexpr uint XN = (BM * KB + threads - 1) / threads, YN = (BN * KB + threads - 1) / threads; // of a thread in a slab
#if AHEAD
  Eight nx[XN], ny[YN];
  for (uint j = 0; j < XN; j++) {
    const uint i = tid + j * threads;
    nx[j] = slab_x(x, m0 + i / KB, p.m, i % KB * 8, p.k);
  }
  for (uint j = 0; j < YN; j++) {
    const uint i = tid + j * threads;
    ny[j] = slab_w(t, seg, up, other, n0, i / KB, i % KB * 8, p.k);
  }
#endif
  for (uint k0 = 0; k0 < p.k; k0 += BK) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < XN; j++) {
      const uint i = tid + j * threads, r = i / KB, b = i % KB;
      if (i >= BM * KB) break;
#if AHEAD
      store8(xs + (r / 8 * KB + b) * 64 + r % 8 * 8, nx[j]);
#else
      store8(xs + (r / 8 * KB + b) * 64 + r % 8 * 8, slab_x(x, m0 + r, p.m, k0 + 8 * b, p.k));
#endif
    }
    for (uint j = 0; j < YN; j++) {
      const uint i = tid + j * threads, r = i / KB, b = i % KB;
      if (i >= BN * KB) break;
#if AHEAD
      store8(ws + (r / 8 * KB + b) * 64 + r % 8 * 8, ny[j]);
#else
      store8(ws + (r / 8 * KB + b) * 64 + r % 8 * 8, slab_w(t, seg, up, other, n0, r, k0 + 8 * b, p.k));
#endif
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#if AHEAD
    for (uint j = 0; j < XN; j++) {
      const uint i = tid + j * threads;
      nx[j] = slab_x(x, m0 + i / KB, p.m, k0 + BK + i % KB * 8, p.k);
    }
    for (uint j = 0; j < YN; j++) {
      const uint i = tid + j * threads;
      ny[j] = slab_w(t, seg, up, other, n0, i / KB, k0 + BK + i % KB * 8, p.k);
    }
#endif
    for (uint kb = 0; kb < KB; kb++) {
      simdgroup_float8x8 a[FM];
      simdgroup_matrix<weight, 8, 8> b[FN];
      for (uint i = 0; i < FM; i++) simdgroup_load(a[i], xs + ((sm + i) * KB + kb) * 64, 8);
      for (uint j = 0; j < FN; j++) simdgroup_load(b[j], ws + ((sn + j) * KB + kb) * 64, 8, ulong2(0, 0), true);
      for (uint i = 0; i < FM; i++)
        for (uint j = 0; j < FN; j++) {
          const uint s = i % 2 == 0 ? j : FN - 1 - j; // serpentine: the last fragment of a row serves the next
          simdgroup_multiply_accumulate(acc[i][s], a[i], b[s], acc[i][s]);
        }
    }
  }

  PRODUCT_TARGET
  finish_tile(acc, dst, bias, biased, m0 + sm * 8, p.m, n0, sn, seg.rows, lane);
}
