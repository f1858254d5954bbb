// Attention over rows whose keys and values are not computed: see absorb.go.

// path_absorb multiplies the queries of one head with the head's rows of a dense key projection:
// dst[i][c] = sum over n of q[i][n]*w[n][c]. The columns of w are a multiple of NR; dst and q hold the
// heads side by side. scratch holds dim steps of a panel.
static void path_absorb(clef_mat dst, clef_mat q, const clef_weight *w, int64_t head, int64_t dim, uint8_t *scratch) {
  const int64_t size = w->type == CLEF_F32 ? 4 : 2;
  uint32_t *panel = (uint32_t *)(void *)scratch;
  for (int64_t c = 0; c < w->cols; c += NR) {
    const uint8_t *p = w->data + head * dim * w->row_bytes + c * size;
    for (int64_t n = 0; n < dim; n++, p += w->row_bytes)
      for (int v = 0; v < NV; v++) vstore((float *)(void *)(panel + n * NR + v * VW), f32_of(p + v * VW * size, w->type));
    tile_f32((int)q.rows, (const uint8_t *)(q.data + head * dim), q.stride * 4, panel, dim, dst.data + head * w->cols + c, dst.stride, 0);
  }
}
