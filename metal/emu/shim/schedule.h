// schedule.h - fibers: switching, choosing the next one, rendezvous of a simdgroup, barriers of a threadgroup.
#pragma once
asm(R"(
.text
.globl msl_switch
.hidden msl_switch
.type msl_switch,@function
msl_switch:
 pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
 movq %rsp,(%rdi); movq %rsi,%rsp
 popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
 ret
)");
static inline uint32_t rnd(TG *t) {
  t->rng ^= t->rng << 13;
  t->rng ^= t->rng >> 7;
  t->rng ^= t->rng << 17;
  return (uint32_t)(t->rng >> 16);
}
// pick returns the next ready lane: in order, in reverse order, or at random.
static inline uint32_t pick(TG *t, uint32_t mask, uint32_t after) {
  if (t->rng) {
    int k = rnd(t) % __builtin_popcount(mask);
    while (k--) mask &= mask - 1;
    return __builtin_ctz(mask);
  }
  if (t->reverse) {
    uint32_t lo = after == 0 ? 0 : mask & (~0u >> (32 - after));
    return 31 - __builtin_clz(lo ? lo : mask);
  }
  uint32_t hi = after >= 31 ? 0 : mask & (~0u << (after + 1));
  return __builtin_ctz(hi ? hi : mask);
}
static inline uint32_t nearest(TG *t, uint32_t mask) {
  return t->reverse ? 31 - __builtin_clz(mask) : __builtin_ctz(mask);
}
static Fiber *next_ready(Fiber *f) {
  TG *t = f->tg;
  SG *s = f->sg;
  if (s->ready && (!t->rng || (rnd(t) & 3))) return s->f[pick(t, s->ready, f->lane)];
  uint32_t st = t->rng ? rnd(t) % t->nsg : s->index;
  for (uint32_t i = 1; i <= t->nsg; i++) {
    SG &q = t->sg[(t->reverse ? st + t->nsg - i : st + i) % t->nsg];
    if (q.ready) return q.f[pick(t, q.ready, t->reverse ? 0 : 31)];
  }
  return nullptr;
}
static void stuck(Fiber *f) { // nobody can run: some threads wait at one site, the others elsewhere or gone
  TG *t = f->tg;
  std::string m;
  int nb = 0;
  for (uint32_t i = 0; i < t->nsg && nb < 4; i++) {
    SG &s = t->sg[i];
    for (uint32_t l = 0; l < s.nlanes && nb < 4; l++)
      if (s.alive >> l & 1) {
        Fiber *g = s.f[l];
        char b[128];
        snprintf(b, sizeof b, "%s thread %u waits at %s (line %u)", nb ? ";" : "", g->tid, g->op, g->line);
        bool dup = false;
        if (m.find(b + (nb ? 1 : 0), 0) != std::string::npos) dup = true;
        for (uint32_t k = 0; k < l; k++)
          if (s.alive >> k & 1 && s.f[k]->line == g->line && s.f[k]->op == g->op) dup = true;
        if (!dup) {
          m += b;
          nb++;
        }
      }
  }
  msl_fail(f, "divergence deadlock: %u of %u threads still alive:%s", t->alive, t->n, m.c_str());
}
extern "C" void msl_switch_next(Fiber *f) {
  Fiber *n = next_ready(f);
  if (!n) stuck(f);
  if (n == f) return;
  msl_switch(&f->sp, n->sp);
}
static inline void sg_release(SG *s, uint32_t p) {
  s->active[p] = s->arrived;
  s->done[p] = 0;
  s->arrived = 0;
  s->ready = s->alive;
  s->pend_op = nullptr;
}
extern "C" void msl_sg_wait(Fiber *f) {
  SG *s = f->sg;
  uint32_t me = 1u << f->lane;
  if (s->alive != s->all && !strcmp(f->op, "simdgroup_multiply_accumulate"))
    msl_fail(f, "simdgroup matrix operation (line %u) with exited lanes", f->line);
  if (s->arrived && (s->pend_line != f->line || s->pend_op != f->op))
    msl_fail(f, "divergent simdgroup operation: this lane executes %s (line %u) while other lanes wait in %s (line %u)",
             f->op, f->line, s->pend_op, s->pend_line);
  s->pend_line = f->line;
  s->pend_op = f->op;
  s->arrived |= me;
  if (s->arrived == s->alive) {
    if (s->alive != s->all)
      msl_warn(f, "%s (line %u) executed with %d of %u lanes active (the others have returned)", f->op, f->line,
               __builtin_popcount(s->alive), s->nlanes);
    sg_release(s, f->parity);
    return;
  }
  uint32_t r = s->ready &= ~me;
  if (r && !f->tg->rng) {
    msl_switch(&f->sp, s->f[nearest(f->tg, r)]->sp);
    return;
  } // common case: next lane of the same simdgroup
  msl_switch_next(f);
}
extern "C" void msl_sg_yield(Fiber *f) {
  SG *s = f->sg;
  uint32_t r = s->ready &= ~(1u << f->lane);
  if (r && !f->tg->rng)
    msl_switch(&f->sp, s->f[nearest(f->tg, r)]->sp);
  else
    msl_switch_next(f);
}
static uint32_t g_epoch = 1, g_dispatch_epoch = 1;
constexpr uint32_t kNoOrder = 0x100; // in place of barrier flags: threads meet, memory is not ordered
static inline void tg_release(TG *t) {
  for (uint32_t i = 0; i < t->nsg; i++) {
    t->sg[i].ready = t->sg[i].alive;
    if (t->bar_flags != kNoOrder) t->sg[i].epoch++;
  }
  t->arrived = 0;
  if (t->bar_flags == kNoOrder) return;
  t->ep_exec = ++g_epoch;
  if (t->bar_flags & 2) t->ep_tg = ++g_epoch;
  if (t->bar_flags & 1) t->ep_dev = ++g_epoch;
}
// meet makes all threads of a threadgroup wait for each other at op.
static void meet(Fiber *f, msl_str op, uint32_t flags, uint32_t line) {
  TG *t = f->tg;
  f->op = op;
  f->line = line;
  if (t->arrived && t->bar_line != line)
    msl_fail(f, "barrier divergence: this thread is at %s line %u, others wait at line %u", op, line, t->bar_line);
  if (t->arrived && t->bar_flags != flags) msl_fail(f, "%s flags differ between threads (line %u)", op, line);
  t->bar_line = line;
  t->bar_flags = flags;
  if (t->alive != t->n)
    msl_warn(f, "%s (line %u) reached after %u of %u threads returned early (undefined on the GPU)", op, line,
             t->n - t->alive, t->n);
  if (++t->arrived == t->alive) {
    tg_release(t);
    return;
  }
  f->sg->ready &= ~(1u << f->lane);
  msl_switch_next(f);
}
extern "C" void msl_tg_barrier(uint32_t flags, uint32_t line) { meet(self(), "threadgroup_barrier", flags, line); }
// msl_tensor_op: every thread of the scope has to come, and nothing is promised about memory.
extern "C" void msl_tensor_op(uint32_t simdgroups, uint32_t line) {
  Fiber *f = self();
  if (f->tg->nsg != simdgroups)
    msl_fail(f, "matmul2d for %u simdgroups run by %u (undefined on the GPU)", simdgroups, f->tg->nsg);
  meet(f, "matmul2d", kNoOrder, line);
}
extern "C" void msl_sg_barrier(uint32_t flags, uint32_t line) {
  Fiber *f = self();
  (void)flags;
  f->op = "simdgroup_barrier";
  f->line = line;
  f->parity ^= 1;
  SG *s = f->sg;
  uint32_t p = f->parity;
  bool last = (s->arrived | 1u << f->lane) == s->alive;
  (void)p;
  if (last) s->epoch++;
  msl_sg_wait(f);
}
static void fiber_main() {
  Fiber *f = self();
  TG *t = f->tg;
  const Kernel *k = t->ctx->k;
  k->call(k, t, f);
  f = self();
  t = f->tg;
  SG *s = f->sg;
  uint32_t me = 1u << f->lane;
  s->alive &= ~me;
  s->ready &= ~me;
  t->alive--;
  f->op = "exit";
  if (t->alive == 0) {
    void *d;
    msl_switch(&d, t->main_sp);
  }
  if (s->alive && s->arrived == s->alive) {
    Fiber *w = s->f[__builtin_ctz(s->alive)];
    if (!strcmp(w->op, "simdgroup_multiply_accumulate"))
      msl_fail(w, "simdgroup matrix operation (line %u) with exited lanes", w->line);
    msl_warn(w, "%s (line %u) executed with %d of %u lanes active (the others have returned)", w->op, w->line,
             __builtin_popcount(s->alive), s->nlanes);
    sg_release(s, w->parity);
  }
  if (t->arrived && t->arrived == t->alive) {
    msl_warn(f, "threadgroup_barrier (line %u) released although %u threads returned early (undefined on the GPU)",
             t->bar_line, t->n - t->alive);
    tg_release(t);
  }
  Fiber *n = next_ready(f);
  if (!n) stuck(f);
  void *d;
  msl_switch(&d, n->sp);
  __builtin_unreachable();
}
