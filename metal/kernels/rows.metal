// Whole-buffer and row operations: copy, add, fill, means of rows.

constant bool kExactIn [[function_constant(0)]];
constant bool kExactOut [[function_constant(1)]];

struct RowsParams {
  uint count; // elements
  float factor;
};

// dst = factor · src; formats may differ. Four elements for each thread.
kernel void copy_rows(constant RowsParams &p [[buffer(0)]], device const uchar *src [[buffer(1)]],
                      device uchar *dst [[buffer(2)]], device atomic_uint *status [[buffer(30)]],
                      uint id [[thread_position_in_grid]]) {
  bool over = false;
  for (uint i = id * 4; i < min(id * 4 + 4, p.count); i++) put(dst, kExactOut, i, fetch(src, kExactIn, i) * p.factor, over);
  report(status, over);
}

// dst += src
kernel void add_rows(constant RowsParams &p [[buffer(0)]], device const uchar *src [[buffer(1)]],
                     device uchar *dst [[buffer(2)]], device atomic_uint *status [[buffer(30)]],
                     uint id [[thread_position_in_grid]]) {
  bool over = false;
  for (uint i = id * 4; i < min(id * 4 + 4, p.count); i++)
    put(dst, kExactOut, i, fetch(dst, kExactOut, i) + fetch(src, kExactIn, i), over);
  report(status, over);
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
kernel void mean_rows(constant MeanParams &p [[buffer(0)]], device const uchar *x [[buffer(1)]],
                      device uchar *dst [[buffer(2)]], device const uint2 *spans [[buffer(3)]],
                      device atomic_uint *status [[buffer(30)]], uint2 id [[thread_position_in_grid]]) {
  if (id.x >= p.cols) return;
  const uint2 span = spans[id.y];
  float s = 0;
  for (uint r = span.x; r < span.y; r++) s += fetch(x, kExactIn, ulong(r) * p.cols + id.x);
  bool over = false;
  put(dst, kExactOut, ulong(id.y) * p.cols + id.x, s / float(span.y - span.x), over);
  report(status, over);
}
