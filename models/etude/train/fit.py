"""Training: factored batches of fresh wordings, AdamW on the network, sparse Adam on table rows, an average of the weights at the end."""
import json
import math
import time

import numpy as np
import torch

import corpus
import splits
from batch import Collator, log_shares, pack
from network import LEAD
from network import STATE

DEFAULTS = dict(states=48, questions=6, rate=6e-4, slow=.15, decay=.05, blank=.06, smooth=.03, near=.06, ema=.998, plain=.4, warm=100, seed=1)


class Pool:
    """Endless training requests: a share of plain domains, the rest from the corpus, every state once a round; states < 1 keeps that share of them."""

    def __init__(self, domains, plain, split, enc, seed, plain_share, questions, states=1.):
        self.r, self.enc, self.share, self.count = corpus.rng("train", seed), enc, plain_share, questions
        self.groups, self.order, self.foreign = {}, {}, {}
        for kind, table in (("corpus", domains), ("plain", plain)):
            items = []
            for name, s in split[kind].items():
                train, _, _, asked = splits.domain(s, table[name])
                items += [(table[name], i, asked) for i in train[:max(1, int(len(train) * states))]]
            self.groups[kind], self.order[kind] = items, []
            self.foreign[kind] = self._foreign(table, split[kind])

    def _foreign(self, table, split):
        return [(n, t) for name, s in split.items() for i, q in enumerate(table[name]["questions"]) if q["type"] == "choice" and i != s["unseen_question"]
                for o in q["options"].values() for n in (o.get("names") or [])[:2] for t in (o.get("descriptions") or [None])[:1]]

    def next(self):
        kind = "plain" if self.groups["plain"] and self.r.random() < self.share else "corpus"
        if not self.order[kind]:
            self.order[kind] = self.groups[kind][:]
            self.r.shuffle(self.order[kind])
        d, i, asked = self.order[kind].pop()
        q = corpus.request(d, i, asked[:], self.r, self.count, self.foreign[kind])
        return pack(self.enc, q) if q else self.next()


def batches(pool, collate, size, rng):
    """Batches of states of similar length."""
    while True:
        drawn = sorted((pool.next() for _ in range(size * 12)), key=lambda p: len(p["state"]))
        groups = [drawn[i:i + size] for i in range(0, len(drawn), size)]
        rng.shuffle(groups)
        for g in groups:
            yield collate(g)


def targets(b, smooth, near):
    """Smoothed targets; ratings give a little to the neighbouring levels."""
    want, owner, alive = b["want"], b["owner"], b["alive"]
    rating = (b["kind"].gather(1, owner) == 2) & alive
    beside = (owner[:, 1:] == owner[:, :-1]) & rating[:, 1:] & rating[:, :-1]
    soft = want.clone()
    soft[:, 1:] += near * want[:, :-1] * beside
    soft[:, :-1] += near * want[:, 1:] * beside
    count = torch.zeros(b["kind"].shape).scatter_add_(1, owner, alive.float()).clamp(min=1).gather(1, owner)
    total = torch.zeros(b["kind"].shape).scatter_add_(1, owner, soft * alive).clamp(min=1e-6).gather(1, owner)
    return (soft / total * (1 - smooth) + smooth / count) * alive


def loss_of(logits, b, o):
    lp = log_shares(logits, b).masked_fill(~b["alive"], 0)
    return -(targets(b, o["smooth"], o["near"]) * lp).sum() / b["asked"].sum()


class Average:
    """Exponential average of parameters."""

    def __init__(self, params, decay):
        self.params, self.decay, self.steps = params, decay, 0
        self.values = [p.detach().clone() for p in params]

    @torch.no_grad()
    def update(self):
        self.steps += 1
        d = min(self.decay, 1 - 1 / (1 + self.steps / 4))
        torch._foreach_lerp_(self.values, [p.detach() for p in self.params], 1 - d)

    @torch.no_grad()
    def swap(self):
        for p, v in zip(self.params, self.values):
            kept = p.detach().clone()
            p.copy_(v)
            v.copy_(kept)


