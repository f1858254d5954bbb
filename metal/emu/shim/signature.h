// signature.h - the argument table of every kernel as JSON lines, for the comparison with the host encoder.
#pragma once
extern "C" {
const char *msl_signatures(const Module *m) {
  static std::string o;
  o.clear();
  static const char *bn[] = {
      "thread_position_in_grid",        "thread_position_in_threadgroup",  "threadgroup_position_in_grid",
      "threads_per_threadgroup",        "threadgroups_per_grid",           "threads_per_grid",
      "thread_index_in_threadgroup",    "thread_index_in_simdgroup",       "simdgroup_index_in_threadgroup",
      "simdgroups_per_threadgroup",     "threads_per_simdgroup",           "thread_index_in_quadgroup",
      "quadgroup_index_in_threadgroup", "dispatch_threads_per_threadgroup"};
  for (auto *k = m->kernels; k; k = k->next) {
    o += std::string("{\"kernel\":\"") + k->name + "\",\"args\":[";
    for (int i = 0; i < k->np; i++) {
      const Param &p = k->p[i];
      const ArgInfo &a = k->info()[i];
      std::string t = a.type;
      auto q = t.rfind("X = ");
      if (q != std::string::npos) {
        t = t.substr(q + 4);
        auto e = t.rfind(']');
        if (e != std::string::npos) t = t.substr(0, e);
      }
      if (i) o += ",";
      o += std::string("{\"name\":\"") + p.name + "\",\"kind\":\"" +
           (p.src == kBuffer  ? "buffer"
            : p.src == kTGMem ? "threadgroup"
                              : "builtin") +
           "\"";
      if (p.src == kBuiltin)
        o += std::string(",\"builtin\":\"") + bn[p.index] + "\"";
      else
        o += ",\"index\":" + std::to_string(p.index) + ",\"space\":\"" + p.as +
             "\",\"ref\":" + (a.is_ref ? "true" : "false") + ",\"readonly\":" + (a.is_const ? "true" : "false") +
             ",\"elem_size\":" + std::to_string(a.size) + ",\"elem_align\":" + std::to_string(a.align);
      o += ",\"type\":\"" + t + "\"";
      if (p.cond) o += std::string(",\"only_if\":\"") + p.cond + "\"";
      o += "}";
    }
    o += "]}\n";
  }
  for (auto *f = m->fcs; f; f = f->next)
    o += std::string("{\"function_constant\":\"") + f->name + "\",\"index\":" + std::to_string(f->index) +
         ",\"kind\":\"" + f->kind + "\",\"size\":" + std::to_string(f->size) + "}\n";
  return o.c_str();
}
} // extern "C"
