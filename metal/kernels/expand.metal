// Around products by the system's own kernels, which multiply plain float matrices: weights become float32 in scratch
// memory before, and SwiGLU joins its two products after.

struct ExpandParams {
  Segment segment;
  uint k, first, rows; // depth; the rows [first, first + rows) are expanded
};

// expand writes eight numbers of a row from each thread.
kernel void expand(constant ExpandParams &p [[buffer(0)]], device const uchar *w [[buffer(2)]],
                   device const uchar *scales [[buffer(6), function_constant(kQuant0)]],
                   device const uchar *biases [[buffer(10), function_constant(kQuant0)]],
                   device float *out [[buffer(18)]], uint i [[thread_position_in_grid]]) {
  const uint blocks = (p.k + 7) / 8, row = i / blocks, k = i % blocks * 8;
  if (row >= p.rows) return;
  const Weights t = {w, kQuant0 ? scales : w, kQuant0 ? biases : w};
  const Eight v = weights8(t, p.segment, p.first + row, k, p.k);
  device float *to = out + ulong(row) * p.k + k;
  if (kRagged) {
    const float all[8] = {v.lo.x, v.lo.y, v.lo.z, v.lo.w, v.hi.x, v.hi.y, v.hi.z, v.hi.w};
    for (uint j = 0; j < 8 && k + j < p.k; j++) to[j] = all[j];
  } else {
    *(device float4 *)to = v.lo;
    *(device float4 *)(to + 4) = v.hi;
  }
}

struct JoinParams {
  uint rows, columns, pitch, first; // of gate and up; columns of out, of which [first, first + columns) are written
};

// join computes out = silu(gate) * up.
kernel void join(constant JoinParams &p [[buffer(0)]], device const float *gate [[buffer(1)]],
                 device const float *up [[buffer(2)]], device float *out [[buffer(18)]],
                 uint i [[thread_position_in_grid]]) {
  const uint row = i / p.columns, column = i % p.columns;
  if (row >= p.rows) return;
  out[ulong(row) * p.pitch + p.first + column] = silu(gate[i]) * up[i];
}
