// shadow.h - threadgroup memory, and the shadow of every byte: who wrote and read it last, in which barrier epoch.
#pragma once
// Arena layout: every allocation is followed by a 64-byte red zone, so small overruns land in unowned bytes.
constexpr uint32_t kRed = 64;
static uint32_t tg_alloc(TG *t, uint32_t size, uint32_t align) {
  uint32_t o = (t->arena_used + align - 1) & ~(align - 1);
  if (o + size + kRed > kMaxTG) return ~0u;
  t->arena_used = o + size + kRed;
  return o;
}
extern "C" void *msl_tg_static(uint32_t size, uint32_t align, int id, const char *name) {
  Fiber *f = self();
  TG *t = f->tg;
  if (id >= 64) msl_fail(f, "too many static threadgroup variables");
  auto &s = t->st[id];
  if (!s.size) {
    s.off = tg_alloc(t, size, align < 16 ? 16 : align);
    s.size = size;
    uint32_t sum = 0;
    for (auto &x : t->st) sum += (x.size + 15) & ~15u;
    for (uint32_t i = 0; i < t->ctx->ntg && i < 31; i++) sum += t->ctx->tglen[i];
    if (s.off == ~0u || sum > 32768) msl_fail(f, "threadgroup memory exceeds 32 KB (%u bytes with '%s')", sum, name);
  }
  return t->arena + s.off;
}
// ---- checker: called from -fsanitize=thread instrumentation (own callbacks, not the TSan runtime)
// ----------------------------
struct Shadow {
  uint32_t wt, we, ws, wx, rt, re, rs, rx;
}; // writer / reader: thread+1, memory epoch, simdgroup epoch, execution epoch
struct DevBuf {
  uintptr_t lo, hi;
  Shadow *sh;
  size_t bytes; // of sh
  int idx;
};
static std::vector<DevBuf> g_dev;
static DevBuf *g_last; // the buffer of the access before
static Shadow *map_shadow(size_t n) {
  void *m =
      mmap(nullptr, sizeof(Shadow) * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED) give_up("no memory for the shadow");
  return (Shadow *)m;
}
static Shadow *g_tgsh;
static uint32_t g_tg_start;
static thread_local bool g_on;
static Module *g_mod; // the library that runs, whose own data kernels may read
static uintptr_t g_mod_lo, g_mod_hi;
static int modcb(dl_phdr_info *i, size_t, void *) {
  for (int k = 0; k < i->dlpi_phnum; k++) {
    auto &p = i->dlpi_phdr[k];
    if (p.p_type != PT_LOAD) continue;
    uintptr_t lo = i->dlpi_addr + p.p_vaddr, hi = lo + p.p_memsz;
    if ((uintptr_t)g_mod >= lo && (uintptr_t)g_mod < hi) {
      for (int j = 0; j < i->dlpi_phnum; j++) {
        auto &q = i->dlpi_phdr[j];
        if (q.p_type == PT_LOAD) {
          uintptr_t a = i->dlpi_addr + q.p_vaddr, b = a + q.p_memsz;
          if (!g_mod_lo || a < g_mod_lo) g_mod_lo = a;
          if (b > g_mod_hi) g_mod_hi = b;
        }
      }
      return 1;
    }
  }
  return 0;
}
// Place is where an access landed: its shadow, and what a message calls it.
struct Place {
  Shadow *sh;
  uint32_t epoch;
  bool shared; // threadgroup memory
  int index;   // of the buffer, -1 for a static threadgroup variable
  uintptr_t offset;
};
static const char *verb(bool w) { return w ? "write" : "read"; }
// find_shared looks an address up in threadgroup memory.
static bool find_shared(Fiber *f, uintptr_t a, uint32_t n, bool w, uintptr_t pc, Place &p) {
  TG *t = f->tg;
  uint32_t o = a - (uintptr_t)t->arena;
  bool ok = false;
  p = {g_tgsh + o, t->ep_tg, true, -1, o};
  for (auto &s : t->st)
    if (s.size && o >= s.off && o < s.off + s.size) {
      p.offset = o - s.off;
      ok = o + n <= s.off + s.size;
    }
  for (uint32_t i = 0; i < t->ctx->ntg && i < 31; i++)
    if (t->ctx->tglen[i] && o >= t->dyn_off[i] && o < t->dyn_off[i] + t->ctx->tglen[i]) {
      p.index = i;
      p.offset = o - t->dyn_off[i];
      ok = p.offset + n <= t->ctx->tglen[i];
    }
  if (!ok) errpc(f, pc, "%s of %u bytes out of bounds of threadgroup memory (arena offset %u)", verb(w), n, o);
  return ok;
}
// find_device looks an address up in the bound buffers. A near miss counts as out of bounds of the nearest buffer.
static bool find_device(Fiber *f, uintptr_t a, uint32_t n, bool w, uintptr_t pc, Place &p) {
  DevBuf *d = g_last && a >= g_last->lo && a < g_last->hi ? g_last : nullptr, *near = nullptr;
  for (auto &b : g_dev) {
    if (d) break;
    if (a >= b.lo && a < b.hi) d = g_last = &b;
    if (a >= b.lo - 4096 && a < b.hi + 4096) near = &b;
  }
  if (!d && a >= g_mod_lo && a + n <= g_mod_hi) return false; // constants of the kernel library
  if (!d) d = near;
  if (!d) {
    errpc(f, pc, "%s of %u bytes through a wild pointer 0x%lx (no bound buffer, threadgroup or private memory)",
          verb(w), n, (unsigned long)a);
    abort_tg(f);
  }
  if (a < d->lo || a + n > d->hi) {
    errpc(f, pc, "%s of %u bytes out of bounds of buffer(%d): offset %ld, length %ld", verb(w), n, d->idx,
          (long)(a - d->lo), (long)(d->hi - d->lo));
    if (w) abort_tg(f);
    return false;
  }
  p = {d->sh + (a - d->lo), f->tg->ep_dev, false, d->idx, a - d->lo};
  return true;
}
// Conflicting accesses: by another thread since the last barrier that orders this memory, in the other simdgroup or in
// the same one without a simdgroup barrier, or by another threadgroup at any time in the dispatch.
static bool conflict(const Fiber *f, uint32_t start, const Place &p, uint32_t thread, uint32_t epoch,
                     uint32_t simd_epoch) {
  uint32_t me = f->tg->linear * kMaxThreads + f->tid + 1;
  if (!thread || thread == me || epoch < start) return false;
  if ((thread - 1) / kMaxThreads != f->tg->linear) return true;
  if (epoch != p.epoch) return false;
  return !((thread - 1) % kMaxThreads / kSimd == f->sg->index && simd_epoch != f->sg->epoch);
}
// report_race says who was there before and what is missing between.
static void report_race(Fiber *f, uintptr_t pc, bool w, bool by_write, uint32_t other, uint32_t exec_epoch,
                        const Place &p) {
  const char *space = p.shared ? "threadgroup" : "device";
  char where[64];
  snprintf(where, sizeof where,
           p.index < 0 ? "%s memory"
           : p.shared  ? "%s memory(%d)"
                       : "%s buffer(%d)",
           space, p.index);
  uint32_t thread = (other - 1) % kMaxThreads;
  bool here = (other - 1) / kMaxThreads == f->tg->linear;
  if (here && exec_epoch != f->tg->ep_exec) {
    warnpc(f, pc, "%s offset %lu: this %s and the %s by thread %u are separated only by a barrier without %s", where,
           (unsigned long)p.offset, verb(w), verb(by_write), thread, p.shared ? "mem_threadgroup" : "mem_device");
    return;
  }
  const char *why = !here ? " of ANOTHER threadgroup"
                    : thread / kSimd == f->sg->index
                        ? " of the same simdgroup (relies on lock-step: simdgroup_barrier missing)"
                        : ", no barrier between";
  errpc(f, pc, "data race on %s offset %lu: this %s conflicts with a %s by thread %u%s", where, (unsigned long)p.offset,
        verb(w), verb(by_write), thread, why);
}
// access checks one load or store of n bytes and notes it.
static void access(uintptr_t a, uint32_t n, bool w, uintptr_t pc, bool atomic = false) {
  if (!g_on) return;
  Fiber *f = self();
  if (((a ^ (uintptr_t)f) & ~(kStack - 1)) == 0) return; // own stack: private memory
  TG *t = f->tg;
  if (a - (uintptr_t)t->sg < sizeof(SG) * 32) return; // the exchange slots of the shim itself
  uintptr_t arena = (uintptr_t)t->arena;
  Place p;
  if (a >= arena && a < arena + kMaxTG ? !find_shared(f, a, n, w, pc, p) : !find_device(f, a, n, w, pc, p)) return;
  uint32_t id = t->linear * kMaxThreads + f->tid + 1, start = p.shared ? g_tg_start : g_dispatch_epoch;
  for (uint32_t i = 0; i < n; i++) {
    Shadow &s = p.sh[i];
    if (p.shared && !w && s.we < start) {
      errpc(f, pc, "read of uninitialised threadgroup memory (offset %lu)", (unsigned long)p.offset);
      return;
    }
    if (!atomic) {
      bool by_write = conflict(f, start, p, s.wt, s.we, s.ws);
      if (by_write || (w && conflict(f, start, p, s.rt, s.re, s.rs))) {
        report_race(f, pc, w, by_write, by_write ? s.wt : s.rt, by_write ? s.wx : s.rx, p);
        return;
      }
    }
    if (w)
      s.wt = atomic ? 0 : id, s.we = p.epoch, s.ws = f->sg->epoch, s.wx = t->ep_exec;
    else
      s.rt = id, s.re = p.epoch, s.rs = f->sg->epoch, s.rx = t->ep_exec;
  }
}
