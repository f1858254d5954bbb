// Kernels that must run right: the emulator's own regression set.
#include <metal_stdlib>
using namespace metal;

constant bool kHasBias [[function_constant(0)]];
constant int kScaleLog2 [[function_constant(1)]];
constant float kScale = float(1 << kScaleLog2);

struct GemmParams { int M, N, K; };

// C[M,N] = A[M,K] * W[N,K]^T, half operands, float accumulation. 64x64 tile, 4 simdgroups of 32x32.
kernel void gemm_nt(device const half *A [[buffer(0)]], device const half *W [[buffer(1)]], device float *C [[buffer(2)]], constant GemmParams &p [[buffer(3)]],
                    device const float *bias [[buffer(4), function_constant(kHasBias)]], threadgroup half *sm [[threadgroup(0)]],
                    uint2 tgid [[threadgroup_position_in_grid]], ushort sgid [[simdgroup_index_in_threadgroup]], ushort tid [[thread_index_in_threadgroup]]) {
  threadgroup half *As = sm, *Ws = sm + 64 * 32;
  simdgroup_float8x8 acc[4][4];
  for (short i = 0; i < 4; i++) for (short j = 0; j < 4; j++) acc[i][j] = make_filled_simdgroup_matrix<float, 8>(0.f);
  const int m0 = tgid.y * 64, n0 = tgid.x * 64, sm0 = (sgid >> 1) * 32, sn0 = (sgid & 1) * 32;
  for (int k = 0; k < p.K; k += 32) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = tid; i < 64 * 8; i += 128) {
      const int r = i / 8, c = (i % 8) * 4;
      *(threadgroup half4 *)(As + r * 32 + c) = *(device const half4 *)(A + (m0 + r) * p.K + k + c);
      const half4 w = *(device const half4 *)(W + (n0 + r) * p.K + k + c);
      Ws[(c + 0) * 64 + r] = w.x; Ws[(c + 1) * 64 + r] = w.y; Ws[(c + 2) * 64 + r] = w.z; Ws[(c + 3) * 64 + r] = w.w;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (short kk = 0; kk < 32; kk += 8) {
      simdgroup_half8x8 a[4], b[4];
      for (short i = 0; i < 4; i++) simdgroup_load(a[i], As + (sm0 + 8 * i) * 32 + kk, 32);
      for (short j = 0; j < 4; j++) simdgroup_load(b[j], Ws + kk * 64 + sn0 + 8 * j, 64);
      for (short i = 0; i < 4; i++) for (short j = 0; j < 4; j++) simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
    }
  }
  for (short i = 0; i < 4; i++) for (short j = 0; j < 4; j++) {
    if (kHasBias) { // lane map: see simdgroup_matrix in shim.h
      const uint lane = tid & 31, q = lane / 4; const int c = n0 + sn0 + 8 * j + (q & 2) * 2 + (lane % 2) * 2;
      acc[i][j].thread_elements()[0] += bias[c] * kScale; acc[i][j].thread_elements()[1] += bias[c + 1] * kScale;
    }
    simdgroup_store(acc[i][j], C + (m0 + sm0 + 8 * i) * p.N + n0 + sn0 + 8 * j, p.N);
  }
}

