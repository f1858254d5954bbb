// Loops that touch registers only: what the multipliers of a core can do. The
// share of it that a whole run reaches is what `clefbar bench` prints.

enum { CHAINS = 12 };

#if defined(PEAK_BF16)
#elif defined(DOT_BF16)
#define PEAK_BF16 DOT_BF16
#define PEAK_PAIR 2
#else
#define PEAK_BF16 DOT_F32
#define PEAK_PAIR 1
#endif

// path_peak runs `loops` rounds of CHAINS independent products and returns the number of
// operations done (a multiply and an add count as two).
static double path_peak(int32_t form, int64_t loops) {
  vf f[CHAINS];
  vi q[CHAINS];
  vu x = vloadu((const uint8_t[VW * 4]){1}), y = x;
  __asm__ volatile("" : "+m"(x), "+m"(y));
  for (int i = 0; i < CHAINS; i++) f[i] = (vf){0}, q[i] = (vi){0};
  double per = 2.0 * VW * CHAINS;
  if (form == CLEF_FORM_INT8) {
    per *= 4;
    for (int64_t n = 0; n < loops; n++) {
      UNROLL
      for (int i = 0; i < CHAINS; i++) q[i] = DOT_INT8(q[i], x, y);
    }
  } else if (form == CLEF_FORM_BF16) {
    per *= PEAK_PAIR;
    for (int64_t n = 0; n < loops; n++) {
      UNROLL
      for (int i = 0; i < CHAINS; i++) f[i] = PEAK_BF16(f[i], x, y);
    }
  } else {
    for (int64_t n = 0; n < loops; n++) {
      UNROLL
      for (int i = 0; i < CHAINS; i++) f[i] = DOT_F32(f[i], x, y);
    }
  }
  for (int i = 1; i < CHAINS; i++) f[0] += f[i], q[0] += q[i];
  __asm__ volatile("" : : "m"(f[0]), "m"(q[0]));
  return per * (double)loops;
}
