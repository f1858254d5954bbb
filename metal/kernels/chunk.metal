// The gated delta rule in chunks (after delta.metal, which has the parameters). delta_prepare does what chunks can do
// side by side, delta_scan carries the state from chunk to chunk.

constant constexpr uint kChunk = 32;
constant constexpr uint kRowBlocks = kChunk / 8, kKeyBlocks = KD / 8, kValueBlocks = VD / 8;

// Scratch of one chunk of one head, in floats: -W and exp(G)·Q and exp(Gc-G)·K (chunk x KD), U (chunk x VD),
// P (chunk x chunk), exp(Gc), then padding.
constant constexpr uint kAtW = 0, kAtQ = kChunk * KD, kAtK = 2 * kChunk * KD, kAtU = 3 * kChunk * KD;
constant constexpr uint kAtP = kAtU + kChunk * VD, kAtDecay = kAtP + kChunk * kChunk, kScratch = kAtDecay + 8;

// rows_fragment reads an 8x8 block of x, rows from t, columns from c, as float; rows behind the end read as 0.
inline void rows_fragment(thread simdgroup_float8x8 &m, device const float *x, ulong pitch, uint t, uint rows, uint c, uint lane, bool turned) {
  for (uint e = 0; e < 2; e++) {
    const uint a = fragment_row(lane), b = fragment_col(lane) + e;
    const uint r = t + (turned ? b : a), d = c + (turned ? a : b);
    m.thread_elements()[e] = r < rows ? x[r * pitch + d] : 0.0f;
  }
}

// scale_columns multiplies the columns of a block by f[c…].
inline void scale_columns(thread simdgroup_float8x8 &m, threadgroup const float *f, uint lane) {
  m.thread_elements()[0] *= f[fragment_col(lane)];
  m.thread_elements()[1] *= f[fragment_col(lane) + 1];
}

