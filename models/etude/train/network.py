"""The Clef network in torch, in the two forms training needs.

`sequence` reads one whole prompt token by token, as the app does. `factored` computes the same numbers from parts: a state once, each instruction
once, each option once. It may, because this model's attention is pinned (pins.py) to look at the state alone and its delta rule to forget at once:
no answer can depend on question ids, order or siblings, and a decision costs a tenth of a sequence. check.py measures that both forms agree.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH = 256
CONFIG = dict(hidden_size=WIDTH, intermediate_size=384, num_hidden_layers=4, full_attention_interval=2, num_attention_heads=6,
              num_key_value_heads=3, head_dim=64, partial_rotary_factor=.25, rope_theta=10000., linear_num_key_heads=2,
              linear_num_value_heads=4, linear_key_head_dim=64, linear_value_head_dim=64, linear_conv_kernel_dim=4, rms_norm_eps=1e-6)
HEAD = dict(hidden_size=WIDTH, width=256, routing_layers=2, layers=1, heads=4, feedforward=384)
D = 64               # every head of this model is this wide
ROTARY = 16          # rotary dims of a head, pinned to zero: attention has no positions
LEAD, KEEP = 7, 3    # context tokens read before an instruction, and those that still matter after layer 0
NONE, STATE, FIELDS, LAST = range(4)   # the sections of a prompt


def linear(a, b):
    return nn.Linear(a, b, bias=False)


class Norm(nn.Module):
    """RMSNorm; zero-centred weights except the delta rule's inner norm."""

    def __init__(self, d, plain=False):
        super().__init__()
        self.weight, self.plain = nn.Parameter(torch.ones(d) if plain else torch.zeros(d)), plain

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight if self.plain else 1 + self.weight, 1e-6)


