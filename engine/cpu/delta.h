// The gated delta rule (Yang et al., "Gated Delta Networks"), GROUP tokens at a time.
//
// With c[t] the product of the decays up to t and S the state before the group,
//   u[t] = beta[t] * (v[t] - c[t]*(S'k[t]) - sum over s<t of (c[t]/c[s])*(k[s].k[t])*u[s])
//   o[t] = c[t]*(S'q[t]) + sum over s<=t of (c[t]/c[s])*(k[s].q[t])*u[s]
//   S    = c[last]*S + sum over s of (c[last]/c[s])*k[s] u[s]'
// which is the recurrence itself with the sums written out: the state is read twice and
// written once per group instead of per token, and a block of its columns stays in L1.
// Ratios of decays are products of decays, never quotients.

enum { GROUP = 4, DELTA_TOKENS = 8 };
#define DELTA_COLS (DV * VW)

// What a group needs besides its vectors. near[t][s] and seen[t][s] hold the decayed
// products k[s].k[t] and k[s].q[t]; decay[t] is c[t], rest[t] is c[last]/c[t].
typedef struct {
  float near[GROUP][GROUP], seen[GROUP][GROUP], decay[GROUP], rest[GROUP], beta[GROUP];
} delta_group;

INLINE float dot_of(const float *a, const float *b, int64_t n) {
  vf s = (vf){0};
  for (int64_t i = 0; i < n; i += VW) s += vload(a + i) * vload(b + i);
  return vsum(s);
}

// unit_rows copies rows [t0, t1) of one head, divided by their length and scaled, zero
// padded to width.
static void unit_rows(clef_mat x, int64_t col, int64_t dim, int64_t t0, int64_t t1, float eps, float scale, float *out, int64_t width) {
  for (int64_t t = t0; t < t1; t++, out += width) {
    const float *p = row_of(x, t) + col;
    float r = scale * rsqrt_of(sum_squares(p, dim, 0) + eps);
    EACH(dim, c, room) vstore(out + c, vpart(p + c, room) * r);
  }
}

static void set_group(delta_group *d, int n, const float *q, const float *k, const clef_delta *a, int64_t head, int64_t t, int64_t width) {
  float decay[GROUP];
  for (int i = 0; i < n; i++) {
    float lane[VW] = {row_of(a->g, t + i)[head]};
    vf e = vexp(vload(lane));
    memcpy(lane, &e, sizeof e);
    decay[i] = lane[0];
    d->beta[i] = row_of(a->beta, t + i)[head];
  }
  for (int i = 0; i < n; i++) {
    float c = 1;
    for (int s = i; s >= 0; s--) {
      d->near[i][s] = s < i ? c * dot_of(k + s * width, k + i * width, width) : 0;
      d->seen[i][s] = c * dot_of(k + s * width, q + i * width, width);
      c *= decay[s];
    }
    d->decay[i] = c;
    d->rest[i] = 1;
    for (int s = i + 1; s < n; s++) d->rest[i] *= decay[s];
  }
}

// delta_step runs n tokens over one block of state columns.
INLINE void delta_step(int n, const delta_group *d, const float *q, const float *k, int64_t width, int64_t dim, float *state, vf v[GROUP][DV], vf o[GROUP][DV]) {
  vf sk[GROUP][DV], sq[GROUP][DV];
  UNROLL
  for (int i = 0; i < n; i++) {
    UNROLL
    for (int c = 0; c < DV; c++) sk[i][c] = sq[i][c] = (vf){0};
  }
  for (int64_t r = 0; r < dim; r++) {
    UNROLL
    for (int c = 0; c < DV; c++) {
      vf s = vload(state + r * DELTA_COLS + c * VW);
      UNROLL
      for (int i = 0; i < n; i++) {
        sk[i][c] += s * k[i * width + r];
        sq[i][c] += s * q[i * width + r];
      }
    }
  }
  UNROLL
  for (int i = 0; i < n; i++) {
    UNROLL
    for (int c = 0; c < DV; c++) {
      vf u = v[i][c] - sk[i][c] * d->decay[i], y = sq[i][c] * d->decay[i];
      for (int s = 0; s < i; s++) u -= v[s][c] * d->near[i][s];
      v[i][c] = u * d->beta[i]; // v becomes u
      for (int s = 0; s <= i; s++) y += v[s][c] * d->seen[i][s];
      o[i][c] = y;
    }
  }
  vf w[GROUP][DV];
  UNROLL
  for (int i = 0; i < n; i++) {
    UNROLL
    for (int c = 0; c < DV; c++) w[i][c] = v[i][c] * d->rest[i];
  }
  for (int64_t r = 0; r < dim; r++) {
    UNROLL
    for (int c = 0; c < DV; c++) {
      float *p = state + r * DELTA_COLS + c * VW;
      vf s = vload(p) * d->decay[n - 1];
      UNROLL
      for (int i = 0; i < n; i++) s += w[i][c] * k[i * width + r];
      vstore(p, s);
    }
  }
}

