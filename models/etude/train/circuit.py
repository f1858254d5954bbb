"""The start's circuit: the part of the network that works on word vectors alone, trained by itself, thousands of decisions a second.

It is exact: written into a network whose other parts still add nothing (wire.py), both give the same logits. In words: filters over four tokens add
phrases to words (layer 0), the state's words are pooled into every instruction token (layer 1), a product of token and pool writes meaning and the
axis YES (its MLP), the pool is added to the last token (layer 3), and an option's logit is the scaled cosine of its word vectors with instruction +
last token (the head's prior).
"""
import math
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from network import D, LEAD, WIDTH
from pins import BIAS, IN_FIELDS, MEANING, SUMMARY, YES
from prompt import SUFFIX, field
from wire import CONSTANT, EMBED_SCALE

RANK = 150
FILTERS = 192         # the value heads of layer 0 that keep no section mark
TAPS = 4
EPS = 1e-6


class Circuit(nn.Module):
    def __init__(self, net, before, marks, after):
        """Token ids around the texts: before a state and before an instruction, (STATE and the colon, the end of a state), the prompt's last tokens."""
        super().__init__()
        m, s, f, p = MEANING, SUMMARY, FILTERS, nn.Parameter
        (self.before_state, self.before_ask), self.marks, self.last = [list(x[1 - TAPS:]) for x in before], marks, np.array(after[-TAPS:])
        self.base_in = net.embed.vectors[:, :m].clone()
        self.base_out = torch.cat([net.out.vectors[:, :m], net.out.fixed[:, YES:YES + 1]], 1)
        self.rows_in, self.rows_out = p(torch.zeros_like(self.base_in)), p(torch.zeros_like(self.base_out))
        self.C, self.U0, self.U1, self.V = p(torch.eye(m) * 2), p(torch.eye(m, s) * 1.5), p(torch.randn(s, RANK) * s ** -.5), p(torch.randn(m, RANK) * m ** -.5)
        self.Wc, self.wY, self.v, self.u = p(torch.zeros(RANK, m)), p(torch.zeros(RANK)), p(torch.zeros(m)), p(torch.zeros(s))
        self.b, self.tau, self.phrases = p(torch.zeros(())), p(torch.tensor(2.5)), True
        self.Fv, self.Fz, self.Fo, self.taps = p(torch.randn(m, f) * m ** -.5), p(torch.randn(m, f) * m ** -.5), p(torch.zeros(f, m)), p(torch.randn(f, TAPS) * .3)
        with torch.no_grad():
            self.U1[:, :s], self.V[:, :s], self.wY[:s] = torch.eye(s), torch.eye(m, s), .02

    def tokens(self, texts, context, drop=0.):
        """Each token of texts, which begin with `context` tokens that only the filters see: residual rows, squared norms and section marks after
        layer 0, and where each text's own tokens begin and how many there are."""
        flat = np.concatenate(texts)
        distinct, at = np.unique(flat, return_inverse=True)
        distinct, at = torch.from_numpy(distinct), torch.from_numpy(at)
        x = (F.embedding(distinct, self.base_in) + F.embedding(distinct, self.rows_in, sparse=True)) * EMBED_SCALE
        r = (((x * x).sum(-1, keepdim=True) + CONSTANT ** 2) / WIDTH + EPS).rsqrt()
        mark = 1.6 * F.silu(.3 * CONSTANT * r)
        x, mark = (x[at], mark[at]) if not self.phrases else (self.phrase(x, x * r, at, drop), mark[at])
        square = (x * x).sum(-1, keepdim=True) + CONSTANT ** 2 + mark ** 2
        size = np.array([len(t) for t in texts])
        return x, square, mark, np.concatenate([[0], size.cumsum()[:-1]]) + context, size - context

    def phrase(self, x, h, at, drop):
        """Layer 0's filters over TAPS tokens, added to the tokens' rows."""
        v, z = (h @ self.Fv)[at], F.silu(h @ self.Fz)[at]
        y = v * self.taps[:, TAPS - 1]
        for j in range(1, TAPS):
            y = y + F.pad(v[:-j], (0, 0, j, 0)) * self.taps[:, TAPS - 1 - j]
        y = (F.silu(y) * D ** -.5).view(len(at), -1, D)
        y = (y * ((y * y).mean(-1, keepdim=True) + EPS).rsqrt()).flatten(1)
        return x[at] + F.dropout(y * z, drop, self.training) @ self.Fo

    @staticmethod
    def mean(rows, at, size):
        """Means of size[i] rows each, at naming all of them one after the other."""
        offsets = torch.from_numpy(np.concatenate([[0], size.cumsum()[:-1]]))
        weights = torch.from_numpy(np.repeat(1 / size, size).astype(np.float32))
        return F.embedding_bag(torch.as_tensor(at), rows, offsets, mode="sum", per_sample_weights=weights)

    @staticmethod
    def spread(start, size, pick):
        """Token positions of the picked texts one after the other."""
        return np.concatenate([np.arange(start[i], start[i] + size[i]) for i in pick])

    def normed(self, x, u, mark, yes, at_end):
        """The head's normed hidden rows: meaning, summary and control axes with the weights wire.py gives them."""
        square = (x * x).sum(1) + (u * u).sum(1) + CONSTANT ** 2 + (mark * mark).sum(1) + yes * yes
        scale = (square / WIDTH + EPS).rsqrt()[:, None]
        mu = (x.sum(1) + u.sum(1) + CONSTANT + mark.sum(1) + yes)[:, None] / WIDTH
        deviation = ((square[:, None] / WIDTH - mu * mu) * scale * scale + 1e-5).rsqrt() * scale
        sections = [(mark - mu) * .1, mu * -.1]
        parts = [x - mu, (u - mu) * .3, *(sections[::-1] if at_end else sections), (CONSTANT - mu) * .1, yes[:, None] - mu]
        return torch.cat(parts, 1) * deviation, mu * deviation

    def meet(self, x, square, mark, u, gate):
        """Layer 1's MLP on tokens that carry the pool u: meaning and YES after it."""
        r = ((square + (u * u).sum(1, keepdim=True)) / WIDTH + EPS).rsqrt()
        product = (x @ self.V) * (u @ self.U1) * r * r
        yes = product @ self.wY
        if gate:
            yes = yes + F.silu(.2 * mark * r)[:, 0] * ((x @ self.v + u @ self.u + CONSTANT * self.b) * r[:, 0])
        return x + product @ self.Wc, yes

    def forward(self, b, drop=0.):
        x, square, mark, start, size = self.tokens([np.array([*self.before_state, *t]) for t in b["states"]], TAPS - 1, drop)
        s = self.mean(x * (square / WIDTH + EPS).rsqrt(), self.spread(start, size, range(len(size))), size)
        s = F.dropout(s, drop, self.training)
        u = s @ self.U0
        x, square, mark, _, _ = (t[-1:] if isinstance(t, torch.Tensor) else t for t in self.tokens([self.last], TAPS - 1))
        lx, yes = self.meet(x.expand(len(s), -1), square, mark, u, False)
        last, last_mu = self.normed(lx + s @ self.C, u, mark.expand(len(s), 1), yes, True)

        x, square, mark, start, size = self.tokens([np.array([*self.before_ask, *t]) for t in b["asks"]], TAPS - 1, drop)
        x = F.dropout(x, drop / 2, self.training)
        ask = b["ask_at"].numpy()
        owner = torch.from_numpy(np.repeat(np.arange(len(ask)), size[ask]))
        tok = torch.from_numpy(self.spread(start, size, ask))
        ut = u[b["state_at"]][owner]
        mx, yes = self.meet(x[tok], square[tok], mark[tok], ut, True)
        z, mu = self.normed(mx, ut, mark[tok], yes, False)
        count = torch.from_numpy(size[ask].astype(np.float32))[:, None]
        q = torch.zeros(len(ask), z.shape[1]).index_add(0, owner, z) / count
        mu = torch.zeros(len(ask), 1).index_add(0, owner, mu) / count
        anchor = q + last[b["state_at"]]
        # four control axes hold nothing but the subtracted mean; they only lengthen the anchor
        spare = 4 * (.1 * (mu + last_mu[b["state_at"]])) ** 2
        anchor = anchor / (anchor.pow(2).sum(1, keepdim=True) + spare).sqrt()

        o = self.options(b["options"])
        o = F.normalize(o, dim=-1)[b["option_at"]]
        anchor = anchor[b["owner"]]
        return self.tau.clamp(max=4.6).exp() * ((o[:, :MEANING] * anchor[:, :MEANING]).sum(-1) + o[:, -1] * anchor[:, -1])

    def options(self, texts):
        flat = np.concatenate(texts)
        distinct, at = np.unique(flat, return_inverse=True)
        distinct = torch.from_numpy(distinct)
        rows = F.embedding(distinct, self.base_out) + F.embedding(distinct, self.rows_out, sparse=True)
        return self.mean(rows, at, np.array([len(t) for t in texts]))


