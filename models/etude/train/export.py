"""The trained network as a model folder in the MLX layout (clef.md 1.4-1.8): 8-bit weights, 4-bit tables, a bf16 head."""
import json
import shutil

import numpy as np
import torch
from safetensors.torch import save_file

from network import CONFIG, HEAD

GROUP = 64
TABLE_BITS, BITS = 4, 8
PLUS_ONE = ("layernorm.weight", "model.norm.weight", "q_norm.weight", "k_norm.weight")     # this layout stores 1 + w


def affine(w, bits):
    """Codes, bf16 scales and biases of MLX's affine quantisation (clef.md 1.5).

    Zero stays zero where the mask of pins.py needs it: in groups of weights that have only zeros beside positive or negative numbers, and in
    the last group of a table's rows, the control axes, whose steps are rounded up to four significant bits for that."""
    rows, cols = w.shape
    x = w.float().reshape(rows, cols // GROUP, GROUP)
    low, high, top = x.amin(-1), x.amax(-1), 2 ** bits - 1
    scale = ((high - low) / top).clamp(min=1e-7)
    down = low.abs() > high.abs()
    scale, edge = torch.where(down, scale, -scale), torch.where(down, low, high)
    steps = (edge / scale).round()
    scale = torch.where(steps != 0, edge / torch.where(steps != 0, steps, torch.ones_like(steps)), scale)
    from_zero = (low == 0) | (high == 0)
    bias = torch.where((steps != 0) & ~from_zero, edge, 0.)
    if bits == TABLE_BITS:
        last = coarse((high[:, -1] - low[:, -1]) / (top - 1))       # a step to spare: both ends fit around the code of zero
        scale[:, -1], bias[:, -1] = last, (low[:, -1] / last).round() * last
    scale = torch.where(from_zero, scale.abs() * torch.where(high > 0, 1., -1.), scale)
    s, b = scale.bfloat16(), bias.bfloat16()
    codes = ((x - bias[..., None]) / scale[..., None]).round().clamp(0, top)
    return codes.reshape(rows, cols).long(), s, b


def coarse(x):
    """The next larger numbers of four significant bits: their multiples up to 15 are exact in bf16."""
    unit = 2. ** (x.clamp(min=1e-7).log2().floor() - 3)
    return (x.clamp(min=1e-7) / unit).ceil() * unit


def packed(codes, bits):
    """Little-endian bit stream of a row's codes in 32-bit words."""
    per = 32 // bits
    words = (codes.reshape(len(codes), -1, per) << (torch.arange(per) * bits)).sum(-1)
    return torch.from_numpy(words.numpy().astype(np.uint32).view(np.int32)).view(torch.uint32)


def tensors(net):
    """(canonical name, values, bits) of every backbone tensor; bits 0 means not quantised."""
    yield "model.embed_tokens.weight", net.embed.folded().detach(), TABLE_BITS
    yield "lm_head.weight", net.out.folded().detach(), TABLE_BITS
    for name, p in net.model.state_dict().items():
        quantised = p.ndim == 2 and p.shape[1] % GROUP == 0
        yield "model." + name, p.detach(), BITS if quantised else 0


def config(vocabulary):
    every = CONFIG["full_attention_interval"]
    layers = ["full_attention" if (i + 1) % every == 0 else "linear_attention" for i in range(CONFIG["num_hidden_layers"])]
    plain = {k: v for k, v in CONFIG.items() if k not in ("partial_rotary_factor", "rope_theta")}
    text = dict(model_type="qwen3_5_text", vocab_size=vocabulary, **plain, hidden_act="silu", attention_bias=False, attn_output_gate=True,
                tie_word_embeddings=False, max_position_embeddings=16384, mamba_ssm_dtype="float32", layer_types=layers,
                rope_parameters=dict(rope_type="default", rope_theta=CONFIG["rope_theta"], partial_rotary_factor=CONFIG["partial_rotary_factor"],
                                     mrope_interleaved=True, mrope_section=[3, 3, 2]))
    four = dict(group_size=GROUP, bits=TABLE_BITS, mode="affine")
    quant = dict(group_size=GROUP, bits=BITS, mode="affine", **{"language_model.model.embed_tokens": four, "language_model.lm_head": four})
    return dict(architectures=["Qwen3_5ForConditionalGeneration"], model_type="qwen3_5", tie_word_embeddings=False, text_config=text,
                quantization=quant, quantization_config=quant)


def put(out, name, value):
    (out / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write(net, tokenizer, out):
    """Write the folder; returns its size in bytes."""
    out.mkdir(parents=True, exist_ok=True)
    store = {}
    for name, p, bits in tensors(net):
        name = "language_model." + name
        if name.endswith("conv1d.weight"):
            p = p.reshape(len(p), 4, 1)
        if name.endswith(PLUS_ONE):
            p = 1 + p
        if bits:
            codes, scales, biases = affine(p.float().bfloat16().float(), bits)
            store[name], store[name[:-6] + "scales"], store[name[:-6] + "biases"] = packed(codes, bits), scales, biases
        else:
            store[name] = p.float() if name.endswith("A_log") else p.bfloat16()
    store = {k: store[k].contiguous() for k in sorted(store)}
    save_file(store, out / "model.safetensors", {"format": "mlx"})
    head = {k: v.bfloat16().contiguous() for k, v in sorted(net.head.state_dict().items())}
    save_file(head, out / "joint_head.safetensors")
    total = sum(v.numel() * v.element_size() for v in store.values())
    table = json.load(open(tokenizer, encoding="utf-8"))
    special = {t["content"]: t["id"] for t in table["added_tokens"]}
    vocabulary = len(net.embed.vectors)
    whole = dict(config(vocabulary), pad_token_id=special["<|endoftext|>"], image_token_id=special["<|image_pad|>"], video_token_id=special["<|video_pad|>"],
                 vision_start_token_id=special["<|vision_start|>"], vision_end_token_id=special["<|vision_end|>"])
    put(out, "config.json", whole)
    put(out, "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": {k: "model.safetensors" for k in store}})
    put(out, "joint_head_config.json", HEAD)
    put(out, "tokenizer_config.json", {"add_prefix_space": False, "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "model_max_length": 16384,
                                  "tokenizer_class": "Qwen3_5Tokenizer", "unk_token": None})
    shutil.copyfile(tokenizer, out / "tokenizer.json")
    return sum(f.stat().st_size for f in out.iterdir())