class Delta(nn.Module):
    """A gated delta rule layer. Value head 0 of the first one marks the section; all other heads forget at once and are local filters."""

    def __init__(self, c, marks):
        super().__init__()
        self.nk, self.nv, self.marks = c["linear_num_key_heads"], c["linear_num_value_heads"], marks
        self.v0 = 2 * self.nk * D
        self.in_proj_qkv = linear(WIDTH, self.v0 + self.nv * D)
        self.in_proj_z, self.in_proj_b, self.in_proj_a = linear(WIDTH, self.nv * D), linear(WIDTH, self.nv), linear(WIDTH, self.nv)
        self.conv1d = nn.Conv1d(self.v0 + self.nv * D, self.v0 + self.nv * D, 4, groups=self.v0 + self.nv * D, bias=False)
        self.dt_bias, self.A_log = nn.Parameter(torch.zeros(self.nv)), nn.Parameter(torch.zeros(self.nv))
        self.norm, self.out_proj = Norm(D, plain=True), linear(self.nv * D, WIDTH)

    def filtered(self, x, first=0):
        """Causal convolution over time of channels from `first` on, then SiLU."""
        x = x
        w = self.conv1d.weight[first:, 0]
        y = x * w[:, 3]
        for j in (1, 2, 3):
            y = y + F.pad(x[:, :-j], (0, 0, j, 0)) * w[:, 3 - j]
        return F.silu(y)

    def gated(self, o, h):
        z = self.in_proj_z(h).view(*h.shape[:-1], self.nv, D)
        return self.out_proj((self.norm(o) * F.silu(z)).flatten(-2))

    def factored(self, h, section):
        v = self.filtered(F.linear(h, self.in_proj_qkv.weight[self.v0:]), self.v0).view(*h.shape[:-1], self.nv, D) * D ** -.5
        if self.marks:
            mark = F.one_hot((section - 1).clamp(min=0), D).float() * (section > NONE)[..., None]
            v = torch.cat([mark[..., None, :], v[..., 1:, :]], -2)
        return self.gated(v, h)

    def sequence(self, h):
        t, unit = len(h), lambda x: x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)
        q, k, v = self.filtered(self.in_proj_qkv(h)[None])[0].split([self.nk * D, self.nk * D, self.nv * D], -1)
        spread = lambda x: unit(x.view(t, self.nk, D)).repeat_interleave(self.nv // self.nk, 1)
        write = torch.sigmoid(self.in_proj_b(h))
        decay = -self.A_log.exp() * F.softplus(self.in_proj_a(h) + self.dt_bias)
        return self.gated(delta_rule(spread(q) * D ** -.5, spread(k), v.view(t, self.nv, D), decay, write), h)


def delta_rule(q, k, v, decay, write, chunk=32):
    """The gated delta rule (clef.md 4.5) over q, k, v (T, heads, D) and decay, write (T, heads), a chunk of tokens at a time."""
    t = len(q)
    cut = lambda x: F.pad(x, (0, 0) * (x.ndim - 1) + (0, -t % chunk)).unflatten(0, (-1, chunk)).movedim(2, 1)
    q, k, v, decay, write = map(cut, (q, k, v, decay, write))       # (chunks, heads, chunk, …)
    total = decay.cumsum(-1)
    since = (total[..., :, None] - total[..., None, :]).masked_fill(torch.ones(chunk, chunk).triu(1).bool(), -1e30).exp()
    kb = k * write[..., None]
    a = -((kb @ k.mT) * since).tril(-1)
    inverse, power = torch.eye(chunk) + a, a
    for _ in range(chunk.bit_length() - 2):
        power = power @ power
        inverse = inverse + inverse @ power
    new, old = inverse @ (v * write[..., None]), inverse @ (kb * total.exp()[..., None])
    inside, reach = (q @ k.mT) * since, q * total.exp()[..., None]
    carry, end = (k * (total[..., -1:] - total).exp()[..., None]).mT, total[..., -1].exp()[..., None, None]
    memory, out = torch.zeros(q.shape[1], D, D), []
    for i in range(len(q)):
        fresh = new[i] - old[i] @ memory
        out.append(reach[i] @ memory + inside[i] @ fresh)
        memory = memory * end[i] + carry[i] @ fresh
    return torch.stack(out).movedim(1, 2).flatten(0, 1)[:t]


class Attention(nn.Module):
    """Gated full attention, pinned to look at state tokens only and without positions."""

    def __init__(self, c):
        super().__init__()
        self.nh, self.nkv = c["num_attention_heads"], c["num_key_value_heads"]
        self.q_proj, self.k_proj, self.v_proj = linear(WIDTH, 2 * self.nh * D), linear(WIDTH, self.nkv * D), linear(WIDTH, self.nkv * D)
        self.o_proj, self.q_norm, self.k_norm = linear(self.nh * D, WIDTH), Norm(D), Norm(D)

    def queries(self, h):
        q, gate = self.q_proj(h).view(*h.shape[:-1], self.nh, 2 * D).chunk(2, -1)
        return self.q_norm(q), torch.sigmoid(gate)

    def keys(self, h):
        r = self.nh // self.nkv
        k = self.k_norm(self.k_proj(h).view(*h.shape[:-1], self.nkv, D))
        v = self.v_proj(h).view(*h.shape[:-1], self.nkv, D)
        return k.repeat_interleave(r, -2), v.repeat_interleave(r, -2)

    def look(self, q, gate, k, v, mask):
        """q (n, a, heads, D) at k, v (n, b, heads, D); mask (n, 1, a or 1, b) is added to the scores."""
        s = q.transpose(1, 2) @ k.permute(0, 2, 3, 1) * D ** -.5
        o = ((s + mask).softmax(-1) @ v.transpose(1, 2)).transpose(1, 2)
        return self.o_proj((o * gate).flatten(-2))

    def sequence(self, h):
        t = len(h)
        q, gate = self.queries(h)
        k, v = self.keys(h)
        turn = torch.arange(t)[:, None] / 10000. ** (torch.arange(0, ROTARY, 2) / ROTARY)
        cos, sin = turn.cos()[:, None], turn.sin()[:, None]

        def rotate(x):
            a, b, rest = x.split([ROTARY // 2, ROTARY // 2, D - ROTARY], -1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)
        s = torch.einsum("ihd,jhd->hij", rotate(q), rotate(k)) * D ** -.5
        p = s.masked_fill(torch.ones(t, t).triu(1).bool(), -1e30).softmax(-1)
        return self.o_proj((torch.einsum("hij,jhd->ihd", p, v) * gate).flatten(-2))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj, self.up_proj, self.down_proj = (linear(WIDTH, c["intermediate_size"]), linear(WIDTH, c["intermediate_size"]),
                                                        linear(c["intermediate_size"], WIDTH))

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c, i):
        super().__init__()
        self.full = (i + 1) % c["full_attention_interval"] == 0
        self.input_layernorm, self.post_attention_layernorm, self.mlp = Norm(WIDTH), Norm(WIDTH), MLP(c)
        if self.full:
            self.self_attn = Attention(c)
        else:
            self.linear_attn = Delta(c, marks=i == 0)

    def rest(self, x):
        return x + self.mlp(self.post_attention_layernorm(x))

    def sequence(self, x):
        mixer = self.self_attn if self.full else self.linear_attn
        return self.rest(x + mixer.sequence(self.input_layernorm(x)))


class Backbone(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.layers, self.norm = nn.ModuleList(Layer(c, i) for i in range(c["num_hidden_layers"])), Norm(WIDTH)

    def sequence(self, x):
        for layer in self.layers:
            x = layer.sequence(x)
        return self.norm(x)

    def factored(self, states, section, parts, part_section, pick):
        """states (B, T, H) in their sections (B, T); parts (N, H): all instruction texts end to end, each behind LEAD context tokens, with their
        sections (N); pick (B, A): which rows of parts a state's own questions need. Returns hidden rows of the states and (B, A, H) of the picks.

        Filters reach three tokens back, so what leaks from one text into the next stays within the context tokens."""
        first = self.layers[0]
        local = lambda l, x, s: l.rest(x + l.linear_attn.factored(l.input_layernorm(x), s))
        states, parts = local(first, states, section), local(first, parts[None], part_section[None])[0]
        seen = torch.zeros(section.shape).masked_fill(section != STATE, -1e4)[:, None, None]
        causal = torch.full((states.shape[1],) * 2, -1e4).triu(1)[None, None]
        begun = (section != NONE).float()[..., None]             # the pinned gate is shut before the state
        asked = parts[pick]
        for i, layer in enumerate(self.layers[1:], 1):
            if not layer.full:
                states, asked = local(layer, states, section), local(layer, asked, part_section[pick])
                continue
            a, hs = layer.self_attn, layer.input_layernorm(states)
            k, v = a.keys(hs)
            own = a.look(*a.queries(hs), k, v, seen + causal)
            if i == 1:      # nothing has met its state yet: one query per part, shared by all states
                q, gate = (x[pick] for x in a.queries(layer.input_layernorm(parts)))
            else:
                q, gate = a.queries(layer.input_layernorm(asked))
            states = layer.rest(states + own * begun)
            asked = layer.rest(asked + a.look(q, gate, k, v, seen))
        return self.norm(states), self.norm(asked)


def multihead(m, q, kv, mask=None):
    """torch.nn.MultiheadAttention's arithmetic; mask (n, 1, 1, keys) is added to the scores."""
    w, h = q.shape[-1], m.num_heads
    (wq, wk, wv), (bq, bk, bv) = m.in_proj_weight.chunk(3), m.in_proj_bias.chunk(3)
    part = lambda x, a, b: F.linear(x, a, b).view(x.shape[0], x.shape[1], h, w // h).transpose(1, 2)
    q, k, v = part(q, wq, bq), part(kv, wk, bk), part(kv, wv, bv)
    s = (q @ k.transpose(-1, -2)) * (w // h) ** -.5
    p = (s if mask is None else s + mask).softmax(-1)
    return m.out_proj((p @ v).transpose(1, 2).flatten(2))


class Evidence(nn.Module):
    def __init__(self, w, heads, ff):
        super().__init__()
        self.query_norm, self.memory_norm, self.feedforward_norm = nn.LayerNorm(w), nn.LayerNorm(w), nn.LayerNorm(w)
        self.attention = nn.MultiheadAttention(w, heads, batch_first=True)
        self.feedforward = nn.Sequential(nn.Linear(w, ff), nn.GELU(), nn.Identity(), nn.Linear(ff, w))

    def forward(self, r, memory, mask):
        r = r + multihead(self.attention, self.query_norm(r), self.memory_norm(memory), mask)
        return r + self.feedforward(self.feedforward_norm(r))


class Decoder(nn.Module):
    """The self-attention between questions exists, as the format asks, and is pinned to add nothing."""

    def __init__(self, w, heads, ff):
        super().__init__()
        self.self_attn, self.multihead_attn = (nn.MultiheadAttention(w, heads, batch_first=True) for _ in range(2))
        self.linear1, self.linear2 = nn.Linear(w, ff), nn.Linear(ff, w)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(w) for _ in range(3))

    def forward(self, x, memory, mask):
        n = self.norm1(x)
        x = x + multihead(self.self_attn, n, n)
        x = x + multihead(self.multihead_attn, self.norm2(x), memory, mask)
        return x + self.linear2(F.gelu(self.linear1(self.norm3(x))))


class Head(nn.Module):
    """The joint schema head (clef.md section 6); its projection of option contexts is pinned to zero."""

    def __init__(self, c):
        super().__init__()
        h, w = c["hidden_size"], c["width"]
        self.width, number = w, lambda v: nn.Parameter(torch.tensor(v))
        self.prior_logit_scale, self.joint_logit_scale, self.residual_gate = number(math.log(10.)), number(math.log(5.)), number(.5)
        self.hidden_norm = nn.LayerNorm(h)
        for name in ("memory", "question", "option_question", "global", "option_context", "option_lexical"):
            setattr(self, name + "_projection", linear(h, w))
        self.type_embedding = nn.Embedding(3, w)
        nn.init.normal_(self.type_embedding.weight, std=.02)
        self.evidence_layers = nn.ModuleList(Evidence(w, c["heads"], c["feedforward"]) for _ in range(c["routing_layers"]))
        self.layers = nn.ModuleList(Decoder(w, c["heads"], c["feedforward"]) for _ in range(c["layers"]))
        self.option_summary_norm, self.field_norm, self.option_norm = (nn.LayerNorm(w) for _ in range(3))
        self.residual_scorer = nn.Sequential(nn.Linear(4 * w, w), nn.GELU(), nn.Identity(), nn.Linear(w, 1))

    def forward(self, memory, mask, last, asked, kind, lexical, owner, alive, context=None):
        """memory (B, T, H) normed rows with mask (B, 1, 1, T); last (B, H); asked (B, Q, H); kind (B, Q); lexical (B, O, H); owner (B, O); alive (B, O)."""
        mem = self.memory_projection(memory)
        index = owner[..., None]
        mine = asked.gather(1, index.expand(-1, -1, asked.shape[-1]))
        r = self.option_lexical_projection(lexical) + self.option_question_projection(mine)
        if context is not None:
            r = r + self.option_context_projection(context)
        for layer in self.evidence_layers:
            r = layer(r, mem, mask)
        base = self.question_projection(asked)
        member = F.one_hot(owner, asked.shape[1]).bool() & alive[..., None]
        s = (r @ base.transpose(1, 2)) / math.sqrt(self.width)
        share = s.masked_fill(~member, -1e9).softmax(1) * member
        summary = share.transpose(1, 2) @ r
        x = base + self.option_summary_norm(summary) + self.global_projection(last)[:, None] + self.type_embedding(kind)
        for layer in self.layers:
            x = layer(x, mem, mask)
        x = self.field_norm(x)
        f, o = x.gather(1, index.expand(-1, -1, self.width)), self.option_norm(r)
        anchor = F.normalize(mine + last[:, None], dim=-1)
        scale = lambda p: p.clamp(max=math.log(100.)).exp()
        prior = scale(self.prior_logit_scale) * (F.normalize(lexical, dim=-1, eps=1e-12) * anchor).sum(-1)
        cosine = F.cosine_similarity(f, o, dim=-1)
        rest = self.residual_scorer(torch.cat([f, o, f * o, (f - o).abs()], -1)).squeeze(-1)
        return prior + torch.sigmoid(self.residual_gate) * (scale(self.joint_logit_scale) * cosine + rest)


class Table(nn.Module):
    """Rows of a token table in training form: frozen word vectors @ a learned matrix + fixed control axes + learned rows."""

    def __init__(self, n, vectors=384):
        super().__init__()
        self.register_buffer("vectors", torch.zeros(n, vectors), persistent=False)
        self.register_buffer("fixed", torch.zeros(n, WIDTH), persistent=False)
        self.register_buffer("free", torch.ones(WIDTH), persistent=False)      # 0 on axes that only fixed may write
        self.matrix, self.rows = nn.Parameter(torch.zeros(vectors, WIDTH)), nn.Parameter(torch.zeros(n, WIDTH))

    def forward(self, ids):
        at = lambda t: F.embedding(ids, t)
        return (at(self.vectors) @ self.matrix + at(self.rows)) * self.free + at(self.fixed)

    def folded(self):
        return (self.vectors @ self.matrix + self.rows) * self.free + self.fixed

    @torch.no_grad()
    def load(self, table):
        self.matrix.zero_(), self.rows.zero_(), self.fixed.copy_(table)


class Etude(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.embed, self.out, self.model, self.head = Table(n), Table(n), Backbone(CONFIG), Head(HEAD)

    def forward(self, b):
        """Logits (B, O) of a factored batch (batch.py)."""
        hidden, asked = self.model.factored(self.embed(b["state"]), b["section"], self.embed(b["part"]), b["part_section"], b["pick"])
        memory = self.head.hidden_norm(hidden)
        pooled = b["pool"] @ self.head.hidden_norm(asked)
        last, asked = pooled[:, 0], pooled[:, 1:]
        words = self.out(b["option"])
        lexical = torch.zeros(len(b["option_size"]), WIDTH).index_add(0, b["option_row"], words) / b["option_size"][:, None]
        mask = torch.zeros(b["section"].shape).masked_fill(b["section"] != STATE, -1e4)[:, None, None]
        return self.head(memory, mask, last, asked, b["kind"], lexical[b["option_at"]], b["owner"], b["alive"])

    @torch.no_grad()
    def sequence(self, ids, questions):
        """Logits per question of one whole prompt, exactly as an app computes them. questions: (span, type, option spans)."""
        ids = torch.as_tensor(ids)
        hidden = self.head.hidden_norm(self.model.sequence(self.embed(ids)))
        words, mean = self.out(ids), lambda x, s: x[s[0]:s[1]].mean(0)
        spans = [(i, s) for i, (_, _, opts) in enumerate(questions) for s in opts]
        owner = torch.tensor([i for i, _ in spans])[None]
        logits = self.head(hidden[None], None, hidden[-1:], torch.stack([mean(hidden, s) for s, _, _ in questions])[None],
                           torch.tensor([[k for _, k, _ in questions]]), torch.stack([mean(words, s) for _, s in spans])[None], owner,
                           torch.ones_like(owner).bool(), torch.stack([mean(hidden, s) for _, s in spans])[None])[0]
        return [logits[owner[0] == i] for i in range(len(questions))]
