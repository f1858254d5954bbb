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
extern "C" {
// C API used by the Go driver
// -----------------------------------------------------------------------------------------------------
__attribute__((visibility("default"))) const Kernel *msl_find(const char *name) {
  for (auto *k = msl_module.kernels; k; k = k->next)
    if (!strcmp(k->name, name)) return k;
  return nullptr;
}
__attribute__((visibility("default"))) int msl_set_const(const char *name, int index, double v, int defined) {
  int n = 0;
  for (auto *f = msl_module.fcs; f; f = f->next)
    if (name ? !strcmp(name, f->name) : f->index == index) {
      n++;
      f->set = defined;
      if (f->kind == 'b')
        *(bool *)f->p = v != 0;
      else if (f->kind == 'f') {
        if (f->size == 4)
          *(float *)f->p = v;
        else
          *(_Float16 *)f->p = (_Float16)v;
      } else {
        int64_t q = (int64_t)v;
        memcpy(f->p, &q, f->size);
      }
    }
  return n;
}
// names of constants that were never given a value (newFunctionWithName:constantValues: would fail if the kernel uses
// them)
__attribute__((visibility("default"))) const char *msl_unset_consts() {
  static std::string o;
  o.clear();
  for (auto *f = msl_module.fcs; f; f = f->next)
    if (!f->set) {
      o += f->name;
      o += ' ';
    }
  return o.c_str();
}
__attribute__((visibility("default"))) void msl_apply_consts() {
  for (auto *r = msl_module.re; r; r = r->next) r->fn();
}
// one dispatch. flags: 1 = checked. Returns number of errors; text via msl_log.
__attribute__((visibility("default"))) int msl_dispatch(const char *name, const uint32_t *grid_threads,
                                                        const uint32_t *tg, void **buf, uint64_t *len, uint32_t nbuf,
                                                        uint32_t *tglen, uint32_t ntg, int flags, int how,
                                                        uint32_t seed, int threads) {
  const Kernel *k = msl_find(name);
  g_errs = 0;
  g_warns = 0;
  g_log.clear();
  g_seen.clear();
  if (!k) {
    errpc(nullptr, 0, "no kernel '%s'", name);
    return 1;
  }
  Ctx c;
  memset(&c, 0, sizeof c);
  c.k = k;
  c.buf = buf;
  c.buflen = len;
  c.nbuf = nbuf;
  c.tglen = tglen;
  c.ntg = ntg;
  c.check = flags & 1;
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
  if (!n || n > kMaxThreads) {
    errpc(nullptr, 0, "threads per threadgroup %lu outside 1..1024", (unsigned long)n);
    return 1;
  }
  uint32_t tgm = 0;
  for (uint32_t i = 0; i < ntg; i++) {
    tgm += tglen[i];
    if (tglen[i] % 16) {
      errpc(nullptr, 0, "threadgroup memory length %u at index %u is not a multiple of 16", tglen[i], i);
      return 1;
    }
  }
  if (tgm > 32768) {
    errpc(nullptr, 0, "threadgroup memory %u bytes exceeds 32 KB", tgm);
    return 1;
  }
  for (int i = 0; i < k->np; i++) {
    const Param &p = k->p[i];
    const ArgInfo &a = k->info()[i];
    if (p.src == kBuffer && !p.cond) {
      if ((uint32_t)p.index >= nbuf || !buf[p.index]) {
        errpc(nullptr, 0, "kernel %s: argument '%s' [[buffer(%d)]] is not bound", name, p.name, p.index);
        return 1;
      }
      if ((uintptr_t)buf[p.index] % a.align) {
        errpc(nullptr, 0, "kernel %s: buffer(%d) offset not aligned to %u", name, p.index, a.align);
        return 1;
      }
      if (a.is_ref && len[p.index] < a.size) {
        errpc(nullptr, 0, "kernel %s: buffer(%d) has %lu bytes, argument '%s' needs %u", name, p.index,
              (unsigned long)len[p.index], p.name, a.size);
        return 1;
      }
    }
    if (p.src == kTGMem && ((uint32_t)p.index >= ntg || !tglen[p.index])) {
      errpc(nullptr, 0, "kernel %s: threadgroup(%d) '%s' has no length set", name, p.index, p.name);
      return 1;
    }
  }
  Job j;
  j.c = &c;
  j.next = 0;
  j.total = total;
  j.order = nullptr;
  std::vector<uint32_t> order;
  if (c.order != kForward) {
    order.resize(total);
    for (uint32_t i = 0; i < total; i++) order[i] = c.order == kReverse ? total - 1 - i : i;
    uint64_t r = seed * 0x9E3779B97F4A7C15ull;
    for (uint32_t i = total; c.order == kSeeded && i > 1; i--) {
      r = r * 6364136223846793005ull + 1442695040888963407ull;
      std::swap(order[i - 1], order[(r >> 33) % i]);
    }
    j.order = order.data();
  }
  if (c.check) {
    if (!g_mod_lo) dl_iterate_phdr(modcb, nullptr);
    if (!g_tgsh)
      g_tgsh =
          (Shadow *)mmap(nullptr, sizeof(Shadow) * kMaxTG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (auto &d : g_dev) munmap(d.sh, (d.hi - d.lo) * sizeof(Shadow));
    g_dev.clear();
    g_last = nullptr;
    for (uint32_t i = 0; i < nbuf; i++)
      if (buf[i]) {
        bool dup = false;
        for (auto &d : g_dev)
          if (d.lo == (uintptr_t)buf[i]) dup = true;
        if (!dup)
          g_dev.push_back({(uintptr_t)buf[i], (uintptr_t)buf[i] + len[i],
                           (Shadow *)mmap(nullptr, sizeof(Shadow) * (len[i] + 64), PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
                           (int)i});
      }
    g_dispatch_epoch = ++g_epoch;
    threads = 1;
  }
  sig_on();
  if (threads <= 1 || total == 1)
    thread_main(&j);
  else {
    std::vector<pthread_t> th(threads);
    for (auto &x : th) pthread_create(&x, nullptr, thread_main, &j);
    for (auto &x : th) pthread_join(x, nullptr);
  }
  sig_off();
  return g_errs;
}
__attribute__((visibility("default"))) const char *msl_log() { return g_log.c_str(); }
} // extern "C"
