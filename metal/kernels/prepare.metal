// Preparation of attention: split [q|gate], normalise q and k per head, rotate their first dimensions.
//
// The host sets D, the head size.

struct PrepareParams {
  uint rows, heads, keyHeads, rotary;
  float eps;
};

// One simdgroup for each row and head, first the query heads, then the key heads; eight in a threadgroup.
kernel void attention_prepare(constant PrepareParams &p [[buffer(0)]], device const float *qg [[buffer(1)]],
                              device const float *kRaw [[buffer(2)]], device const float *qNorm [[buffer(3)]],
                              device const float *kNorm [[buffer(4)]], device const float *cosines [[buffer(5)]],
                              device const float *sines [[buffer(6)]], device work *q [[buffer(7)]],
                              device work *gate [[buffer(8)]], device work *k [[buffer(9)]],
                              device atomic_uint *status [[buffer(30)]], uint group [[threadgroup_position_in_grid]],
                              uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float normed[8 * D];
  const uint all = p.heads + p.keyHeads, item = group * 8 + simd;
  if (item >= p.rows * all) return;
  const uint row = item / all, head = item % all, half_ = p.rotary / 2;
  const bool query = head < p.heads;
  device const float *src = query ? qg : kRaw;
  const ulong at = query ? (ulong(row) * p.heads + head) * 2 * D : (ulong(row) * p.keyHeads + head - p.heads) * D;
  const ulong to = query ? (ulong(row) * p.heads + head) * D : (ulong(row) * p.keyHeads + head - p.heads) * D;
  threadgroup float *mine = normed + simd * D;
  float s = 0;
  for (uint i = lane; i < D; i += 32) {
    const float v = src[at + i];
    mine[i] = v;
    s += v * v;
  }
  const float scale = rsqrt(simd_sum(s) / float(D) + p.eps);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  bool over = false;
  for (uint i = lane; i < D; i += 32) {
    float v = mine[i] * scale * (query ? qNorm[i] : kNorm[i]);
    if (i < p.rotary) {
      const uint pair = i < half_ ? i + half_ : i - half_, a = i < half_ ? i : pair;
      const float w = mine[pair] * scale * (query ? qNorm[pair] : kNorm[pair]);
      const float c = cosines[row * half_ + a], n = sines[row * half_ + a];
      v = i < half_ ? v * c - w * n : v * c + w * n;
    }
    if (query) {
      q[to + i] = narrow(v, over);
      gate[to + i] = narrow(qg[at + D + i], over);
    } else {
      k[to + i] = narrow(v, over);
    }
  }
  report(status, over);
}