// delta_block runs tokens [t0, t1) over the state columns from col.
static void delta_block(const clef_delta *a, const delta_group *d, int64_t head, int64_t t0, int64_t t1, int64_t col, const float *q, const float *k,
                        int64_t width, float *state) {
  const int64_t from = 2 * a->key_heads * a->key_dim + head * a->value_dim + col;
  for (int64_t t = t0; t < t1; t += GROUP, d++, q += GROUP * width, k += GROUP * width) {
    int n = t1 - t < GROUP ? (int)(t1 - t) : GROUP;
    vf v[GROUP][DV], o[GROUP][DV];
    for (int i = 0; i < n; i++)
      for (int c = 0; c < DV; c++) {
        int64_t room = a->value_dim - col - c * VW;
        v[i][c] = room > 0 ? vpart(row_of(a->qkv, t + i) + from + c * VW, room) : (vf){0};
      }
    switch (n) {
    case 4: delta_step(4, d, q, k, width, a->key_dim, state, v, o); break;
    case 3: delta_step(3, d, q, k, width, a->key_dim, state, v, o); break;
    case 2: delta_step(2, d, q, k, width, a->key_dim, state, v, o); break;
    default: delta_step(1, d, q, k, width, a->key_dim, state, v, o);
    }
    for (int i = 0; i < n; i++)
      for (int c = 0; c < DV; c++) {
        int64_t room = a->value_dim - col - c * VW;
        if (room > 0) vkeep(row_of(a->dst, t + i) + head * a->value_dim + col + c * VW, o[i][c], room);
      }
  }
}

// move_state copies one head's state to blocks of columns, or back.
static void move_state(const clef_delta *a, float *state, float *blocks, int back) {
  for (int64_t col = 0; col < a->value_dim; col += DELTA_COLS, blocks += a->key_dim * DELTA_COLS)
    for (int64_t r = 0; r < a->key_dim; r++) {
      int64_t n = a->value_dim - col < DELTA_COLS ? a->value_dim - col : DELTA_COLS;
      float *p = state + r * a->value_dim + col, *b = blocks + r * DELTA_COLS;
      if (back) memcpy(p, b, (size_t)n * 4);
      else memcpy(b, p, (size_t)n * 4);
    }
}

// path_delta runs one value head over all rows. scratch holds the state in blocks and
// DELTA_TOKENS unit queries and keys; see deltaScratch in delta.go.
static void path_delta(const clef_delta *a, int64_t head, float *scratch) {
  const int64_t key = head / (a->value_heads / a->key_heads), width = round_up(a->key_dim, 16);
  const int64_t block = a->key_dim * DELTA_COLS, blocks = (a->value_dim + DELTA_COLS - 1) / DELTA_COLS;
  float *q = scratch + blocks * block, *k = q + DELTA_TOKENS * width;
  delta_group groups[DELTA_TOKENS / GROUP];
  memset(scratch, 0, (size_t)(blocks * block + 2 * DELTA_TOKENS * width) * 4);
  float *state = a->state ? a->state + head * a->key_dim * a->value_dim : 0;
  if (state) move_state(a, state, scratch, 0);
  const float scale = 1.0f / __builtin_sqrtf((float)a->key_dim);
  for (int64_t t = 0; t < a->qkv.rows; t += DELTA_TOKENS) {
    int64_t end = t + DELTA_TOKENS < a->qkv.rows ? t + DELTA_TOKENS : a->qkv.rows;
    unit_rows(a->qkv, key * a->key_dim, a->key_dim, t, end, a->eps, scale, q, width);
    unit_rows(a->qkv, (a->key_heads + key) * a->key_dim, a->key_dim, t, end, a->eps, 1, k, width);
    for (int64_t s = t; s < end; s += GROUP)
      set_group(&groups[(s - t) / GROUP], end - s < GROUP ? (int)(end - s) : GROUP, q + (s - t) * width, k + (s - t) * width, a, head, s, width);
    for (int64_t b = 0; b < blocks; b++) delta_block(a, groups, head, t, end, b * DELTA_COLS, q, k, width, scratch + b * block);
  }
  if (state) move_state(a, state, scratch, 1);
}
