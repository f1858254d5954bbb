// The gated delta rule, two ways: token after token for short sequences, and in chunks of 32 tokens whose inner part is
// matrix products (clef.md 4.5, metal.md 3.5). All arithmetic is float; only exponentials of sums that are at most 0
// are taken, so nothing overflows.
//
// The host sets KD and VD, the sizes of a key and a value head.

constant bool kStateIn [[function_constant(0)]];
constant bool kStateOut [[function_constant(1)]];

struct DeltaParams {
  uint rows, keyHeads, valueHeads;
  uint chunks, chunk; // chunks in the scratch, first chunk of this launch
  float eps, scale;   // of the l2 norm; of q
};

constant constexpr uint kStep = 16;   // tokens staged at a time
constant constexpr uint kSlice = 32;  // value columns of a threadgroup
constant constexpr uint kShare = KD / 4; // state values of a thread

// offsets of head h in a row of [q|k|v]
inline uint query_at(constant DeltaParams &p, uint h) { return h / (p.valueHeads / p.keyHeads) * KD; }
inline uint key_at(constant DeltaParams &p, uint h) { return p.keyHeads * KD + query_at(p, h); }
inline uint value_at(constant DeltaParams &p, uint h) { return 2 * p.keyHeads * KD + h * VD; }
inline uint width(constant DeltaParams &p) { return 2 * p.keyHeads * KD + p.valueHeads * VD; }

// Token after token. A threadgroup has 32 value columns of a head; four neighbouring threads share a column and hold a
// quarter of its state each.
kernel void delta_steps(constant DeltaParams &p [[buffer(0)]], device const float *x [[buffer(1)]],
                        device const float *g [[buffer(2)]], device const float *beta [[buffer(3)]],
                        device float *out [[buffer(4)]], device const float *state [[buffer(5), function_constant(kStateIn)]],
                        device float *kept [[buffer(6), function_constant(kStateOut)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                        uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float qs[kStep * KD], ks[kStep * KD], vs[kStep * kSlice], decay[kStep], gain[kStep];
  const uint h = group.y, column = group.x * kSlice + tid / 4, part = tid % 4;
  const bool live = column < VD;
  float s[kShare];
  for (uint j = 0; j < kShare; j++) {
    s[j] = 0;
    if (kStateIn && live) s[j] = state[(h * KD + part + 4 * j) * VD + column];
  }
  for (uint t0 = 0; t0 < p.rows; t0 += kStep) {
    const uint n = min(kStep, p.rows - t0);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint t = simd; t < n; t += 4) { // normalise: one simdgroup for each token
      const ulong at = ulong(t0 + t) * width(p);
      float a = 0, b = 0;
      for (uint i = lane; i < KD; i += 32) {
        const float u = x[at + query_at(p, h) + i], v = x[at + key_at(p, h) + i];
        a += u * u;
        b += v * v;
      }
      a = rsqrt(simd_sum(a) + p.eps) * p.scale;
      b = rsqrt(simd_sum(b) + p.eps);
      for (uint i = lane; i < KD; i += 32) {
        qs[t * KD + i] = x[at + query_at(p, h) + i] * a;
        ks[t * KD + i] = x[at + key_at(p, h) + i] * b;
      }
      const uint c = group.x * kSlice + lane;
      vs[t * kSlice + lane] = c < VD ? x[at + value_at(p, h) + c] : 0.0f;
      if (lane == 0) {
        decay[t] = exp(g[(t0 + t) * p.valueHeads + h]);
        gain[t] = beta[(t0 + t) * p.valueHeads + h];
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint t = 0; t < n; t++) {
      float seen = 0;
      for (uint j = 0; j < kShare; j++) {
        s[j] *= decay[t];
        seen = fma(s[j], ks[t * KD + part + 4 * j], seen);
      }
      seen += simd_shuffle_xor(seen, 1);
      seen += simd_shuffle_xor(seen, 2);
      const float d = gain[t] * (vs[t * kSlice + tid / 4] - seen);
      float o = 0;
      for (uint j = 0; j < kShare; j++) {
        s[j] = fma(ks[t * KD + part + 4 * j], d, s[j]);
        o = fma(s[j], qs[t * KD + part + 4 * j], o);
      }
      o += simd_shuffle_xor(o, 1);
      o += simd_shuffle_xor(o, 2);
      if (live && part == 0) out[(ulong(t0 + t) * p.valueHeads + h) * VD + column] = o;
    }
  }
  if (kStateOut && live)
    for (uint j = 0; j < kShare; j++) kept[(h * KD + part + 4 * j) * VD + column] = s[j];
}
