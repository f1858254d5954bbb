// report.h - findings: one per site, with severity, kernel, thread and code address.
#pragma once
extern "C" void msl_switch(void **save, void *to); // schedule.h
static std::mutex g_mu;
static std::string g_log;
static std::atomic<int> g_errs, g_warns;
static std::vector<uint64_t> g_seen;
static void addlog(const char *sev, Fiber *f, uintptr_t pc, const char *fmt, va_list ap) {
  char m[512];
  vsnprintf(m, sizeof m, fmt, ap);
  std::lock_guard<std::mutex> l(g_mu);
  (sev[0] == 'E' ? g_errs : g_warns)++;
  uint64_t h = pc ? pc : 1469598103934665603ull;
  if (!pc)
    for (const char *c = m; *c; c++) h = (h ^ *c) * 1099511628211ull; // one report per site
  for (auto s : g_seen)
    if (s == h) return;
  if (g_seen.size() > 60) return;
  g_seen.push_back(h);
  char b[900];
  Dl_info di;
  uintptr_t off = 0;
  if (pc && dladdr((void *)pc, &di)) off = pc - (uintptr_t)di.dli_fbase;
  if (f)
    snprintf(b, sizeof b, "%s\t%s\tthread %u (simdgroup %u lane %u) of threadgroup (%u,%u,%u)\tpc=0x%lx\t%s\n", sev,
             f->tg->ctx->k->name, f->tid, f->sg->index, f->lane, f->tg->pos[0], f->tg->pos[1], f->tg->pos[2],
             (unsigned long)off, m);
  else
    snprintf(b, sizeof b, "%s\t-\t-\tpc=0x%lx\t%s\n", sev, (unsigned long)off, m);
  g_log += b;
}
static void errpc(Fiber *f, uintptr_t pc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  addlog("ERROR", f, pc, fmt, ap);
  va_end(ap);
}
static void warnpc(Fiber *f, uintptr_t pc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  addlog("WARN", f, pc, fmt, ap);
  va_end(ap);
}
static void abort_tg(Fiber *f) {
  f->tg->failed = 1;
  void *d;
  msl_switch(&d, f->tg->main_sp);
  __builtin_unreachable();
}
extern "C" void msl_fail(Fiber *f, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  addlog("ERROR", f, 0, fmt, ap);
  va_end(ap);
  abort_tg(f);
  __builtin_unreachable();
}
extern "C" void msl_warn(Fiber *f, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  addlog("WARN", f, 0, fmt, ap);
  va_end(ap);
}
// give_up ends the process where the emulator itself cannot go on.
[[noreturn]] static void give_up(const char *why) {
  fprintf(stderr, "Metal emulator: %s\n", why);
  abort();
}
