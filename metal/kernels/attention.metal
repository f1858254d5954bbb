// Attention: softmax(q · kᵀ) · v with an online softmax over blocks of 32 keys.
//
// The host sets D, the head size (a multiple of 8), and EXACT for q and k in float. v is always float.

#if EXACT
typedef float operand;
#else
typedef work operand;
#endif

constant bool kGate [[function_constant(0)]];   // multiply by sigmoid(gate)
constant uint kLimits [[function_constant(1)]]; // 0 all keys, 1 causal, 2 a span for each row
constant bool kSpans = kLimits == 2;

struct AttentionParams {
  uint rows, keys, past;
  uint heads, group;           // query heads for each key head
  uint qPitch, kPitch, oPitch; // elements in a row of q and gate, of k and v, of the output
  uint first;                  // first block of rows of this launch
  float scale;                 // of q · kᵀ, with log2(e)
};

constant constexpr uint kQueries = 32; // rows of a threadgroup: tokens of all query heads that share a key head
constant constexpr uint kKeys = 32;    // keys of a step
constant constexpr uint kBlocks = D / 8;
constant constexpr uint kOwn = (kBlocks + 3) / 4; // blocks of the output's columns for each of four simdgroups

// keys_fragment reads keys [key, key + 8), columns [c, c + 8), transposed; keys behind the end read as 0.
inline void keys_fragment(thread simdgroup_matrix<operand, 8, 8> &m, device const operand *p, ulong pitch, uint key,
                          uint keys, uint c, uint lane) {
  if (key + 8 <= keys) {
    simdgroup_load(m, p + key * pitch + c, pitch, ulong2(0, 0), true);
    return;
  }
  const uint r = fragment_row(lane), q = fragment_col(lane);
  for (uint e = 0; e < 2; e++) m.thread_elements()[e] = operand(key + q + e < keys ? float(p[(key + q + e) * pitch + c + r]) : 0.0f);
}

// values_fragment reads values [key, key + 8), columns [c, c + 8), as operands.
inline void values_fragment(thread simdgroup_matrix<operand, 8, 8> &m, device const float *p, ulong pitch, uint key,
                            uint keys, uint c, uint lane, thread bool &over) {
  const uint r = key + fragment_row(lane), q = c + fragment_col(lane);
  float2 v = float2(0.0f);
  if (r < keys) v = *(device const float2 *)(p + r * pitch + q);
#if EXACT
  m.thread_elements()[0] = v.x;
  m.thread_elements()[1] = v.y;
#else
  m.thread_elements()[0] = narrow(v.x, over);
  m.thread_elements()[1] = narrow(v.y, over);
#endif
}

