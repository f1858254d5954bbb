// One kernel per typical mistake. Each must be reported by the checked mode (see emu_test.go for the expected message).
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
#define ARGS device float *o [[buffer(0)]], uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]

kernel void divergent_barrier(ARGS) { if (t < 16) threadgroup_barrier(mem_flags::mem_threadgroup); o[t] = 1; }
kernel void barrier_in_two_branches(ARGS) { if (sg == 0) { threadgroup_barrier(mem_flags::mem_threadgroup); } else {
    threadgroup_barrier(mem_flags::mem_threadgroup); } o[t] = 1; }
kernel void return_before_barrier(ARGS) { if (t > 50) return; threadgroup_barrier(mem_flags::mem_threadgroup); o[t] = 1; }
kernel void divergent_simd(ARGS) { float v = t; if (lane & 1) { v = simd_sum(v); } else {
    v = simd_max(v); } o[t] = v; }
kernel void loop_trip_divergence(ARGS) { float v = 0; for (uint i = 0; i < lane; i++) v += simd_sum(1.0f); o[t] = v; }
kernel void oob_write(ARGS) { o[t + 1] = 1; }
kernel void oob_read(ARGS) { o[t] = t == 0 ? o[-3] : 0; }
kernel void oob_vector(ARGS) { device float4 *v = (device float4 *)(o + 61); if (t == 0) v[0] = float4(1); }
kernel void oob_threadgroup(ARGS) { threadgroup float s[64]; s[t + (t == 63)] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); o[t] = s[t]; }
kernel void oob_threadgroup_pointer(ARGS) { threadgroup float s[64]; threadgroup float *p = s + t; p[t == 63] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); o[t] = *p; }
kernel void race_no_barrier(ARGS) { threadgroup float s[64]; s[t] = t; s[t ^ 33] = t; o[t] = s[t]; }
kernel void race_wrong_flag(ARGS) { threadgroup float s[64]; s[t] = t; threadgroup_barrier(mem_flags::mem_device); o[t] = s[t ^ 33]; }
kernel void race_same_simdgroup(ARGS) { threadgroup float s[64]; s[t] = 0; threadgroup_barrier(mem_flags::mem_threadgroup); s[t] = t; float v = s[t ^ 1]; o[t] = v; }
kernel void race_device(ARGS) { o[t] = t; threadgroup_barrier(mem_flags::mem_threadgroup); o[t] = o[t ^ 33]; }
kernel void race_between_threadgroups(ARGS) { o[t] = g; }
kernel void race_war(ARGS) { threadgroup float s[64]; s[t] = t; threadgroup_barrier(mem_flags::mem_threadgroup); float v = s[63 - t]; s[t] = v; threadgroup_barrier(mem_flags::mem_threadgroup); o[t] = s[t]; }
kernel void uninitialised(ARGS) { threadgroup float s[64]; if (t < 32) s[t] = t; threadgroup_barrier(mem_flags::mem_threadgroup); o[t] = s[t]; }
kernel void div_by_zero(ARGS) { o[t] = 7 / int(g * (t + 1)); }
kernel void mma_with_exited_lanes(ARGS) { simdgroup_float8x8 a(1.0f), c(0.0f); if (lane == 5) return; simdgroup_multiply_accumulate(c, a, a, c); o[t] = c.thread_elements()[0]; }
kernel void too_much_threadgroup_memory(ARGS) { threadgroup float s[8192], r[64]; s[t] = 1; r[t] = s[t]; o[t] = r[t]; }
kernel void misaligned(ARGS) { if (t == 0) *(device float4 *)(o + 1) = float4(1); }
kernel void private_index(ARGS) { float v[4] = {1, 2, 3, 4}; o[t] = v[t & 7]; }
kernel void shift_too_far(ARGS) { o[t] = 1 << (t & 63); }
struct P { float3 a; float b; };
kernel void layout(device float *o [[buffer(0)]], constant P &p [[buffer(1)]], threadgroup float *s [[threadgroup(0)]], uint t [[thread_index_in_threadgroup]]) { s[t] = 0; o[t] = p.b; }
kernel void wild_pointer(ARGS) { o[t] = o[1u << 30]; }
#define TENSORS threadgroup half a[512], b[512]; for (uint i = t; i < 512; i += 64) { a[i] = 1; b[i] = i / 16; } \
    using op = tensor<threadgroup half, extents<int, 16, 32>, tensor_inline>; op l(a, extents<int, 16, 32>()), r(b, extents<int, 16, 32>()); \
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(32, 32, 16, false, true, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply);
#define STORE(c) if (g == 0) for (ushort i = 0; i < c.get_capacity(); i++) if (c.is_valid_element(i) && c.get_multidimensional_index(i)[1] < 2) o[c.get_multidimensional_index(i)[1] * 32 + c.get_multidimensional_index(i)[0]] = c[i];
kernel void tensor_race(ARGS) { TENSORS mpp::tensor_ops::matmul2d<d, execution_simdgroups<2>> m; auto c = m.template get_destination_cooperative_tensor<op, op, float>(); m.run(l, r, c); STORE(c) }
kernel void tensor_divergent(ARGS) { TENSORS mpp::tensor_ops::matmul2d<d, execution_simdgroups<2>> m; auto c = m.template get_destination_cooperative_tensor<op, op, float>(); threadgroup_barrier(mem_flags::mem_threadgroup); if (sg == 0) { m.run(l, r, c); } else {
    m.run(l, r, c); } STORE(c) }
kernel void tensor_wrong_scope(ARGS) { TENSORS mpp::tensor_ops::matmul2d<d, execution_simdgroups<4>> m; auto c = m.template get_destination_cooperative_tensor<op, op, float>(); threadgroup_barrier(mem_flags::mem_threadgroup); m.run(l, r, c); STORE(c) }
kernel void tensor_unguarded(ARGS) { TENSORS mpp::tensor_ops::matmul2d<d, execution_simdgroups<2>> m; auto c = m.template get_destination_cooperative_tensor<op, op, float>(); threadgroup_barrier(mem_flags::mem_threadgroup); m.run(l, r, c);
    for (ushort i = 0; i < c.get_capacity(); i++) if (c.get_multidimensional_index(i)[1] != 5) o[c.get_multidimensional_index(i)[0] & (1 << 20 | 31)] = 1; }
kernel void tensor_fine(ARGS) { TENSORS mpp::tensor_ops::matmul2d<d, execution_simdgroups<2>> m; auto c = m.template get_destination_cooperative_tensor<op, op, float>(); threadgroup_barrier(mem_flags::mem_threadgroup); m.run(l, r, c); STORE(c) }
kernel void fine(ARGS) { threadgroup float s[64]; s[t] = t; threadgroup_barrier(mem_flags::mem_threadgroup); o[t + 64 * g] = s[t ^ 33]; }
