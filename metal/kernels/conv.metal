// Before and after the delta rule: the causal convolution and the gates, which are independent and share a launch, and
// the gated norm of the output.

constant bool kConv [[function_constant(0)]];
constant bool kGates [[function_constant(1)]];
constant bool kHistoryIn [[function_constant(2)]];
constant bool kHistoryOut [[function_constant(3)]];

constant constexpr uint kTokens = 16; // convolution outputs for each thread
constant constexpr uint kTaps = 8;    // most taps

struct ConvParams {
  uint rows, cols, taps;
  uint groups;   // threadgroups of the convolution; the rest compute gates
  uint channels; // threadgroups side by side over the channels
  uint heads;    // values of g and beta in a row
};

// before reads row t of the padded input, t counted from row -(taps-1).
inline float before(device const float *x, device const float *history, constant ConvParams &p, int t, uint c) {
  if (t >= 0) return x[ulong(t) * p.cols + c];
  if (kHistoryIn) return history[ulong(t + int(p.taps) - 1) * p.cols + c];
  return 0.0f;
}

inline float softplus(float x) { return x > 20.0f ? x : log(1.0f + exp(x)); }

// conv: y[t, c] = silu(Σ taps[c, j] · x[t - K + 1 + j, c]); the new history is the last K - 1 rows of the input.
// gates: g = -exp(aLog) · softplus(a + dtBias), beta = sigmoid(b).
kernel void conv_gates(constant ConvParams &p [[buffer(0)]], device const float *x [[buffer(1), function_constant(kConv)]],
                       device const float *taps [[buffer(2), function_constant(kConv)]],
                       device float *y [[buffer(3), function_constant(kConv)]],
                       device const float *history [[buffer(4), function_constant(kHistoryIn)]],
                       device float *kept [[buffer(5), function_constant(kHistoryOut)]],
                       device const float *a [[buffer(6), function_constant(kGates)]],
                       device const float *b [[buffer(7), function_constant(kGates)]],
                       device const float *aLog [[buffer(8), function_constant(kGates)]],
                       device const float *dtBias [[buffer(9), function_constant(kGates)]],
                       device float *g [[buffer(10), function_constant(kGates)]],
                       device float *beta [[buffer(11), function_constant(kGates)]],
                       uint group [[threadgroup_position_in_grid]],
                       uint tid [[thread_index_in_threadgroup]]) {
  if (kGates && group >= p.groups) {
    const uint i = (group - p.groups) * 128 + tid;
    if (i >= p.rows * p.heads) return;
    const uint h = i % p.heads;
    g[i] = -exp(aLog[h]) * softplus(a[i] + dtBias[h]);
    beta[i] = sigmoid(b[i]);
    return;
  }
  if (!kConv) return;
  const uint c = (group % p.channels) * 128 + tid, first = group / p.channels * kTokens;
  if (c >= p.cols) return;
  const uint k = p.taps;
  float window[kTaps], w[kTaps];
  for (uint j = 0; j < k; j++) {
    w[j] = taps[c * k + j];
    window[j] = j + 1 < k ? before(x, history, p, int(first + j) - int(k) + 1, c) : 0.0f;
  }
  for (uint t = first; t < min(first + kTokens, p.rows); t++) {
    window[k - 1] = x[ulong(t) * p.cols + c];
    float s = 0;
    for (uint j = 0; j < k; j++) s += w[j] * window[j];
    y[ulong(t) * p.cols + c] = silu(s);
    for (uint j = 0; j + 1 < k; j++) window[j] = window[j + 1];
  }
  if (kHistoryOut && first + kTokens >= p.rows)
    for (uint j = 0; j + 1 < k; j++) kept[ulong(j) * p.cols + c] = before(x, history, p, int(p.rows + j) - int(k) + 1, c);
}

struct GateParams {
  uint rows, dim; // rows of all heads, width of a head
  float eps;
};

// y = rmsnorm(o over a head) · w · silu(z); one simdgroup for each row and head, eight in a threadgroup.
kernel void norm_gate(constant GateParams &p [[buffer(0)]], device const float *o [[buffer(1)]],
                      device const float *z [[buffer(2)]], device const float *w [[buffer(3)]],
                      device float *y [[buffer(4)]], uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                      uint simd [[simdgroup_index_in_threadgroup]]) {
  const uint row = group * 8 + simd;
  if (row >= p.rows) return;
  const ulong at = ulong(row) * p.dim;
  float s = 0;
  for (uint i = lane; i < p.dim; i += 32) {
    const float v = o[at + i];
    s += v * v;
  }
  const float scale = rsqrt(simd_sum(s) / float(p.dim) + p.eps);
  for (uint i = lane; i < p.dim; i += 32) y[at + i] = o[at + i] * scale * w[i] * silu(z[at + i]);
}