kernel void attention(constant AttentionParams &p [[buffer(0)]], device const operand *q [[buffer(1)]],
                      device const operand *k [[buffer(2)]], device const float *v [[buffer(3)]],
                      device const operand *gate [[buffer(4), function_constant(kGate)]],
                      device const uint2 *spans [[buffer(5), function_constant(kSpans)]], device float *out [[buffer(6)]],
                      device atomic_uint *status [[buffer(30)]], uint2 group [[threadgroup_position_in_grid]],
                      uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                      uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup operand qs[kQueries * D], ps[kQueries * kKeys];
  threadgroup float ss[kQueries * kKeys], factor[kQueries];
  threadgroup uint stop[1];
  if (tid == 0) stop[0] = cancelled(status);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (stop[0] != 0) return;
  const uint total = p.rows * p.group, first = (p.first + group.x) * kQueries, head = group.y;

  // Blocks of 8x8 of q, contiguous; row r is token r / group of query head r % group.
  for (uint i = tid; i < kQueries * kBlocks; i += 128) {
    const uint r = first + i / kBlocks, b = i % kBlocks;
    threadgroup operand *dst = qs + (i / kBlocks / 8 * kBlocks + b) * 64 + i / kBlocks % 8 * 8;
    device const operand *src = q + ulong(min(r, total - 1) / p.group) * p.qPitch + (head * p.group + min(r, total - 1) % p.group) * D + b * 8;
    for (uint j = 0; j < 8; j++) dst[j] = operand(r < total ? float(src[j]) : 0.0f);
  }

  // Four neighbouring threads share a row of scores; each looks after 8 keys.
  const uint row = tid / 4, part = tid % 4 * 8;
  uint from = 0, to = p.keys;
  const uint token = min(first + row, total - 1) / p.group;
  if (kLimits == 1) to = min(p.past + token + 1, p.keys);
  if (kSpans) {
    from = spans[token].x;
    to = min(spans[token].y, p.keys);
  }
  // Keys that any row of the threadgroup needs.
  uint low = 0, high = p.keys;
  if (kLimits == 1) high = min(p.past + min(first + kQueries - 1, total - 1) / p.group + 1, p.keys);
  if (kSpans) {
    low = p.keys;
    high = 0;
    for (uint t = min(first, total - 1) / p.group; t <= min(first + kQueries - 1, total - 1) / p.group; t++) {
      low = min(low, spans[t].x);
      high = max(high, min(spans[t].y, p.keys));
    }
    low = low / kKeys * kKeys;
  }

  simdgroup_float8x8 acc[4][kOwn];
  for (uint i = 0; i < 4; i++)
    for (uint j = 0; j < kOwn; j++) acc[i][j] = make_filled_simdgroup_matrix<float, 8>(0.0f);
  float top = -1e30f, sum = 0;
  device const operand *kh = k + head * D;
  device const float *vh = v + head * D;
  bool over = false;

  for (uint key = low; key < high; key += kKeys) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 s[4];
    for (uint i = 0; i < 4; i++) s[i] = make_filled_simdgroup_matrix<float, 8>(0.0f);
    for (uint b = 0; b < kBlocks; b++) {
      simdgroup_matrix<operand, 8, 8> kf;
      keys_fragment(kf, kh, p.kPitch, key + simd * 8, p.keys, b * 8, lane);
      for (uint i = 0; i < 4; i++) {
        simdgroup_matrix<operand, 8, 8> qf;
        simdgroup_load(qf, qs + (i * kBlocks + b) * 64, 8);
        simdgroup_multiply_accumulate(s[i], qf, kf, s[i]);
      }
    }
    for (uint i = 0; i < 4; i++) simdgroup_store(s[i], ss + i * 8 * kKeys + simd * 8, kKeys);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    float score[8], most = -1e30f;
    for (uint j = 0; j < 8; j++) {
      const uint at = key + part + j;
      score[j] = ss[row * kKeys + part + j] * p.scale;
      if (at >= from && at < to) most = max(most, score[j]);
    }
    most = max(most, simd_shuffle_xor(most, 1));
    most = max(most, simd_shuffle_xor(most, 2));
    most = max(most, top);
    const float shrink = exp2(top - most);
    top = most;
    sum *= shrink;
    for (uint j = 0; j < 8; j++) {
      const uint at = key + part + j;
      const float e = at >= from && at < to ? exp2(score[j] - most) : 0.0f;
      sum += e;
      ps[row * kKeys + part + j] = operand(e);
    }
    if (part == 0) factor[row] = shrink;
    threadgroup_barrier(mem_flags::mem_threadgroup);

    simdgroup_matrix<operand, 8, 8> pf[4][4];
    for (uint i = 0; i < 4; i++) {
      const float f = factor[i * 8 + fragment_row(lane)];
      for (uint j = 0; j < kOwn; j++) {
        acc[i][j].thread_elements()[0] *= f;
        acc[i][j].thread_elements()[1] *= f;
      }
      for (uint n = 0; n < 4; n++) simdgroup_load(pf[i][n], ps + i * 8 * kKeys + n * 8, kKeys);
    }
    for (uint j = 0; j < kOwn; j++) {
      const uint b = simd + j * 4;
      if (b >= kBlocks) continue;
      for (uint n = 0; n < 4; n++) {
        simdgroup_matrix<operand, 8, 8> vf;
        values_fragment(vf, vh, p.kPitch, key + n * 8, p.keys, b * 8, lane, over);
        for (uint i = 0; i < 4; i++) simdgroup_multiply_accumulate(acc[i][j], pf[i][n], vf, acc[i][j]);
      }
    }
  }

  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum += simd_shuffle_xor(sum, 1);
  sum += simd_shuffle_xor(sum, 2);
  if (part == 0) factor[row] = sum > 0 ? 1.0f / sum : 0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < 4; i++) {
    const uint r = first + i * 8 + fragment_row(lane);
    if (r >= total) continue;
    const uint h = head * p.group + r % p.group;
    const float f = factor[i * 8 + fragment_row(lane)];
    for (uint j = 0; j < kOwn; j++) {
      const uint b = simd + j * 4;
      if (b >= kBlocks) continue;
      for (uint e = 0; e < 2; e++) {
        const uint d = b * 8 + fragment_col(lane) + e;
        float o = acc[i][j].thread_elements()[e] * f;
        if (kGate) o *= sigmoid(float(gate[ulong(r / p.group) * p.qPitch + h * D + d]));
        out[ulong(r / p.group) * p.oPitch + h * D + d] = o;
      }
    }
  }
  report(status, over);
}
