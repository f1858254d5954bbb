"""The programs that are compared, each in its own process that stays loaded.

A peer computes the backbone alone: token ids to the final hidden states of all tokens, no cache,
no lm_head (llama.cpp adds the logits of the last token). Clefbar does more in its time: the
head and the answers.

    python contenders.py NAME DIR THREADS TOKENS    # serves "tokens\\n" on stdin, one JSON line each
"""
import json
import os
import resource
import sys
import time

# name: (library, files below the directory, precision class, variant)
PEERS = {
    "torch-bf16": ("torch", "hf-bf16", "bf16", "bfloat16"),
    "torch-f32": ("torch", "hf-bf16", "f32", "float32"),
    "llama-bf16": ("llama", "gguf/bf16.gguf", "bf16", ""),
    "llama-q8_0": ("llama", "gguf/q8_0.gguf", "8bit", ""),
    "llama-q6_k": ("llama", "gguf/q6_k.gguf", "8bit", "plain"),
    "llama-q4_0": ("llama", "gguf/q4_0.gguf", "4bit", ""),
    "llama-q4_k": ("llama", "gguf/q4_k.gguf", "4bit", ""),
    "llama-q4_k-tiled": ("llama", "gguf/q4_k.gguf", "4bit", "plain"),  # without repacking at load: faster here
}

# name: (files, precision, precision class)
OURS = {
    "clefbar-f32": ("hf-bf16", "f32", "f32"),
    "clefbar-bf16": ("hf-bf16", "bf16", "bf16"),
    "clefbar-4bit-int8": ("mlx-4bit", "int8", "4bit"),
    "clefbar-4bit-bf16": ("mlx-4bit", "bf16", "4bit"),
    "clefbar-8bit-int8": ("mlx-8bit", "int8", "8bit"),
}


def ids(n, vocab):
    x, out = 12345, []
    for _ in range(n):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
        out.append((x >> 8) % (vocab - 300))
    return out


def torch_runner(path, variant, threads, _):
    import torch
    from transformers import Qwen3_5ForConditionalGeneration
    from transformers.utils import logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(threads)
    model = Qwen3_5ForConditionalGeneration.from_pretrained(path, dtype=getattr(torch, variant)).eval()
    backbone = model.model.language_model
    model.lm_head = model.model.visual = None
    for p in backbone.parameters():
        p.view(-1)[::512].sum()  # touch mapped pages

    def run(n):
        x = torch.tensor([ids(n, backbone.config.vocab_size)])
        began = time.perf_counter()
        with torch.inference_mode():
            float(backbone(input_ids=x, use_cache=False).last_hidden_state[0, -1, 0])
        return time.perf_counter() - began
    return run


def llama_runner(path, variant, threads, longest):
    import ctypes
    import llama_cpp as L
    quiet = L.llama_log_callback(lambda *_: None)
    L.llama_log_set(quiet, ctypes.c_void_p(0))
    L.llama_backend_init()
    how = L.llama_model_default_params()
    how.use_extra_bufts = variant != "plain"
    model = L.llama_model_load_from_file(path.encode(), how)
    if not model:
        raise SystemExit("llama.cpp cannot load " + path)
    c = L.llama_context_default_params()
    c.n_ctx, c.n_batch, c.n_ubatch = (longest + 511) // 256 * 256, 2048, 512
    c.n_threads = c.n_threads_batch = threads
    context = L.llama_init_from_model(model, c)
    vocab = L.llama_vocab_n_tokens(L.llama_model_get_vocab(model))

    def run(n, keep=quiet):
        L.llama_memory_clear(L.llama_get_memory(context), True)
        all_ids = ids(n, vocab)
        began = time.perf_counter()
        for at in range(0, n, c.n_batch):
            part = all_ids[at:at + c.n_batch]
            tokens = (L.llama_token * len(part))(*part)  # the batch points to it
            if L.llama_decode(context, L.llama_batch_get_one(tokens, len(part))):
                raise SystemExit("llama_decode failed")
        L.llama_synchronize(context)
        return time.perf_counter() - began
    return run


def memory(key):
    with open("/proc/self/status") as f:
        return next((int(line.split()[1]) / 1024 for line in f if line.startswith(key + ":")), 0.0)


def serve(name, directory, threads, longest):
    library, files, _, variant = PEERS[name]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print what they like
    run = {"torch": torch_runner, "llama": llama_runner}[library](os.path.join(directory, files), variant, threads, longest)
    rest = memory("VmRSS")
    print("{}", file=answers, flush=True)
    for line in sys.stdin:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")
        before = resource.getrusage(resource.RUSAGE_SELF)
        seconds = run(int(line))
        after = resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(json.dumps(dict(s=seconds, cpu_s=used, above_mb=memory("VmHWM") - rest)), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
