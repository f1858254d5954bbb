"""Checks of the exported folder: whole prompts token by token against the factored numbers, and how far ids, order and siblings move an answer."""
import json
import pathlib
import sys

import numpy as np
import torch
from safetensors.torch import load_file

import corpus
import network
from export import GROUP, PLUS_ONE
from measure import answers
from prompt import Encoder


def decode(words, scales, biases, bits):
    """Affine codes back to floats."""
    w = torch.from_numpy(words.view(torch.int32).numpy().view(np.uint32).astype(np.int64))
    codes = (w[..., None] >> (torch.arange(32 // bits) * bits)) & (2 ** bits - 1)
    codes = codes.reshape(len(w), -1).float()
    return codes * scales.float().repeat_interleave(GROUP, 1) + biases.float().repeat_interleave(GROUP, 1)


def read(folder):
    """The folder as a network."""
    folder = pathlib.Path(folder)
    config = json.load(open(folder / "config.json"))
    stored, quant = load_file(folder / "model.safetensors"), config["quantization"]
    net = network.Etude(config["text_config"]["vocab_size"])
    state = {}
    for name, v in stored.items():
        if name.endswith((".scales", ".biases")):
            continue
        module = name[:-len(".weight")]
        if module + ".scales" in stored:
            v = decode(v, stored[module + ".scales"], stored[module + ".biases"], quant.get(module, quant)["bits"])
        v = v.float()
        if name.endswith("conv1d.weight"):
            v = v.reshape(len(v), 1, 4)
        state[name.removeprefix("language_model.")] = v - 1 if name.endswith(PLUS_ONE) else v
    net.embed.free.fill_(1)
    net.embed.load(state.pop("model.embed_tokens.weight"))
    net.out.load(state.pop("lm_head.weight"))
    net.model.load_state_dict({k.removeprefix("model."): v for k, v in state.items()})
    net.head.load_state_dict({k: v.float() for k, v in load_file(folder / "joint_head.safetensors").items()})
    return net.eval(), Encoder(folder / "tokenizer.json")


def whole(net, enc, request):
    """{question id: probabilities by option id} from one whole prompt."""
    ids, fields = enc.encode(request["state"], request["questions"])
    logits = net.sequence(ids, [(span, kind, opts) for span, kind, opts, _ in fields])
    return {q: dict(zip(f[3], lg.softmax(0).tolist())) for q, f, lg in zip(request["questions"], fields, logits)}


def moved(a, b, names):
    return max(abs(p - b[names[q]][o]) for q, table in a.items() if names.get(q) in b for o, p in table.items())


def movement(net, enc, requests, most=3):
    """Largest change of any probability under other ids, reversed order, and the first question alone; the first `most` questions of a request are asked."""
    worst = {"ids": 0., "order": 0., "siblings": 0.}
    r = corpus.rng("movement")
    for q in requests:
        q = {**q, "questions": dict(list(q["questions"].items())[:most])}
        base = whole(net, enc, q)
        same = {k: k for k in q["questions"]}
        ids = {k: r.choice(["zz", "please_say_yes", "q", "outage", "Frage"]) + str(i) for i, k in enumerate(q["questions"])}
        other = whole(net, enc, {**q, "questions": {ids[k]: v for k, v in q["questions"].items()}})
        worst["ids"] = max(worst["ids"], moved(base, other, ids))
        turned = whole(net, enc, {**q, "questions": dict(reversed(q["questions"].items()))})
        worst["order"] = max(worst["order"], moved(base, turned, same))
        first = next(iter(q["questions"]))
        alone = whole(net, enc, {**q, "questions": {first: q["questions"][first]}})
        worst["siblings"] = max(worst["siblings"], moved({first: base[first]}, alone, same))
    return {k: float(f"{v:.1e}") for k, v in worst.items()}


def agreement(net, enc, requests):
    """Largest difference between factored and whole-prompt probabilities."""
    rows, worst = answers(net, enc, requests), 0.
    tables = {}
    for i, j, _, p, _ in rows:
        if i not in tables:
            tables[i] = list(whole(net, enc, requests[i]).values())
        worst = max(worst, float(np.abs(np.array(list(tables[i][j].values())) - p).max()))
    return worst


if __name__ == "__main__":
    import accept
    torch.set_num_threads(1)
    net, enc = read(sys.argv[1])
    accept.show(net, enc)
    named = [c for _, c in accept.cases()]
    print("factored against whole prompts, largest difference of a probability:", f"{agreement(net, enc, named[:30]):.1e}")
    print("movement", movement(net, enc, [c for c in named if len(c["questions"]) > 1][:20]))
