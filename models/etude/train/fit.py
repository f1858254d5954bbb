"""Training of the network's own form, a batch at a time, resumable."""
import math
import time

import torch

import measure
from batch import Collator, log_shares
from network import WIDTH

SAVE = 90            # seconds between checkpoints


class Average:
    """Exponential average of parameters."""

    def __init__(self, params, decay, every=4):
        self.params, self.decay, self.every, self.steps = params, decay ** every, every, 0
        self.values = [p.detach().clone() for p in params]

    @torch.no_grad()
    def update(self):
        self.steps += 1
        if self.steps % self.every == 0:
            d = min(self.decay, 1 - 1 / (1 + self.steps / self.every / 2))
            torch._foreach_lerp_(self.values, [p.detach() for p in self.params], 1 - d)

    @torch.no_grad()
    def swap(self):
        for p, v in zip(self.params, self.values):
            kept = p.detach().clone()
            p.copy_(v)
            v.copy_(kept)


def trained(net, deep):
    """The parameters that take part: (tables' matrices, layers, head, table rows). Layer 0's MLP and running heads take part when deep."""
    zero, one = net.model.layers
    g, head = zero.linear_attn, net.head
    layers = [g.in_proj_qkv.weight, g.in_proj_z.weight, g.conv1d.weight, g.norm.weight, g.out_proj.weight,
              one.self_attn.o_proj.weight, one.mlp.gate_proj.weight, one.mlp.up_proj.weight, one.mlp.down_proj.weight]
    if deep:
        layers += [g.in_proj_b.weight, zero.mlp.gate_proj.weight, zero.mlp.up_proj.weight, zero.mlp.down_proj.weight]
        layers += [one.self_attn.q_proj.weight, one.self_attn.k_proj.weight, one.self_attn.v_proj.weight, one.self_attn.q_norm.weight, one.self_attn.k_norm.weight]
    return [net.embed.matrix, net.out.matrix], layers, [head.prior_logit_scale, head.hidden_norm.weight, head.hidden_norm.bias], [net.embed.rows, net.out.rows]


@torch.no_grad()
def resume(part, params, mean, adam, sparse):
    for p, v in zip(params, part["params"]):
        p.copy_(v)
    mean.values, mean.steps = part["mean"], part["averaged"]
    adam.load_state_dict(part["adam"]), sparse.load_state_dict(part["sparse"])
    torch.set_rng_state(part["noise"])


def loss_of(net, b, drop, smooth, teacher, side):
    """Cross entropy of a batch, and the side task's squared error: side reads the teacher's vectors (standardised) off the state's mean."""
    ls = log_shares(net(b, drop), b)
    told = torch.nn.functional.mse_loss(side(net.model.mean), teacher(b["base"]))
    n = b["kind"].numel()
    count = torch.zeros(len(ls), b["kind"].shape[1]).scatter_add(1, b["owner"], b["alive"].float()).gather(1, b["owner"]).clamp(min=1)
    want = torch.where(b["alive"], b["want"] * (1 - smooth) + smooth / count, 0.)
    return -(want * torch.where(b["alive"], ls, 0.)).sum() / n, told


def train(net, pin, pool, enc, teacher, steps, size=96, rate=1e-3, layers=3, row_rate=1.5e-3, drop=.2, decay=.1, smooth=.03, dev=(), say=180, kept=None, deep=True):
    """Train for `steps` batches; layers is how much larger the layers' steps are. Returns the accuracy on dev as it went."""
    torch.manual_seed(0)
    net.train()
    net.model.deep = deep
    collate = Collator(enc)
    for p in net.parameters():
        p.requires_grad_(False)
    *parts, rows = trained(net, deep)
    side = torch.nn.Linear(WIDTH, teacher.vectors.shape[1])
    dense = [p for part in parts for p in part] + list(side.parameters())
    for p in dense + rows:
        p.requires_grad_(True)
    groups = []
    for part, factor in zip(parts, (1, layers, 1)):
        groups += [dict(params=[p for p in part if (p.ndim == 2) == wide], weight_decay=decay if wide else 0, factor=factor) for wide in (True, False)]
    groups.append(dict(params=list(side.parameters()), weight_decay=0, factor=layers))
    adam = torch.optim.AdamW([g for g in groups if g["params"]], lr=rate, betas=(.9, .98))
    sparse = torch.optim.SparseAdam(rows, lr=row_rate, betas=(.9, .98))
    mean = Average(dense + rows, .99)
    batches, log, seen, read, smoothed, first = pool.batches(size), [], 0, 0, None, 0
    if kept and kept.exists():
        part = torch.load(kept, weights_only=False)
        first, log, seen, read, smoothed = (part[k] for k in ("step", "log", "seen", "read", "smoothed"))
        resume(part, dense + rows, mean, adam, sparse)
        for _ in range(first):          # the pool draws what it drew before
            next(batches)
    begun = shown = saved = time.time()
    for step in range(first, steps):
        k = min(1, (step + 1) / 60) * (.02 + .49 * (1 + math.cos(math.pi * step / steps)))
        for optimiser, top in ((adam, rate), (sparse, row_rate)):
            for g in optimiser.param_groups:
                g["lr"] = top * k * g.get("factor", 1)
        b = collate(next(batches))
        with torch.autocast("cpu", torch.bfloat16):
            loss, told = loss_of(net, b, drop, smooth, teacher, side)
        (loss + told if deep else loss).backward()
        torch.nn.utils.clip_grad_norm_(dense, 1.)
        adam.step(), sparse.step(), adam.zero_grad(), sparse.zero_grad()
        pin.apply(), mean.update()
        seen, read = seen + b["kind"].numel(), read + len(b["at"])
        smoothed = loss.item() if smoothed is None else .97 * smoothed + .03 * loss.item()
        if time.time() - shown > say or step == steps - 1:
            shown = time.time()
            left = (shown - begun) / (step + 1 - first) * (steps - step - 1)
            mean.swap()
            log.append({"decisions": seen, "tokens": read, **{k: measure.quick(net, v) for k, v in dict(dev).items()}})
            mean.swap()
            print(f"step {step + 1} of {steps} loss {smoothed:.3f}, side {told.item():.3f}, {left / 60:.1f} min left", log[-1], flush=True)
        if kept and time.time() - saved > SAVE:
            saved = time.time()
            state = dict(step=step + 1, log=log, seen=seen, read=read, smoothed=smoothed, params=[p.detach() for p in dense + rows], mean=mean.values, averaged=mean.steps,
                         adam=adam.state_dict(), sparse=sparse.state_dict(), noise=torch.get_rng_state())
            torch.save(state, kept.with_suffix(".new"))
            kept.with_suffix(".new").replace(kept)
    mean.swap()
    if kept and kept.exists():
        kept.unlink()
    net.eval()
    return log
