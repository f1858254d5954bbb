// What a GPU multiplies with nothing to wait for: the fragments of a product in registers, for the share of the peak that
// decisions reach.

struct PeakParams {
  uint rounds;
};

// peak multiplies sixteen fragments a round in every simdgroup, float by half, and stores what its lanes hold at the end.
kernel void peak(constant PeakParams &p [[buffer(0)]], device const float *in [[buffer(1)]],
                 device float *out [[buffer(2)]], uint group [[threadgroup_position_in_grid]],
                 uint tid [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]]) {
  simdgroup_float8x8 a[4], acc[4][4];
  simdgroup_half8x8 b[4];
  for (uint i = 0; i < 4; i++) {
    simdgroup_load(a[i], in, 8);
    simdgroup_float8x8 f;
    simdgroup_load(f, in + 64, 8);
    b[i].thread_elements()[0] = half(f.thread_elements()[0]);
    b[i].thread_elements()[1] = half(f.thread_elements()[1]);
    for (uint j = 0; j < 4; j++) acc[i][j] = make_filled_simdgroup_matrix<float, 8>(0.0f);
  }
  for (uint n = 0; n < p.rounds; n++)
    for (uint i = 0; i < 4; i++)
      for (uint j = 0; j < 4; j++) simdgroup_multiply_accumulate(acc[i][j], a[i], b[j], acc[i][j]);
  float sum = 0.0f;
  for (uint i = 0; i < 4; i++)
    for (uint j = 0; j < 4; j++) sum += acc[i][j].thread_elements()[0] + acc[i][j].thread_elements()[1];
  out[group * threads + tid] = sum;
}
