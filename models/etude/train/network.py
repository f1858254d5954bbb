"""The Clef network in torch, in the two forms training needs.

`sequence` reads one whole prompt token by token, as the app does. `factored` computes the same numbers from parts: each state, instruction and
option once, and only what speaks. It may, because this model's attention is pinned (pins.py) to look at the state alone, and its delta rule to forget
at once or to begin anew at each instruction: no answer can depend on question ids, order or siblings, and a decision costs a hundredth of a
sequence. check.py measures that both agree.

What speaks: filters over four tokens and averages that fade add phrases and the rest of an instruction to words, and an MLP mixes them (layer 0); the
state goes into every instruction token and the last token, at first as its plain mean, later by attention, and an MLP multiplies both (layer 1); an
option's logit is the scaled cosine of its words with instruction + last token (the head's prior). The head's joint part is in the file, as the format asks, and silent.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH = 384
CONFIG = dict(hidden_size=WIDTH, intermediate_size=1536, num_hidden_layers=2, full_attention_interval=2, num_attention_heads=12,
              num_key_value_heads=6, head_dim=64, partial_rotary_factor=.25, rope_theta=10000., linear_num_key_heads=2,
              linear_num_value_heads=8, linear_key_head_dim=64, linear_value_head_dim=64, linear_conv_kernel_dim=4, rms_norm_eps=1e-6)
HEAD = dict(hidden_size=WIDTH, width=256, routing_layers=1, layers=1, heads=4, feedforward=256)
D = 64               # every head of this model is this wide
ROTARY = 16          # rotary dims of a head, pinned to zero: attention has no positions
RUNNING = 4          # value heads of the marking layer that keep a running average since the last mark
FEW = 384            # MLP units that learn before the others
LEAD = 3             # context tokens before an instruction: the filters reach that far back
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
    """The gated delta rule layer. Value head 0 marks the section, the last RUNNING heads average, all others forget at once and are local filters."""

    def __init__(self, c):
        super().__init__()
        self.nk, self.nv = c["linear_num_key_heads"], c["linear_num_value_heads"]
        self.v0 = 2 * self.nk * D
        self.in_proj_qkv = linear(WIDTH, self.v0 + self.nv * D)
        self.in_proj_z, self.in_proj_b, self.in_proj_a = linear(WIDTH, self.nv * D), linear(WIDTH, self.nv), linear(WIDTH, self.nv)
        self.conv1d = nn.Conv1d(self.v0 + self.nv * D, self.v0 + self.nv * D, 4, groups=self.v0 + self.nv * D, bias=False)
        self.dt_bias, self.A_log = nn.Parameter(torch.zeros(self.nv)), nn.Parameter(torch.zeros(self.nv))
        self.norm, self.out_proj = Norm(D, plain=True), linear(self.nv * D, WIDTH)

    def filtered(self, x, first=0, count=None):
        """Causal convolution over time (T, channels) of `count` channels from `first` on, then SiLU."""
        w = self.conv1d.weight[first:, 0][:count]
        y = x * w[:, 3]
        for j in (1, 2, 3):
            y = y + F.pad(x[:-j], (0, 0, j, 0)) * w[:, 3 - j]
        return F.silu(y)

    def running(self, v, write, segments):
        """The memories of the last RUNNING heads, averages that fade: v (places, heads, D), write (places, heads). Each segment, rows of places
        (n, T) padded with the one behind all, begins with an empty memory."""
        out = v.new_zeros(len(v) + 1, *v.shape[1:])
        v, write = F.pad(v, (0, 0, 0, 0, 0, 1)), F.pad(write, (0, 0, 0, 1))
        for places in segments:
            w = write[places].transpose(1, 2)                           # (n, heads, T)
            left = torch.log1p(-w.clamp(max=.999)).cumsum(-1)
            share = (left[..., :, None] - left[..., None, :]).masked_fill(torch.ones(w.shape[-1], w.shape[-1]).triu(1).bool(), -1e30).exp() * w[..., None, :]
            mean = (share @ v[places].transpose(1, 2)).transpose(1, 2)
            out = out.index_put((places.flatten(),), mean.flatten(0, 1).to(out.dtype))
        return out[:-1]

    def gated(self, o, z):
        """What the first heads give: o (…, heads, D), z (…, heads * D)."""
        return F.linear((self.norm(o) * F.silu(z.view(o.shape))).flatten(-2), self.out_proj.weight[:, :z.shape[-1]])

    def factored(self, h, at, section, segments):
        """h: rows of the distinct tokens; at: which of them stands where; section of every place; segments as `running` takes them."""
        brief = self.nv if segments else self.nv - RUNNING
        v = self.filtered(F.linear(h, self.in_proj_qkv.weight[self.v0:self.v0 + brief * D])[at], self.v0, brief * D).view(len(at), brief, D) * D ** -.5
        mark = F.one_hot((section - 1).clamp(min=0), D).float() * (section > NONE)[:, None]
        v = torch.cat([mark[:, None], v[:, 1:]], 1)
        if segments:
            mean = self.running(v[:, -RUNNING:].float(), torch.sigmoid(self.in_proj_b(h)[:, -RUNNING:].float())[at], segments)
            v = torch.cat([v[:, :-RUNNING], mean], 1)
        return self.gated(v, F.linear(h, self.in_proj_z.weight[:brief * D])[at])

    def sequence(self, h):
        t, unit = len(h), lambda x: x * torch.rsqrt((x * x).sum(-1, keepdim=True) + 1e-6)
        q, k, v = self.filtered(self.in_proj_qkv(h)).split([self.nk * D, self.nk * D, self.nv * D], -1)
        spread = lambda x: unit(x.view(t, self.nk, D)).repeat_interleave(self.nv // self.nk, 1)
        write = torch.sigmoid(self.in_proj_b(h))
        decay = -self.A_log.exp() * F.softplus(self.in_proj_a(h) + self.dt_bias)
        return self.gated(delta_rule(spread(q) * D ** -.5, spread(k), v.view(t, self.nv, D), decay, write), self.in_proj_z(h))


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
        k = self.k_norm(self.k_proj(h).view(*h.shape[:-1], self.nkv, D))
        return k, self.v_proj(h).view(*h.shape[:-1], self.nkv, D)

    def factored(self, asking, state, rows, places, drop):
        """What each query sees in its state, (queries that exist, H): asking (n, H) distinct rows that ask, rows (B, P) which of them asks (-1: none);
        state (m, H) rows of all states, places (B, T) which of them stands where (m: nothing)."""
        (n, p), t, r = rows.shape, places.shape[1], self.nh // self.nkv
        q, gate = self.queries(asking)
        k, v = self.keys(state)
        k, v = (F.pad(x, (0, 0, 0, 0, 0, 1))[places].movedim(1, 2) for x in (k, v))           # (B, nkv, T, D)
        q = q[rows].unflatten(2, (self.nkv, r)).permute(0, 2, 3, 1, 4).flatten(2, 3)           # (B, nkv, r * P, D)
        s = (q @ k.mT) * D ** -.5
        out = s.masked_fill((places == len(state))[:, None, None], -1e9).softmax(-1) @ v
        out = out.unflatten(2, (r, p)).permute(0, 3, 1, 2, 4).flatten(2)
        out = out * F.dropout(torch.ones(n, 1, out.shape[-1]), drop)
        real = rows >= 0
        return self.o_proj(out[real] * gate.flatten(1)[rows[real]])

    def sequence(self, h):
        t, r = len(h), self.nh // self.nkv
        q, gate = self.queries(h)
        k, v = (x.repeat_interleave(r, -2) for x in self.keys(h))
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

    def forward(self, x, drop=0.):
        return self.down_proj(F.dropout(F.silu(self.gate_proj(x)) * self.up_proj(x), drop))

    def entries(self, x, units):
        """Gate and up of the first units."""
        return F.linear(x, self.gate_proj.weight[:units]), F.linear(x, self.up_proj.weight[:units])


class Layer(nn.Module):
    def __init__(self, c, i):
        super().__init__()
        self.full = (i + 1) % c["full_attention_interval"] == 0
        self.input_layernorm, self.post_attention_layernorm, self.mlp = Norm(WIDTH), Norm(WIDTH), MLP(c)
        if self.full:
            self.self_attn = Attention(c)
        else:
            self.linear_attn = Delta(c)

    def met(self, x, gate, up):
        """What the MLP adds to rows x given gate and up before the norm."""
        r = (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()
        return F.linear(F.silu(gate * r) * (up * r), self.mlp.down_proj.weight[:, :gate.shape[-1]])

    def rest(self, x, drop=0.):
        return x + self.mlp(self.post_attention_layernorm(x), drop if self.training else 0.)

    def sequence(self, x):
        mixer = self.self_attn if self.full else self.linear_attn
        return self.rest(x + mixer.sequence(self.input_layernorm(x)))


class Backbone(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.deep = True
        self.layers, self.norm = nn.ModuleList(Layer(c, i) for i in range(c["num_hidden_layers"])), Norm(WIDTH)

    def sequence(self, x):
        for layer in self.layers:
            x = layer.sequence(x)
        return self.norm(x)

    def factored(self, x, b, drop):
        """x: embedded distinct tokens. Normed hidden rows of each instruction token beside its state (b["pair_place"], b["pair_state"]), and of
        the last token of each state (B, H)."""
        zero, one = self.layers
        off = lambda y: F.dropout(y, drop, self.training)
        segments = [b["states"], b["asks"], b["ending"]] if self.deep else []
        x = x[b["at"]] + off(zero.linear_attn.factored(zero.input_layernorm(x), b["at"], b["section"], segments))
        if self.deep:
            x = zero.rest(x, drop)
        h = one.input_layernorm(x[b["state_place"]])
        self.mean = mean = torch.zeros(len(b["state_size"]), WIDTH).index_add(0, b["state_of"], h) / b["state_size"][:, None]
        if self.deep:
            own = off(torch.cat([x[b["first_ask"]:], x[b["last"]][None]]))
            asked = own[b["asking"][b["asking"] >= 0]] + one.self_attn.factored(one.input_layernorm(own), h, b["asking"], b["in_state"], drop if self.training else 0.)
            asked = self.norm(one.rest(asked, drop))
            return asked[b["asked"]], asked[b["ended"]]
        seen = F.linear(off(mean), one.self_attn.v_proj.weight).view(len(mean), -1, 1, D)
        summary = one.self_attn.o_proj(torch.cat([seen, torch.zeros_like(seen)], 2).flatten(1))       # the second head of a pair is shut before the end
        own, at = x[b["first_ask"]:], b["pair_place"] - b["first_ask"]
        asked = own[at] + summary[b["pair_state"]]
        asked = asked + one.met(asked, *(mine[at] + its[b["pair_state"]] for mine, its in zip(one.mlp.entries(own, FEW), one.mlp.entries(summary, FEW))))
        last = x[b["last"]] + one.self_attn.o_proj(seen.expand(-1, -1, 2, -1).flatten(1))
        last = last + one.met(last, *one.mlp.entries(last, FEW))
        return self.norm(asked), self.norm(last)


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


def scale(p):
    return p.clamp(max=math.log(100.)).exp()


class Head(nn.Module):
    """The joint schema head (clef.md section 6); here only the prior speaks, the rest is gated off."""

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

    def forward(self, memory, last, asked, kind, lexical, owner, alive, context):
        """memory (B, T, H) normed rows; last (B, H); asked (B, Q, H); kind (B, Q); lexical and context (B, O, H); owner (B, O); alive (B, O)."""
        mem, mask = self.memory_projection(memory), None
        index = owner[..., None]
        mine = asked.gather(1, index.expand(-1, -1, asked.shape[-1]))
        r = self.option_lexical_projection(lexical) + self.option_question_projection(mine) + self.option_context_projection(context)
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
        cosine = F.cosine_similarity(f, o, dim=-1)
        rest = self.residual_scorer(torch.cat([f, o, f * o, (f - o).abs()], -1)).squeeze(-1)
        return self.prior(lexical, last, asked, owner) + torch.sigmoid(self.residual_gate) * (scale(self.joint_logit_scale) * cosine + rest)

    def prior(self, lexical, last, asked, owner):
        """Scaled cosine of each option's words with its question's and the last token's hidden rows."""
        anchor = F.normalize(asked + last[:, None], dim=-1).gather(1, owner[..., None].expand(-1, -1, asked.shape[-1]))
        return scale(self.prior_logit_scale) * (F.normalize(lexical, dim=-1, eps=1e-12) * anchor).sum(-1)


