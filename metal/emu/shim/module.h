// module.h - function constants and kernels of one compiled library, by name.
#pragma once
extern "C" {
const Kernel *msl_find(const Module *m, const char *name) {
  for (auto *k = m->kernels; k; k = k->next)
    if (!strcmp(k->name, name)) return k;
  return nullptr;
}
// msl_set_const gives a function constant its value and returns how many have that index.
int msl_set_const(Module *m, int index, double v) {
  int n = 0;
  for (auto *f = m->fcs; f; f = f->next) {
    if (f->index != index) continue;
    n++;
    f->set = true;
    if (f->kind == 'b')
      *(bool *)f->p = v != 0;
    else if (f->kind == 'f' && f->size == 4)
      *(float *)f->p = v;
    else if (f->kind == 'f')
      *(_Float16 *)f->p = (_Float16)v;
    else {
      int64_t q = (int64_t)v;
      memcpy(f->p, &q, f->size);
    }
  }
  return n;
}
// msl_unset_consts names the constants that were never given a value.
const char *msl_unset_consts(const Module *m) {
  static std::string o;
  o.clear();
  for (auto *f = m->fcs; f; f = f->next)
    if (!f->set) o += std::string(f->name) + ' ';
  return o.c_str();
}
// msl_apply_consts evaluates again what derives from function constants.
void msl_apply_consts(const Module *m) {
  for (auto *r = m->re; r; r = r->next) r->fn();
}
} // extern "C"