CIRCUIT = ("model.layers.1.self_attn.o_proj", "model.layers.1.mlp", "model.layers.3.self_attn.o_proj", "model.layers.1.self_attn.v_proj",
           "model.layers.3.self_attn.v_proj", "embed.matrix", "out.matrix", "head.hidden_norm", "head.prior_logit_scale")


def optimisers(net, o):
    """AdamW for the dense weights, sparse Adam for the table rows; what the circuit has fitted moves slowly."""
    rows = [net.embed.rows, net.out.rows]
    dense, groups = [], {}
    for name, p in net.named_parameters():
        if any(p is r for r in rows):
            continue
        dense.append(p)
        slow = name.startswith(CIRCUIT)
        decay = o["decay"] if p.ndim >= 2 and not slow else 0.
        groups.setdefault((decay, o["slow"] if slow else 1.), []).append(p)
    adam = torch.optim.AdamW([dict(params=v, weight_decay=d, k=k) for (d, k), v in groups.items()], lr=o["rate"], betas=(.9, .98))
    sparse = torch.optim.SparseAdam([dict(params=[r], k=o["slow"]) for r in rows], lr=o["rate"], betas=(.9, .98))
    return dense, adam, sparse


def train(net, pins, pool, enc, o, seconds=0, steps=0, checkpoint=None, watch=None, each=120):
    """Train for `steps` (or until `seconds` have passed); resumes from `checkpoint` and writes it every `each` seconds."""
    torch.manual_seed(o["seed"])
    rng = corpus.rng("order", o["seed"])
    dense, adam, sparse = optimisers(net, o)
    mean, step, spent, log = Average(dense, o["ema"]), 0, 0., []
    if checkpoint and checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=False)
        net.load_state_dict(saved["net"]), adam.load_state_dict(saved["adam"]), sparse.load_state_dict(saved["sparse"])
        mean.values, mean.steps, step, spent, log = saved["mean"], saved["mean_steps"], saved["step"], saved["spent"], saved["log"]
        pool.r = corpus.rng("train", o["seed"], step)
    source = batches(pool, Collator(enc, o["blank"], o["seed"] + step), o["states"], rng)
    net.train()
    begun, shown, saved_at, level, decisions = time.time(), time.time(), time.time(), None, 0
    while True:
        used = spent + time.time() - begun
        done = step / steps if steps else used / seconds
        if done >= 1:
            break
        b = next(source)
        rate = min(1, (step + 1) / o["warm"]) * (.02 + .98 * (1 if done < .2 else .5 * (1 + math.cos(math.pi * (done - .2) / .8))))
        for opt in (adam, sparse):
            for g in opt.param_groups:
                g["lr"] = o["rate"] * rate * g["k"]
        with torch.autocast("cpu", torch.bfloat16):
            logits = net(b)
        loss = loss_of(logits, b, o)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(dense, 1.)
        adam.step(), sparse.step()
        adam.zero_grad(set_to_none=True), sparse.zero_grad(set_to_none=True)
        pins.apply()
        mean.update()
        step += 1
        decisions += int(b["asked"].sum())
        level = loss.item() if level is None else .98 * level + .02 * loss.item()
        now = time.time()
        if now - shown > 15:
            shown, used = now, spent + now - begun
            left = used / max(done, 1e-9) * (1 - done)
            print(f"step {step} loss {level:.3f} {decisions / (now - begun):.0f} decisions/s, {used / 60:.1f} min, {left / 60:.1f} min left", flush=True)
        if now - saved_at > each:
            saved_at = now
            if watch:
                mean.swap()
                log.append({"step": step, "seconds": round(spent + now - begun), "decisions": decisions, **watch(net)})
                print(json.dumps(log[-1]), flush=True)
                mean.swap()
            if checkpoint:
                save(checkpoint, net, adam, sparse, mean, step, spent + time.time() - begun, log)
    mean.swap()
    net.eval()
    return log


def save(path, net, adam, sparse, mean, step, spent, log):
    fresh = path.with_suffix(".new")
    torch.save({"net": net.state_dict(), "adam": adam.state_dict(), "sparse": sparse.state_dict(), "mean": mean.values, "mean_steps": mean.steps,
                "step": step, "spent": spent, "log": log}, fresh)
    fresh.replace(path)
