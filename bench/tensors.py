"""The tensors of a Clef checkpoint: names, shapes and how to fill them with noise.

Each entry is (name, shape, fill, may be quantised). A fill is ("fan",) for a matrix scaled
by its inputs, ("uniform", a), ("norm",) and ("ones",) for norms, ("const", v).
"""

# Dimensions by size. nk, nv, dk, dv: heads and widths of keys and values of the delta rule.
SIZES = {
    "0.6b": dict(hidden=1024, inter=3584, layers=24, heads=8, kv=2, head_dim=256, nk=16, nv=16, dk=128, dv=128),
    "2b": dict(hidden=2048, inter=6144, layers=24, heads=8, kv=2, head_dim=256, nk=16, nv=16, dk=128, dv=128),
    "9b": dict(hidden=4096, inter=12288, layers=32, heads=16, kv=4, head_dim=256, nk=16, nv=32, dk=128, dv=128),
    "27b": dict(hidden=5120, inter=17408, layers=64, heads=24, kv=4, head_dim=256, nk=16, nv=48, dk=128, dv=128),
}
COMMON = dict(vocab=32768, special=32000, conv=4, interval=4, theta=10000000, rotary=0.25,
              width=1024, hff=4096, hlayers=4, hrouting=2, hheads=16)


def dimensions(size, changes):
    """The dimensions of a size, changed as in layers=8."""
    d = {**COMMON, **SIZES[size]}
    for change in changes:
        key, value = change.split("=", 1)
        if key not in d:
            raise SystemExit(f"{key} is no dimension; there are {', '.join(sorted(d))}")
        d[key] = type(d[key])(value)
    return d


def full_attention(d, layer):
    return (layer + 1) % d["interval"] == 0


def delta_layer(d, prefix):
    h, kd, vd = d["hidden"], d["nk"] * d["dk"], d["nv"] * d["dv"]
    yield prefix + "in_proj_qkv.weight", (2 * kd + vd, h), ("fan",), True
    yield prefix + "in_proj_z.weight", (vd, h), ("fan",), True
    yield prefix + "in_proj_b.weight", (d["nv"], h), ("fan",), True
    yield prefix + "in_proj_a.weight", (d["nv"], h), ("fan",), True
    yield prefix + "conv1d.weight", (2 * kd + vd, 1, d["conv"]), ("uniform", 0.5), False
    yield prefix + "dt_bias", (d["nv"],), ("uniform", 1.0), False
    yield prefix + "A_log", (d["nv"],), ("uniform", 1.0), False
    yield prefix + "norm.weight", (d["dv"],), ("ones",), False
    yield prefix + "out_proj.weight", (h, vd), ("fan",), True


def attention_layer(d, prefix):
    h, q, kv = d["hidden"], d["heads"] * d["head_dim"], d["kv"] * d["head_dim"]
    yield prefix + "q_proj.weight", (2 * q, h), ("fan",), True
    yield prefix + "k_proj.weight", (kv, h), ("fan",), True
    yield prefix + "v_proj.weight", (kv, h), ("fan",), True
    yield prefix + "o_proj.weight", (h, q), ("fan",), True
    yield prefix + "q_norm.weight", (d["head_dim"],), ("norm",), False
    yield prefix + "k_norm.weight", (d["head_dim"],), ("norm",), False


def backbone(d):
    """Every tensor of the text backbone below its prefix; LM_HEAD stands apart from it."""
    h = d["hidden"]
    yield "embed_tokens.weight", (d["vocab"], h), ("uniform", 0.5), True
    for i in range(d["layers"]):
        p = f"layers.{i}."
        yield p + "input_layernorm.weight", (h,), ("norm",), False
        yield p + "post_attention_layernorm.weight", (h,), ("norm",), False
        yield from attention_layer(d, p + "self_attn.") if full_attention(d, i) else delta_layer(d, p + "linear_attn.")
        for name in ("gate_proj", "up_proj"):
            yield p + f"mlp.{name}.weight", (d["inter"], h), ("fan",), True
        yield p + "mlp.down_proj.weight", (h, d["inter"]), ("fan",), True
    yield "norm.weight", (h,), ("norm",), False
    yield "LM_HEAD", (d["vocab"], h), ("fan",), True


def head(d):
    """The joint schema head."""
    h, w, f = d["hidden"], d["width"], d["hff"]

    def norm(name, n):
        yield name + ".weight", (n,), ("ones",), False
        yield name + ".bias", (n,), ("uniform", 0.1), False

    def linear(name, out, inputs):
        yield name + ".weight", (out, inputs), ("fan",), False
        yield name + ".bias", (out,), ("uniform", 0.1), False

    def attention(name):
        yield name + ".in_proj_weight", (3 * w, w), ("fan",), False
        yield name + ".in_proj_bias", (3 * w,), ("uniform", 0.1), False
        yield from linear(name + ".out_proj", w, w)

    for name, value in (("prior_logit_scale", 2.302585), ("joint_logit_scale", 1.0), ("residual_gate", -2.0)):
        yield name, (), ("const", value), False
    yield from norm("hidden_norm", h)
    for name in ("memory", "question", "option_question", "global", "option_context", "option_lexical"):
        yield name + "_projection.weight", (w, h), ("fan",), False
    yield "type_embedding.weight", (3, w), ("uniform", 0.5), False
    for i in range(d["hrouting"]):
        p = f"evidence_layers.{i}."
        for name in ("query_norm", "memory_norm", "feedforward_norm"):
            yield from norm(p + name, w)
        yield from attention(p + "attention")
        yield from linear(p + "feedforward.0", f, w)
        yield from linear(p + "feedforward.3", w, f)
    for name in ("option_summary_norm", "field_norm", "option_norm"):
        yield from norm(name, w)
    for i in range(d["hlayers"]):
        p = f"layers.{i}."
        yield from attention(p + "self_attn")
        yield from attention(p + "multihead_attn")
        yield from linear(p + "linear1", f, w)
        yield from linear(p + "linear2", w, f)
        for name in ("norm1", "norm2", "norm3"):
            yield from norm(p + name, w)
    yield from linear("residual_scorer.0", w, 4 * w)
    yield from linear("residual_scorer.3", 1, w)


def linear_weights(d):
    """Weights that one token is multiplied with: every matrix of the layers."""
    return sum(s[0] * s[1] for name, s, _, q in backbone(d) if q and name.startswith("layers."))
