#!/usr/bin/env python3
"""Write a Clef checkpoint of any size, filled with noise: true names, shapes, types and bytes.

    checkpoint.py DIR --size 0.6b --layout hf-bf16
    checkpoint.py DIR --size 9b --layout mlx-4bit --set vocab=248320 --set special=248044

For measuring load time, memory and speed; its answers mean nothing. Needs numpy, and about
150 MB of memory at any size.
"""
import argparse
import json
import os
import shutil
import struct

import numpy as np

import tensors

TOKENIZER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../engine/testdata/golden/tiny-9b-shape-hf")
LAYOUTS = {"hf-bf16": 0, "mlx-4bit": 4, "mlx-8bit": 8}
PIECE = 1 << 22  # numbers made at a time
GROUP = 64
SHARD = 5_000_000_000


def config(d, bits):
    rotary = int(d["head_dim"] * d["rotary"]) // 2
    sections = [rotary - (rotary + 1) // 3 - rotary // 3, (rotary + 1) // 3, rotary // 3]
    text = dict(
        model_type="qwen3_5_text", vocab_size=d["vocab"], hidden_size=d["hidden"], intermediate_size=d["inter"],
        num_hidden_layers=d["layers"], num_attention_heads=d["heads"], num_key_value_heads=d["kv"], head_dim=d["head_dim"],
        linear_num_key_heads=d["nk"], linear_num_value_heads=d["nv"], linear_key_head_dim=d["dk"], linear_value_head_dim=d["dv"],
        linear_conv_kernel_dim=d["conv"], full_attention_interval=d["interval"],
        layer_types=["full_attention" if tensors.full_attention(d, i) else "linear_attention" for i in range(d["layers"])],
        rms_norm_eps=1e-6, hidden_act="silu", attention_bias=False, attn_output_gate=True, tie_word_embeddings=False,
        max_position_embeddings=262144, mamba_ssm_dtype="float32", eos_token_id=d["special"],
        rope_parameters=dict(rope_type="default", rope_theta=d["theta"], partial_rotary_factor=d["rotary"],
                             mrope_interleaved=True, mrope_section=sections))
    vision = dict(model_type="qwen3_5", depth=2, hidden_size=48, intermediate_size=80, num_heads=2, num_position_embeddings=64,
                  patch_size=16, temporal_patch_size=2, spatial_merge_size=2, in_channels=3, out_hidden_size=d["hidden"],
                  hidden_act="gelu_pytorch_tanh", deepstack_visual_indexes=[])
    s = d["special"]
    out = dict(architectures=["Qwen3_5ForConditionalGeneration"], model_type="qwen3_5", tie_word_embeddings=False, pad_token_id=s,
               image_token_id=s + 12, video_token_id=s + 13, vision_start_token_id=s + 9, vision_end_token_id=s + 10,
               text_config=text, vision_config=vision)
    if bits:
        out["quantization"] = out["quantization_config"] = dict(group_size=GROUP, bits=bits, mode="affine")
    return out


def bf16(x):
    u = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype("<u2").tobytes()


def amplitude(shape, fill):
    return fill[1] if fill[0] == "uniform" else float(np.sqrt(3.0 / max(1, int(np.prod(shape[1:])))))


def pieces(n):
    for at in range(0, n, PIECE):
        yield min(PIECE, n - at)


def dense(shape, fill, centred, rng):
    for n in pieces(int(np.prod(shape)) if shape else 1):
        u = rng.random(n, dtype=np.float32) * 2 - 1
        if fill[0] == "const":
            u = np.full(n, fill[1], np.float32)
        elif fill[0] == "norm":
            u = 0.1 * u + (0 if centred else 1)
        elif fill[0] == "ones":
            u = 1 + 0.1 * u
        else:
            u *= np.float32(amplitude(shape, fill))
        yield bf16(u)


def repeated(value, n):
    one = bf16(np.array([value]))
    for k in pieces(n):
        yield one * k


def quantised(base, shape, fill, bits):
    """Uniform codes over [-a, a]: the three tensors of one module."""
    rows, cols = shape
    a, groups = amplitude(shape, fill), rows * (cols // GROUP)
    yield base + ".weight", "U32", (rows, cols * bits // 32), lambda rng: (rng.bytes(k) for k in pieces(rows * cols * bits // 8))
    yield base + ".scales", "BF16", (rows, cols // GROUP), lambda rng: repeated(2 * a / (2 ** bits - 1), groups)
    yield base + ".biases", "BF16", (rows, cols // GROUP), lambda rng: repeated(-a, groups)


def plan(d, layout):
    """Every backbone tensor as (name, type, shape, function of a generator to pieces of bytes)."""
    bits, mlx = LAYOUTS[layout], layout != "hf-bf16"
    prefix = "language_model.model." if mlx else "model.language_model."
    for name, shape, fill, may in tensors.backbone(d):
        full = ("language_model." if mlx else "") + "lm_head.weight" if name == "LM_HEAD" else prefix + name
        if mlx and name.endswith("conv1d.weight"):
            shape = (shape[0], shape[2], 1)
        if bits and may:
            yield from quantised(full[:-len(".weight")], shape, fill, bits)
        else:
            yield full, "BF16", shape, lambda rng, s=shape, f=fill: dense(s, f, not mlx, rng)


def size(kind, shape):
    return (2 if kind == "BF16" else 4) * int(np.prod(shape)) if shape else 2


def write(path, entries, rng):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, kind, shape, _ in entries:
        header[name] = dict(dtype=kind, shape=list(shape), data_offsets=[at, at + size(kind, shape)])
        at += size(kind, shape)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (1 - len(text) % 2)  # an odd length, as MLX writes it: data start at any address
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, _, _, make in entries:
            for piece in make(rng):
                f.write(piece)
    return at


def shards(entries):
    out, total = [[]], 0
    for e in entries:
        n = size(e[1], e[2])
        if total and total + n > SHARD:
            out.append([])
            total = 0
        out[-1].append(e)
        total += n
    return out


def generate(out, d, layout, seed=1):
    os.makedirs(out, exist_ok=True)
    rng, total, where = np.random.default_rng(seed), 0, {}
    with open(os.path.join(out, "config.json"), "w") as f:
        json.dump(config(d, LAYOUTS[layout]), f, indent=1)
    parts = shards(plan(d, layout))
    for i, part in enumerate(parts):
        name = "model.safetensors" if len(parts) == 1 else f"model-{i + 1:05d}-of-{len(parts):05d}.safetensors"
        total += write(os.path.join(out, name), part, rng)
        where.update({e[0]: name for e in part})
    with open(os.path.join(out, "model.safetensors.index.json"), "w") as f:
        json.dump({"metadata": {"total_size": total}, "weight_map": where}, f)
    write(os.path.join(out, "joint_head.safetensors"),
          [(n, "BF16", s, lambda rng, s=s, f=f: dense(s, f, False, rng)) for n, s, f, _ in tensors.head(d)], rng)
    with open(os.path.join(out, "joint_head_config.json"), "w") as f:
        json.dump(dict(hidden_size=d["hidden"], width=d["width"], routing_layers=d["hrouting"], layers=d["hlayers"], heads=d["hheads"],
                       feedforward=d["hff"]), f)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(os.path.join(TOKENIZER, name), out)
    return total


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("dir")
    p.add_argument("--size", default="0.6b", choices=tensors.SIZES)
    p.add_argument("--layout", default="hf-bf16", choices=LAYOUTS)
    p.add_argument("--set", action="append", default=[], metavar="DIMENSION=NUMBER")
    a = p.parse_args()
    n = generate(a.dir, tensors.dimensions(a.size, a.set), a.layout)
    print(f"{a.dir}: {a.size} {a.layout}, {n / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