class Table(nn.Module):
    """Rows of a token table in training form: frozen word vectors @ a learned matrix + fixed control axes + learned rows."""

    def __init__(self, n, vectors=384):
        super().__init__()
        self.register_buffer("vectors", torch.zeros(n, vectors), persistent=False)
        self.register_buffer("fixed", torch.zeros(n, WIDTH), persistent=False)
        self.register_buffer("free", torch.ones(WIDTH), persistent=False)      # 0 on axes that only fixed may write
        self.matrix, self.rows = nn.Parameter(torch.zeros(vectors, WIDTH)), nn.Parameter(torch.zeros(n, WIDTH))

    def forward(self, ids):
        """Rows of ids, which should be distinct: the learned ones get sparse gradients."""
        at = lambda t: F.embedding(ids, t)
        return (at(self.vectors) @ self.matrix + F.embedding(ids, self.rows, sparse=True)) * self.free + at(self.fixed)

    def folded(self):
        return (self.vectors @ self.matrix + self.rows) * self.free + self.fixed

    @torch.no_grad()
    def load(self, table):
        self.matrix.zero_(), self.rows.zero_(), self.fixed.copy_(table)


class Etude(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.embed, self.out, self.model, self.head = Table(n), Table(n), Backbone(CONFIG), Head(HEAD)

    def forward(self, b, drop=0.):
        """Logits (B, O) of a factored batch (batch.py)."""
        asked, last = self.model.factored(self.embed(b["token"]), b, drop)
        norm = self.head.hidden_norm
        asked = torch.zeros(b["ask_size"].numel(), WIDTH).index_add(0, b["pair_ask"], norm(asked)) / b["ask_size"].view(-1, 1)
        words = self.out(b["word"])[b["option_word"]]
        lexical = torch.zeros(len(b["option_size"]), WIDTH).index_add(0, b["option_row"], words) / b["option_size"][:, None]
        return self.head.prior(lexical[b["option_at"]], norm(last), asked.view(*b["ask_size"].shape, -1), b["owner"])

    @torch.no_grad()
    def sequence(self, ids, questions):
        """Logits per question of one whole prompt, exactly as an app computes them. questions: (span, type, option spans)."""
        ids = torch.as_tensor(ids)
        hidden = self.head.hidden_norm(self.model.sequence(self.embed(ids)))
        words, mean = self.out(ids), lambda x, s: x[s[0]:s[1]].mean(0)
        spans = [(i, s) for i, (_, _, opts) in enumerate(questions) for s in opts]
        owner = torch.tensor([i for i, _ in spans])[None]
        logits = self.head(hidden[None], hidden[-1:], torch.stack([mean(hidden, s) for s, _, _ in questions])[None],
                           torch.tensor([[k for _, k, _ in questions]]), torch.stack([mean(words, s) for _, s in spans])[None], owner,
                           torch.ones_like(owner).bool(), torch.stack([mean(hidden, s) for _, s in spans])[None])[0]
        return [logits[owner[0] == i] for i in range(len(questions))]