template <typename T>
kernel void rmsnorm(device const float *x [[buffer(0)]], device const T *w [[buffer(1)]], device T *y [[buffer(2)]], constant int &n [[buffer(3)]], constant float &eps [[buffer(4)]],
                    uint row [[threadgroup_position_in_grid]], uint tid [[thread_position_in_threadgroup]], uint nt [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[32];
  device const float4 *r = (device const float4 *)(x + row * n);
  float s = 0;
  for (int i = tid; i < n / 4; i += nt) s += dot(r[i], r[i]);
  s = simd_sum(s);
  if (lane == 0) part[sg] = s;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s = simd_sum(lane < (nt + 31) / 32 ? part[lane] : 0.f);
  const float inv = rsqrt(s / n + eps);
  for (int i = tid; i < n / 4; i += nt) for (int j = 0; j < 4; j++) y[row * n + 4 * i + j] = T(r[i][j] * inv * (1.0f + float(w[4 * i + j])));
}
template [[host_name("rmsnorm_f16")]] kernel void rmsnorm<half>(device const float *, device const half *, device half *, constant int &, constant float &, uint, uint, uint, uint, uint);
template [[host_name("rmsnorm_bf16")]] kernel void rmsnorm<bfloat>(device const float *, device const bfloat *, device bfloat *, constant int &, constant float &, uint, uint, uint, uint, uint);

kernel void softmax_rows(device const float *x, device float *y, constant int &n, uint row [[threadgroup_position_in_grid]], uint tid [[thread_position_in_threadgroup]], uint nt [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float part[32];
  float m = -INFINITY;
  for (int i = tid; i < n; i += nt) m = max(m, x[row * n + i]);
  m = simd_max(m);
  if (lane == 0) part[sg] = m;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  m = simd_max(lane < (nt + 31) / 32 ? part[lane] : -INFINITY);
  float s = 0;
  for (int i = tid; i < n; i += nt) s += fast::exp(x[row * n + i] - m);
  s = simd_sum(s);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) part[sg] = s;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s = simd_sum(lane < (nt + 31) / 32 ? part[lane] : 0.f);
  for (int i = tid; i < n; i += nt) y[row * n + i] = fast::exp(x[row * n + i] - m) / s;
}

// Layout and arithmetic rules of the language, written out as numbers the test knows.
kernel void language(device uint *o [[buffer(0)]], device const packed_float3 *pf [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  if (i != 0) return;
  int k = 0;
  o[k++] = sizeof(float3); o[k++] = sizeof(packed_float3); o[k++] = sizeof(half3); o[k++] = alignof(float4); o[k++] = sizeof(bool4); // 16 12 8 16 4
  o[k++] = uint(float3(pf[1]).y);                                                                                                     // 5
  half h = 2048.0h; h = h + 1.0h; o[k++] = uint(h);                                                                                    // 2048: half rounds every operation
  bfloat b = bfloat(256.0f); b = b + bfloat(1.0f); o[k++] = uint(float(b));                                                            // 256
  float4 v = float4(1, 2, 3, 4); v.xw = v.wx; v.yz *= 2.0f; o[k++] = uint(v.x * 1000 + v.y * 100 + v.z * 10 + v.w);                      // 4461
  o[k++] = as_type<uint>(1.0f); o[k++] = uint(as_type<half2>(0x40003c00u).y); o[k++] = uint(dot(half4(1, 2, 3, 4), half4(1)));            // 0x3f800000 2 10
  o[k++] = 7 / 2.0 * 2.0 == 7.0; o[k++] = select(3u, 4u, true); o[k++] = popcount(0xffu) + clz(1u);                                      // 1 4 39
  o[k++] = uint(clamp(-1, 0, 5) + max(1, 2) + min(3.0f, 4.0f)); o[k++] = uint(fma(2.0f, 3.0f, 4.0f));                                     // 5 10
}

kernel void simd_ops(device uint *o [[buffer(0)]], device atomic_uint *cnt [[buffer(1)]], uint t [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  uint v = lane + 1, r = 0;
  r += simd_sum(v);                              // 528
  r += simd_shuffle_xor(v, 1);                   // (lane^1)+1
  r += simd_prefix_inclusive_sum(v);             // (lane+1)(lane+2)/2
  r += simd_shuffle_down(v, 4) * (lane < 28);    // lane+5
  r += uint(ulong(simd_ballot(lane < 3)));       // 7
  r += simd_broadcast(v, 9) + quad_sum(v);       // 10 + quad
  o[t] = r;
  atomic_fetch_add_explicit(cnt, 1u, memory_order_relaxed);
}