def around(enc, collate):
    """What Circuit needs to know about the prompt."""
    lead = enc.ids(field(1, "x", "noul"))
    return [collate.before[:collate.context], lead], (*collate.before[collate.context:], *collate.after), enc.ids(SUFFIX)


def gather(packed, marks):
    """Decisions of packed requests with every distinct text once; options flat, owner = their decision."""
    states, asks, opts = {}, {}, {}
    put = lambda d, k: d.setdefault(k, len(d))
    b = {k: [] for k in ("state_at", "ask_at", "option_at", "owner", "want", "kind")}
    for p in packed:
        at = put(states, (*marks[:-1], *p["state"], marks[-1]))
        for kind, text, options, want in p["rows"]:
            row = len(b["kind"])
            b["state_at"].append(at)
            b["ask_at"].append(put(asks, text[LEAD:]))
            b["kind"].append(kind)
            for o, y in zip(options, want):
                b["option_at"].append(put(opts, o))
                b["owner"].append(row)
                b["want"].append(y)
    out = {k: torch.tensor(v) for k, v in b.items()}
    out.update(states=[np.array(t) for t in states], asks=[np.array(t) for t in asks], options=[np.array(t) for t in opts])
    return out


def log_shares(logits, owner, n):
    top = torch.full((n,), -1e9).scatter_reduce(0, owner, logits.detach(), "amax")
    return logits - top[owner] - torch.zeros(n).index_add(0, owner, (logits - top[owner]).exp()).log()[owner]


