// dispatch.h - one dispatch: check the arguments, lay out threadgroups over worker threads, run them in the order asked
// for.
#pragma once
static void run_tg(const Ctx *c, Worker *w, uint32_t lin) {
  TG t;
  memset(&t, 0, sizeof t);
  t.ctx = c;
  t.linear = lin;
  t.sg = w->sg;
  t.f = w->fib;
  t.arena = w->arena;
  t.pos[0] = lin % c->grid_tg[0];
  t.pos[1] = lin / c->grid_tg[0] % c->grid_tg[1];
  t.pos[2] = lin / c->grid_tg[0] / c->grid_tg[1];
  t.n = 1;
  for (int i = 0; i < 3; i++) {
    uint32_t left = c->grid_threads[i] - t.pos[i] * c->tg_size[i];
    t.size[i] = left < c->tg_size[i] ? left : c->tg_size[i];
    t.n *= t.size[i];
  }
  t.nsg = (t.n + 31) / 32;
  t.alive = t.n;
  t.reverse = c->order == kReverse;
  t.rng = c->order == kSeeded ? (uint64_t)c->seed * 0x9E3779B97F4A7C15ull + lin * 0x2545F4914F6CDD1Dull + 1 : 0;
  for (uint32_t i = 0; i < c->ntg && i < 32; i++)
    if (c->tglen[i]) t.dyn_off[i] = tg_alloc(&t, c->tglen[i], 16);
  memset(t.arena, 0xFF,
         c->check       ? kMaxTG
         : t.arena_used ? t.arena_used
                        : 4096); // 0xFF.. is a NaN for half, bfloat and float
  t.ep_tg = ++g_epoch;
  t.ep_dev = ++g_epoch;
  t.ep_exec = ++g_epoch;
  g_tg_start = t.ep_tg;
  for (uint32_t i = 0; i < t.nsg; i++) {
    SG &s = t.sg[i];
    s.index = i;
    s.nlanes = t.n - i * 32 < 32 ? t.n - i * 32 : 32;
    s.all = s.alive = s.ready = s.nlanes == 32 ? ~0u : (1u << s.nlanes) - 1;
    s.arrived = 0;
    s.epoch = 1;
    s.pend_op = nullptr;
    for (uint32_t l = 0; l < s.nlanes; l++) s.f[l] = w->fib[i * 32 + l];
  }
  for (uint32_t i = 0; i < t.n; i++) {
    Fiber *f = w->fib[i];
    f->tg = &t;
    f->sg = &t.sg[i / 32];
    f->tid = i;
    f->lane = i & 31;
    f->tpos[0] = i % t.size[0];
    f->tpos[1] = i / t.size[0] % t.size[1];
    f->tpos[2] = i / t.size[0] / t.size[1];
    f->parity = 0;
    f->op = "run";
    f->line = 0;
    uintptr_t *sp = (uintptr_t *)(((uintptr_t)f & ~(kStack - 1)) + kStack - 4096 - 64 - (i & 63) * 192);
    *--sp = 0;
    *--sp = (uintptr_t)fiber_main;
    for (int k = 0; k < 6; k++) *--sp = 0;
    f->sp = sp;
  }
  g_on = c->check;
  msl_switch(&t.main_sp, w->fib[t.rng ? rnd(&t) % t.n : t.reverse ? t.n - 1 : 0]->sp);
  g_on = false;
}
struct Job {
  const Ctx *c;
  std::atomic<uint32_t> next;
  uint32_t total, *order;
};
static void *job_main(void *p) {
  Job *j = (Job *)p;
  Worker *w = get_worker();
  for (uint32_t i; (i = j->next++) < j->total;) run_tg(j->c, w, j->order ? j->order[i] : i);
  std::lock_guard<std::mutex> l(g_mu);
  g_free.push_back(w);
  return nullptr;
}
static void *thread_main(void *p) {
  stack_t ss, old;
  ss.ss_sp = malloc(65536);
  ss.ss_size = 65536;
  ss.ss_flags = 0;
  sigaltstack(&ss, &old);
  job_main(p);
  sigaltstack(&old, nullptr);
  free(ss.ss_sp);
  return nullptr;
}

