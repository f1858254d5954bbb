#!/usr/bin/env python3
"""Compare Clefbar's prefill on this processor with PyTorch and llama.cpp, in turns.

    compare.py setup                       # once: PyTorch and llama.cpp in a venv of their own (minutes)
    compare.py prepare DIR --size 0.6b     # once: one synthetic checkpoint in every form (11 GB)
    compare.py run DIR --lengths 500,2000 --runs 5 [--threads 1] [--only clefbar-bf16,torch-bf16]

`run` lets every contender answer once, then again (A B C A B C ...), so that whatever else the machine
does hits all alike, and prints one table of medians and, for each of our precisions, the time of every
peer divided by ours. "busy" is what other programs used meanwhile, in processors: above 0.3
the numbers say little. Needs Linux, a C++ compiler and Go's bin/clefbar (make build).
"""
import argparse
import glob
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import tensors
from contenders import OURS, PEERS

HERE = os.path.dirname(os.path.abspath(__file__))
HOME = os.environ.get("CLEFBAR_PEERS", os.path.join(os.path.expanduser("~"), ".cache", "clefbar-peers"))
PYTHON = os.path.join(HOME, "venv", "bin", "python")
PACKAGES = "torch==2.15.0 transformers==5.23.0 accelerate==1.15.0 numpy safetensors sentencepiece".split()
LLAMA = "llama-cpp-python==0.3.36"
LLAMA_BUILD = ("-DGGML_NATIVE=ON -DGGML_OPENMP=ON -DGGML_LLAMAFILE=ON -DGGML_CPU_REPACK=ON -DLLAVA_BUILD=OFF "
               "-DMTMD_BUILD=OFF -DCMAKE_BUILD_TYPE=Release")
# Without these glibc returns big blocks after each product, and PyTorch takes half as long again.
AT_ITS_BEST = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "4294967296"}


