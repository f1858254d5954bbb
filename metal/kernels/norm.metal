// Row normalisation: one threadgroup of 256 threads for each row.

constant bool kExactIn [[function_constant(0)]];
constant bool kExactOut [[function_constant(1)]];
constant bool kVector [[function_constant(2)]]; // columns are a multiple of 4

struct NormParams {
  uint cols;
  float eps;
};

// total adds v over the threadgroup. part has one place for each of 8 simdgroups and serves one call.
inline float total(float v, threadgroup float *part, uint lane, uint simd) {
  v = simd_sum(v);
  if (lane == 0) part[simd] = v;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simd_sum(lane < 8 ? part[lane] : 0.0f);
}

// y = x · rsqrt(mean(x²) + eps) · w
kernel void rms_norm(constant NormParams &p [[buffer(0)]], device const uchar *x [[buffer(1)]],
                     device const float *w [[buffer(2)]], device uchar *y [[buffer(3)]],
                     device atomic_uint *status [[buffer(30)]], uint row [[threadgroup_position_in_grid]],
                     uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                     uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[8];
  const uint n = p.cols;
  const ulong at = ulong(row) * n;
  float s = 0;
  if (kVector) {
    for (uint i = tid * 4; i < n; i += 1024) {
      const float4 v = fetch4(x, kExactIn, at + i);
      s += dot(v, v);
    }
  } else {
    for (uint i = tid; i < n; i += 256) {
      const float v = fetch(x, kExactIn, at + i);
      s += v * v;
    }
  }
  const float scale = rsqrt(total(s, part, lane, simd) / float(n) + p.eps);
  bool over = false;
  if (kVector) {
    for (uint i = tid * 4; i < n; i += 1024)
      put4(y, kExactOut, at + i, fetch4(x, kExactIn, at + i) * scale * *(device const float4 *)(w + i), over);
  } else {
    for (uint i = tid; i < n; i += 256) put(y, kExactOut, at + i, fetch(x, kExactIn, at + i) * scale * w[i], over);
  }
  report(status, over);
}

// y = (x - mean) / sqrt(var + eps) · w + b, biased variance
kernel void layer_norm(constant NormParams &p [[buffer(0)]], device const uchar *x [[buffer(1)]],
                       device const float *w [[buffer(2)]], device uchar *y [[buffer(3)]],
                       device const float *b [[buffer(4)]], device atomic_uint *status [[buffer(30)]],
                       uint row [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float sums[8], squares[8];
  const uint n = p.cols;
  const ulong at = ulong(row) * n;
  float s = 0;
  for (uint i = tid; i < n; i += 256) s += fetch(x, kExactIn, at + i);
  const float mean = total(s, sums, lane, simd) / float(n);
  float q = 0;
  for (uint i = tid; i < n; i += 256) {
    const float d = fetch(x, kExactIn, at + i) - mean;
    q += d * d;
  }
  const float scale = rsqrt(total(q, squares, lane, simd) / float(n) + p.eps);
  bool over = false;
  for (uint i = tid; i < n; i += 256)
    put(y, kExactOut, at + i, (fetch(x, kExactIn, at + i) - mean) * scale * w[i] + b[i], over);
  report(status, over);
}