// ---- checks before anything runs ----
static bool check_size(const uint64_t threads, const uint32_t *tglen, uint32_t ntg) {
  if (!threads || threads > kMaxThreads) {
    errpc(nullptr, 0, "threads per threadgroup %lu outside 1..1024", (unsigned long)threads);
    return false;
  }
  uint32_t sum = 0;
  for (uint32_t i = 0; i < ntg; i++) {
    sum += tglen[i];
    if (tglen[i] % 16) {
      errpc(nullptr, 0, "threadgroup memory length %u at index %u is not a multiple of 16", tglen[i], i);
      return false;
    }
  }
  if (sum > 32768) {
    errpc(nullptr, 0, "threadgroup memory %u bytes exceeds 32 KB", sum);
    return false;
  }
  return true;
}
static bool check_argument(const Ctx &c, const Param &p, const ArgInfo &a) {
  const char *name = c.k->name;
  if (p.src == kBuffer && !p.cond) {
    if ((uint32_t)p.index >= c.nbuf || !c.buf[p.index]) {
      errpc(nullptr, 0, "kernel %s: argument '%s' [[buffer(%d)]] is not bound", name, p.name, p.index);
      return false;
    }
    if ((uintptr_t)c.buf[p.index] % a.align) {
      errpc(nullptr, 0, "kernel %s: buffer(%d) offset not aligned to %u", name, p.index, a.align);
      return false;
    }
    if (a.is_ref && c.buflen[p.index] < a.size) {
      errpc(nullptr, 0, "kernel %s: buffer(%d) has %lu bytes, argument '%s' needs %u", name, p.index,
            (unsigned long)c.buflen[p.index], p.name, a.size);
      return false;
    }
  }
  if (p.src == kTGMem && ((uint32_t)p.index >= c.ntg || !c.tglen[p.index])) {
    errpc(nullptr, 0, "kernel %s: threadgroup(%d) '%s' has no length set", name, p.index, p.name);
    return false;
  }
  return true;
}
// order_groups fills the order in which threadgroups run; an empty list means as they come.
static void order_groups(std::vector<uint32_t> &order, uint32_t total, int how, uint32_t seed) {
  if (how == kForward) return;
  order.resize(total);
  for (uint32_t i = 0; i < total; i++) order[i] = how == kReverse ? total - 1 - i : i;
  uint64_t r = seed * 0x9E3779B97F4A7C15ull;
  for (uint32_t i = total; how == kSeeded && i > 1; i--) {
    r = r * 6364136223846793005ull + 1442695040888963407ull;
    std::swap(order[i - 1], order[(r >> 33) % i]);
  }
}
// watch gives every bound buffer a fresh shadow.
static void watch(const Ctx &c, Module *m) {
  g_mod = m;
  g_mod_lo = g_mod_hi = 0;
  dl_iterate_phdr(modcb, nullptr);
  if (!g_tgsh) g_tgsh = map_shadow(kMaxTG);
  for (auto &d : g_dev) munmap(d.sh, d.bytes);
  g_dev.clear();
  g_last = nullptr;
  for (uint32_t i = 0; i < c.nbuf; i++) {
    if (!c.buf[i]) continue;
    bool dup = false;
    for (auto &d : g_dev) dup = dup || d.lo == (uintptr_t)c.buf[i];
    if (!dup)
      g_dev.push_back({(uintptr_t)c.buf[i], (uintptr_t)c.buf[i] + c.buflen[i], map_shadow(c.buflen[i] + 64),
                       sizeof(Shadow) * (c.buflen[i] + 64), (int)i});
  }
  g_dispatch_epoch = ++g_epoch;
}
static void run_groups(Job &j, int threads) {
  sig_on();
  if (threads <= 1 || j.total == 1)
    thread_main(&j);
  else {
    std::vector<pthread_t> th(threads);
    for (auto &x : th) pthread_create(&x, nullptr, thread_main, &j);
    for (auto &x : th) pthread_join(x, nullptr);
  }
  sig_off();
}
extern "C" {
// msl_dispatch runs one dispatch and returns the number of errors; msl_log has their text. One at a time in a process.
int msl_dispatch(Module *m, const char *name, const uint32_t *grid_threads, const uint32_t *tg, void **buf,
                 uint64_t *len, uint32_t nbuf, uint32_t *tglen, uint32_t ntg, int check, int how, uint32_t seed,
                 int threads) {
  g_errs = 0;
  g_warns = 0;
  g_log.clear();
  g_seen.clear();
  Ctx c;
  memset(&c, 0, sizeof c);
  c.k = msl_find(m, name);
  if (!c.k) {
    errpc(nullptr, 0, "no kernel '%s'", name);
    return 1;
  }
  c.buf = buf;
  c.buflen = len;
  c.nbuf = nbuf;
  c.tglen = tglen;
  c.ntg = ntg;
  c.check = check;
  c.order = how;
  c.seed = seed;
  uint64_t n = 1, total = 1;
  for (int i = 0; i < 3; i++) {
    c.tg_size[i] = tg[i];
    c.grid_threads[i] = grid_threads[i];
    c.grid_tg[i] = (grid_threads[i] + tg[i] - 1) / (tg[i] ? tg[i] : 1);
    n *= tg[i];
    total *= c.grid_tg[i];
  }
  if (!check_size(n, tglen, ntg)) return 1;
  for (int i = 0; i < c.k->np; i++)
    if (!check_argument(c, c.k->p[i], c.k->info()[i])) return 1;
  std::vector<uint32_t> order;
  order_groups(order, total, how, seed);
  Job j;
  j.c = &c;
  j.next = 0;
  j.total = total;
  j.order = order.empty() ? nullptr : order.data();
  if (check) watch(c, m);
  run_groups(j, check ? 1 : threads);
  return g_errs;
}
const char *msl_log() { return g_log.c_str(); }
} // extern "C"
