// Whole-buffer and row operations: copy, add, fill, means of rows.

constant bool kWorkIn [[function_constant(0)]]; // of copy_rows: the source is Work, else float
constant bool kWorkOut [[function_constant(1)]];

struct RowsParams {
  uint count; // elements
};

// dst = src; formats may differ. Four elements for each thread.
kernel void copy_rows(constant RowsParams &p [[buffer(0)]], device const uchar *src [[buffer(1)]],
                      device uchar *dst [[buffer(2)]], device atomic_uint *status [[buffer(30)]],
                      uint id [[thread_position_in_grid]]) {
  bool over = false;
  for (uint i = id * 4; i < min(id * 4 + 4, p.count); i++) {
    const float v = kWorkIn ? float(((device const work *)src)[i]) : ((device const float *)src)[i];
    if (kWorkOut)
      ((device work *)dst)[i] = narrow(v, over);
    else
      ((device float *)dst)[i] = v;
  }
  report(status, over);
}

// dst += src
kernel void add_rows(constant RowsParams &p [[buffer(0)]], device const float *src [[buffer(1)]],
                     device float *dst [[buffer(2)]], uint id [[thread_position_in_grid]]) {
  for (uint i = id * 4; i < min(id * 4 + 4, p.count); i++) dst[i] += src[i];
}

// dst = 0, count words of 2 bytes
kernel void fill_zero(constant RowsParams &p [[buffer(0)]], device ushort *dst [[buffer(2)]],
                      uint id [[thread_position_in_grid]]) {
  if (id < p.count) dst[id] = 0;
}

struct MeanParams {
  uint cols;
};

// dst[i] = mean of the rows [spans[i].x, spans[i].y) of x; one thread for each column.
kernel void mean_rows(constant MeanParams &p [[buffer(0)]], device const float *x [[buffer(1)]],
                      device float *dst [[buffer(2)]], device const uint2 *spans [[buffer(3)]],
                      uint2 id [[thread_position_in_grid]]) {
  if (id.x >= p.cols) return;
  const uint2 span = spans[id.y];
  float s = 0;
  for (uint r = span.x; r < span.y; r++) s += x[ulong(r) * p.cols + id.x];
  dst[ulong(id.y) * p.cols + id.x] = s / float(span.y - span.x);
}

struct RotateParams {
  uint pairs, heads, count; // pairs of a head, heads of a row, pairs of all rows
};

// Turns the pairs (i, i + pairs) of every head of x in place by the angles of its row; one thread for each pair.
kernel void rotate_rows(constant RotateParams &p [[buffer(0)]], device const float *cosines [[buffer(1)]],
                        device float *x [[buffer(2)]], device const float *sines [[buffer(3)]],
                        uint id [[thread_position_in_grid]]) {
  if (id >= p.count) return;
  const uint i = id % p.pairs, head = id / p.pairs, row = head / p.heads;
  device float *at = x + ulong(head) * 2 * p.pairs + i;
  const float a = at[0], b = at[p.pairs], c = cosines[row * p.pairs + i], s = sines[row * p.pairs + i];
  at[0] = a * c - b * s;
  at[p.pairs] = b * c + a * s;
}
