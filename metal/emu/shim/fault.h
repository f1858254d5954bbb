// fault.h - workers with their stacks, and faults inside a kernel (wild pointer, stack overflow, division by zero) as
// findings.
#pragma once
struct Worker {
  Fiber *fib[kMaxThreads];
  SG *sg;
  unsigned char *arena;
};
static std::vector<Worker *> g_free;
static std::vector<std::pair<uintptr_t, uintptr_t>> g_stacks;
static Worker *get_worker() {
  {
    std::lock_guard<std::mutex> l(g_mu);
    if (!g_free.empty()) {
      auto *w = g_free.back();
      g_free.pop_back();
      return w;
    }
  }
  auto *w = new Worker;
  size_t sz = kStack * (kMaxThreads + 1);
  char *m = (char *)mmap(nullptr, sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED) give_up("no memory for the stacks of the threads");
  uintptr_t b = ((uintptr_t)m + kStack - 1) & ~(kStack - 1);
  for (int i = 0; i < kMaxThreads; i++) {
    mprotect((void *)(b + i * kStack), 4096, PROT_NONE);
    w->fib[i] = (Fiber *)fiber_at(b + i * kStack);
  }
  {
    std::lock_guard<std::mutex> l(g_mu);
    g_stacks.push_back({b, b + kStack * kMaxThreads});
  }
  w->sg = (SG *)aligned_alloc(64, sizeof(SG) * 32);
  w->arena = (unsigned char *)aligned_alloc(4096, kMaxTG);
  return w;
}
static struct sigaction g_old[3];
static const int g_sigs[3] = {SIGSEGV, SIGBUS, SIGFPE};
static int g_depth;
static void crash_entry(Fiber *f, uintptr_t pc, int sig, uintptr_t addr) {
  errpc(f, pc,
        sig == SIGFPE  ? "integer division by zero"
        : addr < 65536 ? "null pointer access (address 0x%lx): optional buffer not bound?"
                       : "memory fault at 0x%lx (wild pointer, or private stack overflow)",
        (unsigned long)addr);
  abort_tg(f);
}
static void on_sig(int sig, siginfo_t *si, void *uc) {
  auto *c = (ucontext_t *)uc;
  uintptr_t sp = c->uc_mcontext.gregs[REG_RSP];
  for (auto &r : g_stacks)
    if (sp >= r.first && sp < r.second) {
      Fiber *f = (Fiber *)fiber_at(sp);
      auto *g = c->uc_mcontext.gregs;
      g[REG_RDI] = (greg_t)f;
      g[REG_RSI] = g[REG_RIP];
      g[REG_RDX] = sig;
      g[REG_RCX] = sig == SIGFPE ? 0 : (greg_t)si->si_addr;
      g[REG_RIP] = (greg_t)crash_entry;
      g[REG_RSP] = (sp & ~(kStack - 1)) + kStack - 8192 - 8;
      return;
    }
  for (int i = 0; i < 3; i++)
    if (g_sigs[i] == sig) {
      if (g_old[i].sa_flags & SA_SIGINFO)
        g_old[i].sa_sigaction(sig, si, uc);
      else if (g_old[i].sa_handler != SIG_DFL && g_old[i].sa_handler != SIG_IGN)
        g_old[i].sa_handler(sig);
      else {
        signal(sig, SIG_DFL);
        raise(sig);
      }
    }
}
static void sig_on() {
  std::lock_guard<std::mutex> l(g_mu);
  if (g_depth++ == 0)
    for (int i = 0; i < 3; i++) {
      struct sigaction a;
      memset(&a, 0, sizeof a);
      a.sa_sigaction = on_sig;
      a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
      sigaction(g_sigs[i], &a, &g_old[i]);
    }
}
static void sig_off() {
  std::lock_guard<std::mutex> l(g_mu);
  if (--g_depth == 0)
    for (int i = 0; i < 3; i++) sigaction(g_sigs[i], &g_old[i], nullptr);
}
