// Softmax attention in blocks of keys with a running maximum and sum (Milakov and
// Gimelshein; Dao et al.): memory grows with the number of rows, never with its square.
// A task is one key head with all query heads that share it, over some tokens; each block of
// keys and values is expanded to panels once and used by all of them.

enum { KEYS = 128 }; // keys in a block

// The scratch memory of a task, in this order.
typedef struct {
  uint8_t *q, *p; // queries and probabilities in the product's form
  uint32_t *k, *v;
  float *s, *o, *top, *sum;
  int64_t q_stride, p_stride, width, rows, group;
} attend_room;

static attend_room divide(const clef_attend *a, int64_t tokens, uint8_t *scratch) {
  const int64_t per = a->form == CLEF_FORM_BF16 ? 2 : 1;
  attend_room m = {0};
  m.group = a->heads / a->kv_heads;
  m.rows = tokens * m.group;
  m.width = round_up(a->dim, NR);
  m.q_stride = round_up(a->dim, 16) * 4 / per + 64;
  m.p_stride = KEYS * 4 / per + 64;
  m.k = (uint32_t *)(void *)scratch;
  m.v = m.k + KEYS * round_up((a->dim + per - 1) / per, VW);
  m.q = (uint8_t *)(m.v + m.width * KEYS / per);
  m.p = m.q + m.rows * m.q_stride;
  m.s = (float *)(void *)(m.p + m.rows * m.p_stride);
  m.o = m.s + m.rows * (KEYS + 16);
  m.top = m.o + m.rows * m.width;
  m.sum = m.top + round_up(m.rows, 16);
  return m;
}

static void bounds(const clef_attend *a, int64_t token, int64_t *lo, int64_t *hi) {
  *lo = a->spans ? a->spans[2 * token] : 0;
  *hi = a->spans ? a->spans[2 * token + 1] : a->past + token + 1;
}

// load_queries copies the task's queries, token by token, head by head.
static void load_queries(const clef_attend *a, const attend_room *m, int64_t head, int64_t from, int64_t to) {
  uint8_t *q = m->q;
  for (int64_t t = from; t < to; t++)
    for (int64_t h = 0; h < m->group; h++, q += m->q_stride) {
      const float *p = row_of(a->q, t) + (head * m->group + h) * a->dim;
      EACH(a->dim, c, room) {
        vf x = vpart(p + c, room);
        if (a->form == CLEF_FORM_BF16) {
          vh y = to_bf16(x);
          memcpy(q + c * 2, &y, sizeof y);
        } else {
          vstore((float *)(void *)q + c, x);
        }
      }
    }
}

// load_values lays out keys' values: a lane is one output dim of one key, or of two.
static void load_values(const clef_attend *a, const attend_room *m, int64_t head, int64_t k0, int64_t k1) {
  const int per = a->form == CLEF_FORM_BF16 ? 2 : 1;
  for (int64_t n = 0; n < m->width; n += VW) {
    uint32_t *out = m->v + n / NR * (KEYS / per) * NR + n % NR;
    for (int64_t k = k0; k < k0 + KEYS; k += per, out += NR) {
      vf x = (vf){0}, y = (vf){0};
      if (n < a->dim) {
        if (k < k1) x = vpart(row_of(a->v, k) + head * a->dim + n, a->dim - n);
        if (per == 2 && k + 1 < k1) y = vpart(row_of(a->v, k + 1) + head * a->dim + n, a->dim - n);
      }
      vu lane = per == 2 ? bf16_pairs(x, y) : (vu)x;
      memcpy(out, &lane, sizeof lane);
    }
  }
}

// weigh turns the scores [lo, hi) of one row into probabilities, the rest into zeros, and
// rescales what the row has so far.
static void weigh(const clef_attend *a, const attend_room *m, int64_t row, int64_t lo, int64_t hi) {
  float *s = m->s + row * (KEYS + 16);
  uint8_t *p = m->p + row * m->p_stride;
  lo = lo < 0 ? 0 : lo;
  hi = hi > KEYS ? KEYS : hi;
  const vi first = vseti((int32_t)lo), last = vseti((int32_t)hi);
  vi index;
  for (int i = 0; i < VW; i++) index[i] = i;
  vf best = vset(-1e30f);
  for (int c = 0; c < KEYS; c += VW, index += VW) {
    vf x = vpick((index >= first) & (index < last), vload(s + c) * a->scale, vset(-1e30f));
    vstore(s + c, x);
    best = vmax(best, x);
  }
  float top = vtop(best), old = m->top[row];
  if (top < old) top = old;
  vf total = (vf){0};
  for (int c = 0; c < KEYS; c += VW) {
    vf x = vload(s + c), e = vexp(x - top);
    e = vpick(x > vset(-1e29f), e, (vf){0});
    total += e;
    if (a->form == CLEF_FORM_BF16) {
      vh h = to_bf16(e);
      memcpy(p + c * 2, &h, sizeof h);
    } else {
      vstore((float *)(void *)p + c, e);
    }
  }
  if (top > old) {
    vf f = vexp(vset(old - top));
    for (int64_t c = 0; c < m->width; c += VW) vstore(m->o + row * m->width + c, vload(m->o + row * m->width + c) * f);
    m->sum[row] *= f[0];
  }
  m->top[row] = top;
  m->sum[row] += vsum(total);
}