kernel void delta_prepare(constant DeltaParams &p [[buffer(0)]], device const float *x [[buffer(1)]],
                          device const float *g [[buffer(2)]], device const float *beta [[buffer(3)]],
                          device float *scratch [[buffer(4)]], uint2 group [[threadgroup_position_in_grid]],
                          uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                          uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float ks[kChunk * KD], as[kChunk * kChunk], xs[kChunk * kChunk];
  threadgroup float sum[kChunk], gain[kChunk], lift[kChunk], qScale[kChunk];
  const uint h = group.y, t0 = (p.chunk + group.x) * kChunk;
  const ulong pitch = width(p);
  device float *mine = scratch + ulong(group.x * p.valueHeads + h) * kScratch;

  // Normalised keys to threadgroup memory, one simdgroup for each row; the norm of each query.
  for (uint r = simd; r < kChunk; r += 4) {
    const uint t = t0 + r;
    const ulong at = ulong(min(t, p.rows - 1)) * pitch;
    float a = 0, b = 0;
    for (uint i = lane; i < KD; i += 32) {
      const float u = x[at + query_at(p, h) + i], v = x[at + key_at(p, h) + i];
      a += u * u;
      b += v * v;
    }
    a = rsqrt(simd_sum(a) + p.eps) * p.scale;
    b = rsqrt(simd_sum(b) + p.eps);
    for (uint i = lane; i < KD; i += 32) ks[r * KD + i] = t < p.rows ? x[at + key_at(p, h) + i] * b : 0.0f;
    if (lane == 0) qScale[r] = t < p.rows ? a : 0.0f;
  }
  if (simd == 0) {
    const uint t = t0 + lane;
    const float cumulative = simd_prefix_inclusive_sum(t < p.rows ? g[min(t, p.rows - 1) * p.valueHeads + h] : 0.0f);
    sum[lane] = cumulative;
    gain[lane] = t < p.rows ? beta[min(t, p.rows - 1) * p.valueHeads + h] : 0.0f;
    lift[lane] = -gain[lane] * exp(cumulative);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // A[i][j] = beta_i (k_i·k_j) exp(G_i - G_j) below the diagonal; P[i][j] = (q_i·k_j) exp(G_i - G_j) with it. Each
  // simdgroup has 8 rows.
  const uint row = simd * 8 + fragment_row(lane);
  for (uint j = 0; j < kRowBlocks; j++) {
    simdgroup_float8x8 kk = make_filled_simdgroup_matrix<float, 8>(0.0f), qk = kk;
    if (j <= simd) {
      for (uint b = 0; b < kKeyBlocks; b++) {
        simdgroup_float8x8 left, right, query;
        simdgroup_load(left, ks + simd * 8 * KD + b * 8, KD);
        simdgroup_load(right, ks + j * 8 * KD + b * 8, KD, ulong2(0, 0), true);
        rows_fragment(query, x, pitch, t0 + simd * 8, p.rows, query_at(p, h) + b * 8, lane, false);
        simdgroup_multiply_accumulate(kk, left, right, kk);
        simdgroup_multiply_accumulate(qk, query, right, qk);
      }
    }
    for (uint e = 0; e < 2; e++) {
      const uint column = j * 8 + fragment_col(lane) + e;
      const float fade = column <= row ? exp(sum[row] - sum[column]) : 0.0f;
      as[row * kChunk + column] = column < row ? gain[row] * kk.thread_elements()[e] * fade : 0.0f;
      mine[kAtP + row * kChunk + column] = qk.thread_elements()[e] * qScale[row] * fade;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // X = (I + A)⁻¹ by forward substitution, a column for each lane of the first simdgroup. Repeated squaring is faster
  // and gives NaN for keys that are nearly parallel.
  if (simd == 0) {
    float v[kChunk];
    for (uint i = 0; i < kChunk; i++) {
      float s = i == lane ? 1.0f : 0.0f;
      for (uint m = 0; m < i; m++) s = fma(-as[i * kChunk + m], v[m], s);
      v[i] = s;
      xs[i * kChunk + lane] = s;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // -W = X · diag(-beta exp(G)) · K and U = X · diag(beta) · V, 8 rows for each simdgroup.
  simdgroup_float8x8 xw[kRowBlocks], xu[kRowBlocks];
  for (uint j = 0; j <= simd; j++) {
    simdgroup_load(xw[j], xs + simd * 8 * kChunk + j * 8, kChunk);
    xu[j] = xw[j];
    scale_columns(xw[j], lift + j * 8, lane);
    scale_columns(xu[j], gain + j * 8, lane);
  }
  for (uint b = 0; b < kKeyBlocks; b++) {
    simdgroup_float8x8 w = make_filled_simdgroup_matrix<float, 8>(0.0f), k;
    for (uint j = 0; j <= simd; j++) {
      simdgroup_load(k, ks + j * 8 * KD + b * 8, KD);
      simdgroup_multiply_accumulate(w, xw[j], k, w);
    }
    simdgroup_store(w, mine + kAtW + simd * 8 * KD + b * 8, KD);
  }
  for (uint b = 0; b < kValueBlocks; b++) {
    simdgroup_float8x8 u = make_filled_simdgroup_matrix<float, 8>(0.0f), v;
    for (uint j = 0; j <= simd; j++) {
      rows_fragment(v, x, pitch, t0 + j * 8, p.rows, value_at(p, h) + b * 8, lane, false);
      simdgroup_multiply_accumulate(u, xu[j], v, u);
    }
    simdgroup_store(u, mine + kAtU + simd * 8 * VD + b * 8, VD);
  }
  const float last = sum[kChunk - 1];
  for (uint i = tid; i < kChunk * KD; i += 128) {
    const uint r = i / KD, t = t0 + r;
    const float q = t < p.rows ? x[ulong(t) * pitch + query_at(p, h) + i % KD] : 0.0f;
    mine[kAtQ + i] = q * qScale[r] * exp(sum[r]);
    mine[kAtK + i] = ks[i] * exp(last - sum[r]);
  }
  if (tid == 0) mine[kAtDecay] = exp(last);
}

// One simdgroup for each 8 value columns of a head, with the full state of these columns in registers: no exchange.
kernel void delta_scan(constant DeltaParams &p [[buffer(0)]], device const float *scratch [[buffer(1)]],
                       device float *out [[buffer(2)]], device const float *state [[buffer(3), function_constant(kStateIn)]],
                       device float *kept [[buffer(4), function_constant(kStateOut)]],
                       uint2 group [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
  const uint h = group.y, c = (group.x * 4 + simd) * 8;
  if (c >= VD) return;
  simdgroup_float8x8 s[kKeyBlocks];
  for (uint b = 0; b < kKeyBlocks; b++) {
    if (kStateIn)
      simdgroup_load(s[b], state + (h * KD + b * 8) * VD + c, VD);
    else
      s[b] = make_filled_simdgroup_matrix<float, 8>(0.0f);
  }
  for (uint n = 0; n < p.chunks; n++) {
    device const float *mine = scratch + ulong(n * p.valueHeads + h) * kScratch;
    simdgroup_float8x8 delta[kRowBlocks];
    for (uint i = 0; i < kRowBlocks; i++) {
      simdgroup_float8x8 a;
      simdgroup_load(delta[i], mine + kAtU + i * 8 * VD + c, VD);
      for (uint b = 0; b < kKeyBlocks; b++) {
        simdgroup_load(a, mine + kAtW + i * 8 * KD + b * 8, KD);
        simdgroup_multiply_accumulate(delta[i], a, s[b], delta[i]);
      }
    }
    for (uint i = 0; i < kRowBlocks; i++) {
      simdgroup_float8x8 o = make_filled_simdgroup_matrix<float, 8>(0.0f), a;
      for (uint b = 0; b < kKeyBlocks; b++) {
        simdgroup_load(a, mine + kAtQ + i * 8 * KD + b * 8, KD);
        simdgroup_multiply_accumulate(o, a, s[b], o);
      }
      for (uint j = 0; j <= i; j++) {
        simdgroup_load(a, mine + kAtP + i * 8 * kChunk + j * 8, kChunk);
        simdgroup_multiply_accumulate(o, a, delta[j], o);
      }
      const uint t = (p.chunk + n) * kChunk + i * 8 + fragment_row(lane);
      if (t < p.rows)
        for (uint e = 0; e < 2; e++)
          out[(ulong(t) * p.valueHeads + h) * VD + c + fragment_col(lane) + e] = o.thread_elements()[e];
    }
    const float decay = mine[kAtDecay];
    for (uint b = 0; b < kKeyBlocks; b++) {
      s[b].thread_elements()[0] *= decay;
      s[b].thread_elements()[1] *= decay;
      for (uint i = 0; i < kRowBlocks; i++) {
        simdgroup_float8x8 a;
        simdgroup_load(a, mine + kAtK + i * 8 * KD + b * 8, KD, ulong2(0, 0), true);
        simdgroup_multiply_accumulate(s[b], a, delta[i], s[b]);
      }
    }
  }
  if (kStateOut)
    for (uint b = 0; b < kKeyBlocks; b++) simdgroup_store(s[b], kept + (h * KD + b * 8) * VD + c, VD);
}