def setup(_):
    os.makedirs(HOME, exist_ok=True)
    if not os.path.exists(PYTHON):
        subprocess.run([sys.executable, "-m", "venv", os.path.join(HOME, "venv")], check=True)
    pip = [PYTHON, "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run(pip + ["install", *PACKAGES], check=True)
    env = {**os.environ, "CMAKE_ARGS": LLAMA_BUILD, "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count())}
    subprocess.run(pip + ["install", "--no-cache-dir", "--no-binary", "llama-cpp-python", LLAMA], check=True, env=env)
    llama_source(pip)
    print("ready in", HOME)


def llama_source(pip):
    """The converter is in the source archive only."""
    if not glob.glob(HOME + "/src/*/vendor/llama.cpp"):
        subprocess.run(pip + ["download", "--no-deps", "--no-binary", "llama-cpp-python", LLAMA, "-d", HOME + "/sdist"], check=True)
        os.makedirs(HOME + "/src", exist_ok=True)
        subprocess.run(["tar", "xf", glob.glob(HOME + "/sdist/*.tar.gz")[0], "-C", HOME + "/src"], check=True)


# The converter wants a vocabulary; ids go in directly here.
CONVERT = """
import runpy, sys
tree, source, out = sys.argv[1:4]
sys.path[:0] = [tree + "/gguf-py", tree]
import conversion.qwen as q
def none(self):
    self._set_vocab_none()
    self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])
q._LinearAttentionVReorderBase.set_vocab = none
sys.argv = ["convert", source, "--outtype", "bf16", "--no-mtp", "--outfile", out]
runpy.run_path(tree + "/convert_hf_to_gguf.py", run_name="__main__")
"""
QUANTISE = """
import ctypes, sys, llama_cpp as L
p = L.llama_model_quantize_default_params()
p.ftype = int(sys.argv[3])
sys.exit(L.llama_model_quantize(sys.argv[1].encode(), sys.argv[2].encode(), ctypes.byref(p)))
"""
FILE_TYPES = {"q8_0": 7, "q6_k": 18, "q4_0": 2, "q4_k": 15}


def prepare(a):
    for layout in sorted({files for files, _, _ in OURS.values()}):
        out = os.path.join(a.dir, layout)
        if not os.path.exists(os.path.join(out, "joint_head_config.json")):
            changes = [x for s in a.set for x in ("--set", s)]
            subprocess.run([PYTHON, os.path.join(HERE, "checkpoint.py"), out, "--size", a.size, "--layout", layout, *changes], check=True)
    os.makedirs(os.path.join(a.dir, "gguf"), exist_ok=True)
    base = os.path.join(a.dir, "gguf", "bf16.gguf")
    if not os.path.exists(base):
        tree = glob.glob(HOME + "/src/*/vendor/llama.cpp")[0]
        subprocess.run([PYTHON, "-c", CONVERT, tree, os.path.join(a.dir, "hf-bf16"), base], check=True, stderr=subprocess.DEVNULL)
    for name, kind in FILE_TYPES.items():
        out = os.path.join(a.dir, "gguf", name + ".gguf")
        if not os.path.exists(out):
            subprocess.run([PYTHON, "-c", QUANTISE, base, out, str(kind)], check=True, stderr=subprocess.DEVNULL)
    with open(os.path.join(a.dir, "dimensions.json"), "w") as f:
        json.dump(tensors.dimensions(a.size, a.set), f)


class Peer:
    """A peer in its process."""

    def __init__(self, name, directory, threads, longest):
        self.name, self.kind = name, PEERS[name][2]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [PYTHON, os.path.join(HERE, "contenders.py"), name, os.path.abspath(directory), str(threads), str(longest)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, env={**os.environ, **AT_ITS_BEST})
        self.answer()
        self.run(64)

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            raise RuntimeError(f"{self.name}: {self.log.read()[-500:].strip()}")
        return json.loads(line)

    def run(self, n):
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Clefbar:
    """Our command, started for every run; it warms up and times itself."""

    def __init__(self, name, directory, threads, binary):
        files, precision, self.kind = OURS[name]
        self.name = name
        self.command = [binary, "bench", "--quiet", "--json", "--runs", "1", "--device", "cpu", "--model", os.path.join(directory, files),
                        "--precision", precision, "--threads", str(threads)]

    def run(self, n):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run(self.command + ["--lengths", str(n)], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if out.returncode:
            raise RuntimeError(f"{self.name}: {out.stderr.strip()[-500:]}")
        row = json.loads(out.stdout)["rows"][0]
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return dict(s=row["median_s"] * n / row["tokens"], cpu_s=row["cpu_s"] * n / row["tokens"], process_s=used, above_mb=row["above_weights_bytes"] / 1e6, share=row["share_of_peak"],
                    peak=row["peak_gops_per_s"])

    def close(self):
        pass


def busy_seconds():
    with open("/proc/stat") as f:
        user, nice, system, idle, wait, *rest = map(int, f.readline().split()[1:9])
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def team(a, lengths):
    only = a.only.split(",") if a.only else [*OURS, *PEERS]
    out = [Clefbar(n, a.dir, a.threads, a.clefbar) for n in OURS if n in only and os.path.exists(os.path.join(a.dir, OURS[n][0]))]
    for n in PEERS:
        if n in only and os.path.exists(os.path.join(a.dir, PEERS[n][1])):
            out.append(Peer(n, a.dir, a.threads, max(lengths)))
    return out


def run(a):
    lengths = [int(x) for x in a.lengths.split(",")]
    contenders = team(a, lengths)
    results = {}
    for turn in range(a.runs):
        for n in lengths:
            for c in contenders:
                work, began = busy_seconds(), time.perf_counter()
                r = c.run(n)
                r["busy"] = max(0.0, busy_seconds() - work - r.get("process_s", r["cpu_s"])) / (time.perf_counter() - began)
                results.setdefault((c.name, n), []).append(r)
                print(f"turn {turn + 1}: {c.name} {n}: {r['s']:.3f} s, computing {r['cpu_s']:.3f} s, busy {r['busy']:.2f}", file=sys.stderr, flush=True)
    for c in contenders:
        c.close()
    table(a, contenders, lengths, results)
    if a.out:
        with open(a.out, "w") as f:
            json.dump({f"{name}@{n}": v for (name, n), v in results.items()}, f, indent=1)


def middle(rows, key):
    return statistics.median(r[key] for r in rows)


def table(a, contenders, lengths, results):
    with open(os.path.join(a.dir, "dimensions.json")) as f:
        weights = tensors.linear_weights(json.load(f))
    print(f"{weights / 1e6:.1f} M linear weights, {a.threads} threads, {a.runs} runs in turns, medians of {a.by}")
    print("\n| contender |" + "".join(f" {n} tokens, s | Gop/s | MB above weights | busy |" for n in lengths))
    print("|---|" + "---|---|---|---|" * len(lengths))
    for c in contenders:
        row = f"| {c.name} |"
        for n in lengths:
            r = results[c.name, n]
            s = middle(r, a.by)
            row += f" {s:.3f} | {2 * weights * n / s / 1e9:.0f} | {max(x['above_mb'] for x in r):.0f} | {middle(r, 'busy'):.2f} |"
        print(row)
    ours, peers = [c for c in contenders if isinstance(c, Clefbar)], [c for c in contenders if isinstance(c, Peer)]
    if not ours or not peers:
        return
    print("\nTime of the peer divided by ours, same weights and length (* same precision class):\n")
    print("| peer |" + "".join(f" {o.name} @ {n} |" for o in ours for n in lengths))
    print("|---|" + "---|" * len(ours) * len(lengths))
    for p in peers:
        cells = (f" {middle(results[p.name, n], a.by) / middle(results[o.name, n], a.by):.2f}{'*' if p.kind == o.kind else ''} |"
                 for o in ours for n in lengths)
        print(f"| {p.name} |" + "".join(cells))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = p.add_subparsers(required=True)
    s = commands.add_parser("setup")
    s.set_defaults(do=setup)
    s = commands.add_parser("prepare")
    s.add_argument("dir")
    s.add_argument("--size", default="0.6b", choices=tensors.SIZES)
    s.add_argument("--set", action="append", default=[], metavar="DIMENSION=NUMBER")
    s.set_defaults(do=prepare)
    s = commands.add_parser("run")
    s.add_argument("dir")
    s.add_argument("--lengths", default="500")
    s.add_argument("--runs", type=int, default=5)
    s.add_argument("--threads", type=int, default=os.cpu_count())
    s.add_argument("--by", default="s", choices=["s", "cpu_s"], help="compare seconds on the clock, or of computing")
    s.add_argument("--only", default="", help="contenders, by comma: " + ", ".join([*OURS, *PEERS]))
    s.add_argument("--clefbar", default=os.path.join(HERE, "../bin/clefbar"))
    s.add_argument("--out", help="file for all single results, JSON")
    s.set_defaults(do=run)
    a = p.parse_args()
    a.do(a)


if __name__ == "__main__":
    main()
