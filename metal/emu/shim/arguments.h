// arguments.h - where a kernel finds its buffers, threadgroup memory and position.
#pragma once
namespace msl {
void *arg_ptr(const Kernel *k, int i, TG *t) {
  static unsigned char
      none[4096]; // an argument disabled by its function constant: reads are dead code on the GPU, so give it zeros
  const Param &p = k->p[i];
  if (p.src == kBuffer) {
    void *b = (uint32_t)p.index < t->ctx->nbuf ? t->ctx->buf[p.index] : nullptr;
    return !b && p.cond ? none : b;
  }
  return t->arena + t->dyn_off[p.index];
}
uint32_t builtin(int b, int ax, TG *t, Fiber *f) {
  const Ctx *c = t->ctx;
  switch (b) {
  case bTPIG:
    return t->pos[ax] * c->tg_size[ax] + f->tpos[ax];
  case bTPITG:
    return f->tpos[ax];
  case bTGPIG:
    return t->pos[ax];
  case bTPTG:
    return t->size[ax];
  case bDTPTG:
    return c->tg_size[ax];
  case bTGPG:
    return c->grid_tg[ax];
  case bTPG:
    return c->grid_threads[ax];
  case bTIITG:
    return f->tid;
  case bTIISG:
    return f->lane;
  case bSGITG:
    return f->sg->index;
  case bSGPTG:
    return t->nsg;
  case bTPSG:
    return kSimd;
  case bTIIQG:
    return f->lane & 3;
  case bQGITG:
    return f->tid >> 2;
  }
  return 0;
}
} // namespace msl
