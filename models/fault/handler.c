//go:build unix

// handler.c - SIGBUS in a watched region becomes zeros.
//
// Go wants of a handler that it runs on the alternative stack, changes no mask and gives Go's faults to Go's handler
// (os/signal, "Go programs that use cgo"). Faults in a watched region are resolved here, whatever code has raised them;
// all others are passed on untouched.
#include "handler.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

// A region is never freed, because a handler may be looking at it, but it is used again. turn is odd while its
// bounds change: then it is nobody's, as only regions that nobody reads change.
struct fault_region {
  _Atomic uintptr_t from, to; // equal: free
  _Atomic unsigned turn;
  _Atomic int lost;
  struct fault_region *next;
};

static _Atomic(fault_region *) regions;
static struct sigaction before;

// zeros puts fresh pages over the region that at is in, all of it: the rest of the file is likely to be as lost, and a
// failing disk must not be waited for page by page.
static int zeros(uintptr_t at) {
  for (fault_region *r = regions; r; r = r->next) {
    unsigned turn = r->turn;
    uintptr_t from = r->from, to = r->to;
    if (turn % 2 || at < from || at >= to || r->turn != turn) continue;
    r->lost = 1;
    return mmap((void *)from, to - from, PROT_READ, MAP_PRIVATE | MAP_ANON | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  }
  return 0;
}

static void on_fault(int sig, siginfo_t *info, void *context) {
  int saved = errno;
  // A signal that was sent has a code below 1 and no address.
  int resolved = info->si_code > 0 && zeros((uintptr_t)info->si_addr);
  errno = saved;
  if (resolved) return;
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(sig, info, context);
  else
    sigaction(sig, &before, NULL); // the instruction runs again and faults again
}

void fault_install(void) {
  struct sigaction mine = {0};
  mine.sa_sigaction = on_fault;
  mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigfillset(&mine.sa_mask);
  sigaction(SIGBUS, NULL, &before);
  sigaction(SIGBUS, &mine, NULL);
}

static void bounds(fault_region *r, uintptr_t from, uintptr_t to) {
  r->turn++;
  r->from = from;
  r->to = to;
  r->lost = 0;
  r->turn++;
}

fault_region *fault_watch(uintptr_t from, uintptr_t n) {
  fault_region *r = regions;
  while (r && r->from != r->to) r = r->next;
  if (r) {
    bounds(r, from, from + n);
    return r;
  }
  r = calloc(1, sizeof *r);
  if (!r) return NULL;
  bounds(r, from, from + n);
  r->next = regions;
  regions = r;
  return r;
}

int fault_lost(fault_region *r) { return r->lost; }

void fault_end(fault_region *r) { bounds(r, 0, 0); }
