// What the other kernels assume about a GPU, for the host to compare.

// Where each lane's two fragment elements come from, and one product of each kind of fragment.
kernel void lane_map(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                     uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, in, 8);
  out[lane * 2] = m.thread_elements()[0];
  out[lane * 2 + 1] = m.thread_elements()[1];
  simdgroup_float8x8 turned;
  simdgroup_load(turned, in, 8, ulong2(0, 0), true);
  out[64 + lane * 2] = turned.thread_elements()[0];
  out[64 + lane * 2 + 1] = turned.thread_elements()[1];
  simdgroup_matrix<work, 8, 8> a, b;
  a.thread_elements()[0] = work(m.thread_elements()[0]);
  a.thread_elements()[1] = work(m.thread_elements()[1]);
  b.thread_elements()[0] = work(turned.thread_elements()[0]);
  b.thread_elements()[1] = work(turned.thread_elements()[1]);
  simdgroup_float8x8 c = make_filled_simdgroup_matrix<float, 8>(0.0f);
  simdgroup_multiply_accumulate(c, a, b, c);
  out[128 + lane * 2] = c.thread_elements()[0];
  out[128 + lane * 2 + 1] = c.thread_elements()[1];
}
