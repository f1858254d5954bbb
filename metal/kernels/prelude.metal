// Shared by every kernel source: the working type, saturating stores with a sticky overflow flag, fragment helpers.
//
// Activations are float. Work is what attention multiplies: queries, keys, gates and probabilities.
#include <metal_stdlib>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
using namespace metal;

// WIDE selects Work: half, or bfloat for models whose queries or keys leave the range of half.
#if WIDE
typedef bfloat work;
constant constexpr float kLimit = 3.0e38f;
constant constexpr float kTop = 3.3e38f;
#else
typedef half work;
constant constexpr float kLimit = 60000.0f;
constant constexpr float kTop = 65504.0f;
#endif

// Words of the status buffer.
constant constexpr uint kOverflow = 0; // a value left the range of Work
constant constexpr uint kCancel = 1;   // the host asks to stop

// narrow rounds to Work, saturates, and remembers in over that a value was out of range or not a number.
inline work narrow(float v, thread bool &over) {
  over = over || !(fabs(v) <= kLimit);
  return work(clamp(v, -kTop, kTop));
}

inline void report(device atomic_uint *status, bool over) {
  if (over) atomic_fetch_or_explicit(status + kOverflow, 1u, memory_order_relaxed);
}

// cancelled is asked by one thread of a threadgroup, so that all of them leave or none.
inline uint cancelled(device atomic_uint *status) { return atomic_load_explicit(status + kCancel, memory_order_relaxed); }

inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
inline float silu(float x) { return x / (1.0f + exp(-x)); }

// Lane l of a simdgroup holds two neighbouring elements of an 8x8 fragment: row fragment_row(l), columns
// fragment_col(l) and + 1. Apple does not document the map; a self-test at start compares it with the GPU.
inline uint fragment_row(uint lane) { return ((lane / 4) & 4) + (lane / 2) % 4; }
inline uint fragment_col(uint lane) { return ((lane / 4) & 2) * 2 + (lane % 2) * 2; }