INLINE void attend_tile(const clef_attend *a, int64_t rows, const uint8_t *x, int64_t stride, const uint32_t *panel, int64_t steps, float *c, int64_t ldc, int add) {
  if (a->form == CLEF_FORM_BF16) tile_bf16((int)rows, x, stride, panel, steps, c, ldc, add);
  else tile_f32((int)rows, x, stride, panel, steps, c, ldc, add);
}

// attend_keys adds one block of keys to rows [skip, rows) of the task.
static void attend_keys(const clef_attend *a, const attend_room *m, int64_t head, int64_t from, int64_t skip, int64_t k0, int64_t k1) {
  const int64_t per = a->form == CLEF_FORM_BF16 ? 2 : 1, rows = m->rows - skip, steps = (a->dim + per - 1) / per;
  const clef_weight keys = {
      .data = (const uint8_t *)(row_of(a->k, k0) + head * a->dim), .rows = k1 - k0, .cols = a->dim, .row_bytes = a->k.stride * 4, .type = CLEF_F32};
  const expander expand = expander_of(a->form, CLEF_F32);
  const uint8_t *q = m->q + skip * m->q_stride;
  for (int64_t n = 0; n < k1 - k0; n += NR) {
    uint32_t *panel = m->k + n * round_up(steps, VW);
    for (int v = 0; v < NV; v++) expand(&keys, n + v * VW, 0, a->dim, panel + v * VW);
    attend_tile(a, rows, q, m->q_stride, panel, steps, m->s + skip * (KEYS + 16) + n, KEYS + 16, 0);
  }
  for (int64_t r = skip; r < m->rows; r++) {
    int64_t lo, hi;
    bounds(a, from + r / m->group, &lo, &hi);
    weigh(a, m, r, lo - k0, hi - k0);
  }
  load_values(a, m, head, k0, k1);
  for (int64_t n = 0; n < m->width; n += NR)
    attend_tile(a, rows, m->p + skip * m->p_stride, m->p_stride, m->v + n * KEYS / per, KEYS / per, m->o + skip * m->width + n, m->width, 1);
}

// path_attend answers tokens [from, to) for the query heads of one key head. See
// attendScratch in attend.go for the scratch memory.
static void path_attend(const clef_attend *a, int64_t head, int64_t from, int64_t to, uint8_t *scratch) {
  const attend_room m = divide(a, to - from, scratch);
  int64_t first = a->k.rows, last = 0;
  for (int64_t t = from; t < to; t++) {
    int64_t lo, hi;
    bounds(a, t, &lo, &hi);
    first = lo < first ? lo : first;
    last = hi > last ? hi : last;
  }
  load_queries(a, &m, head, from, to);
  memset(m.o, 0, (size_t)(m.rows * m.width) * 4);
  for (int64_t r = 0; r < m.rows; r++) m.top[r] = -1e30f, m.sum[r] = 0;
  for (int64_t k0 = first / KEYS * KEYS; k0 < last; k0 += KEYS) {
    // Causal rows before the block see none of it.
    int64_t skip = a->spans || k0 - a->past <= from ? 0 : (k0 - a->past - from) * m.group;
    attend_keys(a, &m, head, from, skip, k0, k0 + KEYS < a->k.rows ? k0 + KEYS : a->k.rows);
  }
  for (int64_t r = 0; r < m.rows; r++) {
    const int64_t t = from + r / m.group, col = (head * m.group + r % m.group) * a->dim;
    const float inv = m.sum[r] > 0 ? 1.0f / m.sum[r] : 0;
    float *d = row_of(a->dst, t) + col;
    EACH(a->dim, c, room) {
      vf x = vload(m.o + r * m.width + c) * inv;
      if (a->gate.data) x *= vsigmoid(vpart(row_of(a->gate, t) + col + c, room));
      vkeep(d + c, x, room);
    }
  }
}
