// Row normalisation: one threadgroup of 256 threads for each row.

constant bool kVector [[function_constant(0)]]; // columns are a multiple of 4

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
kernel void rms_norm(constant NormParams &p [[buffer(0)]], device const float *x [[buffer(1)]],
                     device const float *w [[buffer(2)]], device float *y [[buffer(3)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                     uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[8];
  const uint n = p.cols;
  const ulong at = ulong(row) * n;
  float s = 0;
  if (kVector) {
    for (uint i = tid * 4; i < n; i += 1024) {
      const float4 v = *(device const float4 *)(x + at + i);
      s += dot(v, v);
    }
  } else {
    for (uint i = tid; i < n; i += 256) {
      const float v = x[at + i];
      s += v * v;
    }
  }
  const float scale = rsqrt(total(s, part, lane, simd) / float(n) + p.eps);
  if (kVector) {
    for (uint i = tid * 4; i < n; i += 1024)
      *(device float4 *)(y + at + i) = *(device const float4 *)(x + at + i) * scale * *(device const float4 *)(w + i);
  } else {
    for (uint i = tid; i < n; i += 256) y[at + i] = x[at + i] * scale * w[i];
  }
}

// y = (x - mean) / sqrt(var + eps) · w + b, biased variance
kernel void layer_norm(constant NormParams &p [[buffer(0)]], device const float *x [[buffer(1)]],
                       device const float *w [[buffer(2)]], device float *y [[buffer(3)]],
                       device const float *b [[buffer(4)]], uint row [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
  threadgroup float sums[8], squares[8];
  const uint n = p.cols;
  const ulong at = ulong(row) * n;
  float s = 0;
  for (uint i = tid; i < n; i += 256) s += x[at + i];
  const float mean = total(s, sums, lane, simd) / float(n);
  float q = 0;
  for (uint i = tid; i < n; i += 256) {
    const float d = x[at + i] - mean;
    q += d * d;
  }
  const float scale = rsqrt(total(q, squares, lane, simd) / float(n) + p.eps);
  for (uint i = tid; i < n; i += 256) y[at + i] = (x[at + i] - mean) * scale * w[i] + b[i];
}
