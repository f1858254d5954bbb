// All kernels of one path. The including file sets PATH, VW, NV, MR, MR8, DV, the integer dot
// product DOT_INT8 with its CODE_OFFSET, and where the hardware has it DOT_BF16 or a file TILE_BF16.

#define NR (NV * VW)

#include "vec.h"

#include "expand.h"
#include "gemm.h"
#include "rows.h"
#include "delta.h"
#include "attend.h"
#include "absorb.h"
#include "peak.h"

#if defined(DOT_BF16) || defined(TILE_BF16)
#define HAS_BF16 1
#else
#define HAS_BF16 0
#endif
#ifndef HAS_INT8
#define HAS_INT8 0
#endif

const clef_path PATH = {
    .mr = MR, .nr = NR, .vw = VW, .dot_bf16 = HAS_BF16, .dot_int8 = HAS_INT8,
    .gemm = path_gemm, .to_bf16 = path_to_bf16, .to_rounded = path_to_rounded, .to_int8 = path_to_int8,
    .add = path_add, .rms_norm = path_rms_norm, .layer_norm = path_layer_norm, .conv = path_conv, .gates = path_gates,
    .norm_gate = path_norm_gate, .prep = path_prep, .delta = path_delta, .attend = path_attend, .absorb = path_absorb, .math = path_math, .peak = path_peak,
};