@torch.no_grad()
def accuracy(model, packed):
    model.eval()
    right, kinds = [], []
    for a in range(0, len(packed), 128):
        b = gather(packed[a:a + 128], model.marks)
        lg, owner = model(b).numpy(), b["owner"].numpy()
        edges = np.concatenate([np.searchsorted(owner, np.arange(len(b["kind"]))), [len(owner)]])
        for i, k in enumerate(b["kind"].tolist()):
            mine = slice(edges[i], edges[i + 1])
            right.append(int(lg[mine].argmax()) == int(b["want"][mine].argmax()))
            kinds.append(k)
    model.train()
    right, kinds = np.array(right, float), np.array(kinds)
    return {"all": round(float(right.mean()), 3), **{n: round(float(right[kinds == k].mean()), 3) for k, n in enumerate(("noul", "choice", "score")) if (kinds == k).any()}}


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


def train(m, pool, steps, size=96, rate=3e-3, row_rate=1.5e-3, drop=.3, decay=.3, smooth=.03, dev=(), say=20):
    """Train circuit m for `steps` batches of `size` requests; its weights are averaged over the last part of the run. Returns the accuracy on dev as it went."""
    torch.manual_seed(0)
    m.train()
    rows = [m.rows_in, m.rows_out]
    dense = [p for p in m.parameters() if not any(p is r for r in rows)]
    adam = torch.optim.AdamW([dict(params=[p for p in dense if p.ndim == 2], weight_decay=decay), dict(params=[p for p in dense if p.ndim < 2], weight_decay=0)], lr=rate)
    sparse = torch.optim.SparseAdam(rows, lr=row_rate)
    mean = Average(list(m.parameters()), .99)
    begun = shown = time.time()
    log = []
    for step in range(steps):
        k = min(1, (step + 1) / 50) * (.02 + .49 * (1 + np.cos(np.pi * step / steps)))
        for g in adam.param_groups:
            g["lr"] = rate * k
        for g in sparse.param_groups:
            g["lr"] = row_rate * k
        b = gather([pool.next() for _ in range(size)], m.marks)
        n = len(b["kind"])
        count = torch.zeros(n).index_add(0, b["owner"], torch.ones(len(b["owner"])))[b["owner"]]
        want = b["want"] * (1 - smooth) + smooth / count
        loss = -(want * log_shares(m(b, drop), b["owner"], n)).sum() / n
        loss.backward()
        adam.step(), sparse.step(), adam.zero_grad(), sparse.zero_grad()
        mean.update()
        if time.time() - shown > say or step == steps - 1:
            shown = time.time()
            left = (shown - begun) / (step + 1) * (steps - step - 1)
            mean.swap()
            log.append({"decisions": (step + 1) * size * pool.count, **{k: accuracy(m, v) for k, v in dict(dev).items()}})
            mean.swap()
            print(f"circuit step {step + 1} of {steps} loss {loss.item():.3f}, {left / 60:.1f} min left", log[-1], flush=True)
    mean.swap()
    m.eval()
    return log


