// runtime.h - execution model, shared by the kernels and runtime.cpp.
//
// One fiber per GPU thread. A fiber's control block sits at the TOP of its power-of-two aligned stack, so the
// current thread is found from the stack pointer alone: no TLS, no globals, safe from any OS worker thread.
#pragma once
#if !defined(__x86_64__) && !defined(__OPENCL_CPP_VERSION__)
#error "x86-64 only: msl_switch (schedule.h) and self() below need a port"
#endif
#include <stdint.h>
#include <stddef.h>
#ifdef MSL_STRICT
typedef const __constant char *msl_str; // OpenCL C++ puts string literals in constant memory
#else
typedef const char *msl_str;
#endif
namespace msl {
constexpr uintptr_t kStack = 256 * 1024; // per-thread stack (lowest page is a guard page)
constexpr int kMaxThreads = 1024, kSimd = 32, kMaxTG = 64 * 1024;
struct TG;
struct SG;
struct Fiber {
  void *sp;
  TG *tg;
  SG *sg;
  uint32_t tid, lane;
  uint32_t tpos[3];
  uint32_t line;
  msl_str op;
  uint32_t parity;
};
struct alignas(64) SG {
  uint32_t ready, alive, arrived, all; // lane masks
  uint32_t pend_line;
  msl_str pend_op; // site of the pending simdgroup operation
  uint32_t active[2];
  uint32_t done[2]; // active mask / result cached, per parity
  uint32_t epoch;   // bumped by simdgroup_barrier / threadgroup_barrier (race checker)
  uint32_t index, nlanes;
  alignas(64) unsigned char slot[2][kSimd][64];
  alignas(64) unsigned char res[2][64];
  struct {
    const void *a, *b, *c;
    void *d;
  } mm[kSimd];
  Fiber *f[kSimd];
};
enum Order { kForward, kReverse, kSeeded }; // of threads, simdgroups and threadgroups
struct Ctx {                                // one dispatch
  uint32_t grid_tg[3], tg_size[3], grid_threads[3];
  const struct Kernel *k;
  void **buf;
  uint64_t *buflen;
  uint32_t nbuf;
  uint32_t *tglen;
  uint32_t ntg;
  int check;
  int order; // Order
  uint32_t seed;
};
struct TG {
  const Ctx *ctx;
  uint32_t pos[3], size[3], n, nsg;
  uint32_t linear;
  uint32_t arrived, alive;
  uint32_t bar_line, bar_flags;
  msl_str bar_op;
  SG *sg;
  Fiber **f;
  void *main_sp;
  int failed;
  unsigned char *arena;
  uint32_t dyn_off[32];
  uint32_t arena_used;
  struct {
    uint32_t off, size;
  } st[64]; // static threadgroup variables, by declaration id
  uint32_t ep_tg, ep_dev, ep_exec;
  uint64_t rng; // 0: not random
  bool reverse;
};
// Equal offsets in power-of-two aligned stacks share one cache set, so control blocks are spread over the top page and
// the stack tops are staggered as well (measured: 2x on simdgroup operations).
__attribute__((always_inline)) inline uintptr_t fiber_at(uintptr_t sp) {
  return (sp & ~(kStack - 1)) + kStack - 4096 + ((sp / kStack & 15) << 8);
}
__attribute__((always_inline)) inline Fiber *self() {
  uintptr_t sp;
  asm("movq %%rsp,%0" : "=r"(sp));
  return (Fiber *)fiber_at(sp);
}
// Kernel registration -------------------------------------------------------------------------------------------
enum Src : int { kBuffer, kTGMem, kBuiltin };
enum Builtin : int {
  bTPIG,
  bTPITG,
  bTGPIG,
  bTPTG,
  bTGPG,
  bTPG,
  bTIITG,
  bTIISG,
  bSGITG,
  bSGPTG,
  bTPSG,
  bTIIQG,
  bQGITG,
  bDTPTG
};
struct Param {
  int src, index;
  const char *as, *name, *cond;
};
struct ArgInfo {
  const char *type;
  uint32_t size, align;
  int is_ptr, is_ref, is_const;
};
#ifndef MSL_STRICT
struct Kernel {
  const char *name;
  void (*call)(const Kernel *, TG *, Fiber *);
  const Param *p;
  int np;
  const ArgInfo *(*info)();
  const char *file;
  int line;
  void *fn;
  bool (*const *conds)();
  int fn_id;
  Kernel *next;
};
struct FConst {
  const char *name;
  int index;
  void *p;
  char kind;
  int size;
  bool set;
  FConst *next;
};
struct Reinit {
  void (*fn)();
  Reinit *next, *prev;
};
struct Module {
  Kernel *kernels;
  FConst *fcs;
  Reinit *re, *re_last;
};
#endif
} // namespace msl
#pragma GCC visibility push(default)
extern "C" {
void msl_sg_wait(msl::Fiber *);
void msl_switch_next(msl::Fiber *);
void msl_sg_yield(msl::Fiber *);
void msl_tg_barrier(uint32_t flags, uint32_t line);
void msl_sg_barrier(uint32_t flags, uint32_t line);
void msl_tensor_op(uint32_t simdgroups, uint32_t line);
void *msl_tg_static(uint32_t size, uint32_t align, int id, msl_str name);
[[noreturn]] void msl_fail(msl::Fiber *, const char *fmt, ...);
void msl_warn(msl::Fiber *, const char *fmt, ...);
uint64_t msl_atomic(void *p, int size, int op, uint64_t v, uint64_t expect, int *ok);
}
#pragma GCC visibility pop
