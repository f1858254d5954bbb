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
  int idx;
};
static std::vector<DevBuf> g_dev;
static DevBuf *g_last; // the buffer of the access before
static Shadow *g_tgsh;
static uint32_t g_tg_start;
static thread_local bool g_on;
static uintptr_t g_mod_lo, g_mod_hi;
static Shadow *g_dummy;
static int modcb(dl_phdr_info *i, size_t, void *) {
  for (int k = 0; k < i->dlpi_phnum; k++) {
    auto &p = i->dlpi_phdr[k];
    if (p.p_type != PT_LOAD) continue;
    uintptr_t lo = i->dlpi_addr + p.p_vaddr, hi = lo + p.p_memsz;
    if ((uintptr_t)&msl_module >= lo && (uintptr_t)&msl_module < hi) {
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
static void access(uintptr_t a, uint32_t n, bool w, uintptr_t pc, bool atomic = false) {
  if (!g_on) return;
  Fiber *f = self();
  uintptr_t fb = (uintptr_t)f;
  if (((a ^ fb) & ~(kStack - 1)) == 0) return; // own stack (private memory)
  TG *t = f->tg;
  if (a - (uintptr_t)t->sg < sizeof(SG) * 32) return; // the exchange slots of the shim itself
  Shadow *sh = nullptr;
  uint32_t ep;
  const char *what;
  int idx = -1;
  uintptr_t off = 0;
  uintptr_t ar = (uintptr_t)t->arena;
  if (a >= ar && a < ar + kMaxTG) {
    uint32_t o = a - ar, owner = 0;
    bool ok = false;
    what = "threadgroup";
    off = o;
    for (auto &s : t->st)
      if (s.size && o >= s.off && o < s.off + s.size) {
        owner = s.off;
        off = o - s.off;
        ok = o + n <= s.off + s.size;
      }
    for (uint32_t i = 0; i < t->ctx->ntg && i < 31; i++)
      if (t->ctx->tglen[i] && o >= t->dyn_off[i] && o < t->dyn_off[i] + t->ctx->tglen[i]) {
        owner = t->dyn_off[i];
        idx = i;
        off = o - owner;
        ok = o + n <= t->dyn_off[i] + t->ctx->tglen[i];
      }
    if (!ok) {
      errpc(f, pc, "%s of %u bytes out of bounds of threadgroup memory (arena offset %u)", w ? "write" : "read", n, o);
      return;
    }
    sh = g_tgsh + o;
    ep = t->ep_tg;
  } else {
    DevBuf *d = nullptr;
    if (g_last && a >= g_last->lo && a < g_last->hi)
      d = g_last;
    else
      for (auto &b : g_dev)
        if (a >= b.lo - 4096 && a < b.hi + 4096) {
          d = g_last = &b;
          if (a >= b.lo && a < b.hi) break;
        }
    if (!d) {
      if (a >= g_mod_lo && a + n <= g_mod_hi) return;
      errpc(f, pc, "%s of %u bytes through a wild pointer 0x%lx (no bound buffer, threadgroup or private memory)",
            w ? "write" : "read", n, (unsigned long)a);
      abort_tg(f);
    }
    if (a < d->lo || a + n > d->hi) {
      errpc(f, pc, "%s of %u bytes out of bounds of buffer(%d): offset %ld, length %ld", w ? "write" : "read", n,
            d->idx, (long)(a - d->lo), (long)(d->hi - d->lo));
      if (w) abort_tg(f);
      return;
    }
    sh = d->sh + (a - d->lo);
    ep = t->ep_dev;
    what = "device";
    idx = d->idx;
    off = a - d->lo;
  }
  bool tgm = what[0] == 't';
  uint32_t id = t->linear * kMaxThreads + f->tid + 1, sgi = f->sg->index, start = tgm ? g_tg_start : g_dispatch_epoch;
  for (uint32_t i = 0; i < n; i++) {
    Shadow &s = sh[i];
    bool bad = false;
    if (tgm && !w && s.we < start) {
      errpc(f, pc, "read of uninitialised threadgroup memory (offset %lu)", (unsigned long)off);
      return;
    }
    if (!atomic) {
      auto conflict = [&](uint32_t ot, uint32_t oe, uint32_t os) {
        if (!ot || ot == id || oe < start) return false;
        if ((ot - 1) / kMaxThreads != t->linear) return true;
        if (oe != ep) return false;
        return !(((ot - 1) % kMaxThreads) / kSimd == sgi && os != f->sg->epoch);
      };
      bad = conflict(s.wt, s.we, s.ws) || (w && conflict(s.rt, s.re, s.rs));
      if (bad) {
        bool byw = conflict(s.wt, s.we, s.ws);
        uint32_t o = byw ? s.wt : s.rt;
        bool weak = (byw ? s.wx : s.rx) != t->ep_exec && (o - 1) / kMaxThreads == t->linear;
        char where[64];
        snprintf(where, sizeof where, idx < 0 ? "%s memory" : tgm ? "%s memory(%d)" : "%s buffer(%d)", what, idx);
        (weak ? warnpc : errpc)(
            f, pc,
            weak ? "%s offset %lu: this %s and the %s by thread %u are separated only by a barrier without %s"
                 : "data race on %s offset %lu: this %s conflicts with a %s by thread %u%s",
            where, (unsigned long)off, w ? "write" : "read", byw ? "write" : "read", (o - 1) % kMaxThreads,
            weak ? tgm ? "mem_threadgroup" : "mem_device"
            : ((o - 1) / kMaxThreads == t->linear && ((o - 1) % kMaxThreads) / kSimd == sgi)
                ? " of the same simdgroup (relies on lock-step: simdgroup_barrier missing)"
            : (o - 1) / kMaxThreads == t->linear ? ", no barrier between"
                                                 : " of ANOTHER threadgroup");
        return;
      }
    }
    if (w) {
      s.wt = atomic ? 0 : id;
      s.we = ep;
      s.ws = f->sg->epoch;
      s.wx = t->ep_exec;
    } else {
      s.rt = id;
      s.re = ep;
      s.rs = f->sg->epoch;
      s.rx = t->ep_exec;
    }
  }
}