@torch.no_grad()
def write(net, m):
    """The circuit's matrices as attention pools (layers 1 and 3), exact products (layer 1's MLP) and table rows."""
    net.embed.rows[:, :MEANING] = m.rows_in * EMBED_SCALE
    net.out.rows[:, :MEANING], net.out.rows[:, YES] = m.rows_out[:, :-1], m.rows_out[:, -1]
    zero, one, three = net.model.layers[0].linear_attn, net.model.layers[1], net.model.layers[3]
    first = zero.v0 + D         # head 0 keeps the section
    zero.in_proj_qkv.weight[first:], zero.in_proj_z.weight[D:] = 0, 0
    zero.in_proj_qkv.weight[first:, :MEANING], zero.in_proj_z.weight[D:, :MEANING] = m.Fv.T, m.Fz.T
    zero.conv1d.weight[first:, 0] = m.taps
    zero.out_proj.weight[:, D:] = 0
    zero.out_proj.weight[:MEANING, D:] = m.Fo.T
    for attn, matrix, to in ((one.self_attn, m.U0, MEANING), (three.self_attn, m.C, 0)):
        group = attn.nh // attn.nkv
        for kv in range(attn.nkv):
            n, h = min(D, MEANING - kv * D), kv * group
            attn.o_proj.weight[:, h * D:(h + 1) * D] = 0
            attn.o_proj.weight[to:to + matrix.shape[1], h * D:h * D + n] = matrix[kv * D:kv * D + n].T
    f = one.mlp
    for sign, first in ((1, 0), (-1, 1)):       # silu(x)y - silu(-x)y = xy: two units are one exact product
        units = slice(first, 2 * RANK, 2)
        for w in (f.gate_proj.weight, f.up_proj.weight):
            w[units] = 0
        f.down_proj.weight[:, units] = 0
        f.gate_proj.weight[units, :MEANING] = sign * m.V.T
        f.up_proj.weight[units, MEANING:MEANING + SUMMARY] = sign * m.U1.T
        f.down_proj.weight[YES, units] = m.wY
        f.down_proj.weight[:MEANING, units] = m.Wc.T
    unit = 2 * RANK
    f.gate_proj.weight[unit], f.up_proj.weight[unit], f.down_proj.weight[:, unit] = 0, 0, 0
    f.gate_proj.weight[unit, IN_FIELDS] = .2
    f.up_proj.weight[unit, :MEANING], f.up_proj.weight[unit, MEANING:MEANING + SUMMARY], f.up_proj.weight[unit, BIAS] = m.v, m.u, m.b
    f.down_proj.weight[YES, unit] = 1
    net.head.prior_logit_scale.fill_(min(float(m.tau), math.log(100)))
