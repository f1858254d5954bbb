"""Weights that training may not move: they keep every answer independent of question ids, order and siblings.

Axes of the residual stream: 0-255 word meaning and 256-374 summary of the state (where they start; training mixes them), then the control axes
below. The first delta-rule head writes the section a token belongs to (state, fields, after the thinking block); attention reads it to look at state
tokens only. The running heads forget all at the words that open a section or an instruction.
"""
import torch

from network import D, RUNNING

MEANING, SUMMARY = 256, 119
CONTROL = MEANING + SUMMARY
MARK_ASK, MARK_STATE, MARK_SCHEMA, MARK_LAST, BIAS, IN_STATE, IN_FIELDS, AT_END, YES = range(CONTROL, CONTROL + 9)
SECTIONS = [IN_STATE, IN_FIELDS, AT_END]
MASK, BALLAST = 20, 0    # dims of a head: one whose key says "not of the state", and one no query reads, which keeps keys of little content from growing


class Pins:
    """Fixed entries of parameters: hold(p, index, value) sets and fixes them, apply() restores them after an optimiser step."""

    def __init__(self):
        self.held = {}

    def hold(self, p, index, value=None):
        with torch.no_grad():
            if value is not None:
                p[index] = value
        mask = self.held.setdefault(p, torch.zeros(p.shape, dtype=torch.bool))
        mask[index] = True

    def seal(self):
        self.rows = [(p, m, p.detach().clone()) for p, m in self.held.items()]

    @torch.no_grad()
    def apply(self):
        for p, m, v in self.rows:
            p.copy_(torch.where(m, v, p))


def pin_delta(pins, layer, deep):
    """q and k constant, memory gone after one token; in the marking layer head 0 keeps the section without decay, and the
    last heads keep a running average that begins anew at the marks."""
    g = layer.linear_attn
    w, conv, v0 = g.in_proj_qkv.weight, g.conv1d.weight, g.v0
    pins.hold(w, slice(0, v0), 0.)
    pins.hold(conv, slice(0, v0), 0.)
    for start in range(0, v0, D):
        pins.hold(w, (start, BIAS), .6)
        pins.hold(conv, (start, 0, 3), 1.)
    every, brief = slice(None), slice(0, g.nv - RUNNING)
    pins.hold(g.in_proj_a.weight, every, 0.)
    pins.hold(g.in_proj_b.weight, brief, 0.)
    pins.hold(g.in_proj_b.weight, (brief, BIAS), 2.)
    pins.hold(g.A_log, every, 3.4)
    pins.hold(g.dt_bias, every, 2.)
    head = slice(v0, v0 + D)
    pins.hold(w, head, 0.)
    pins.hold(conv, head, 0.)
    pins.hold(conv, (head, 0, 3), 1.)
    for j, axis in enumerate((MARK_STATE, MARK_SCHEMA, MARK_LAST)):
        pins.hold(w, (v0 + j, axis), .6)
        pins.hold(g.in_proj_b.weight, (0, axis), 4.)
    pins.hold(g.in_proj_b.weight, (0, BIAS), -2.)
    running = slice(g.nv - RUNNING, None)
    pins.hold(g.dt_bias, running, -20.)
    for axis in (MARK_STATE, MARK_LAST, MARK_ASK):
        pins.hold(g.in_proj_a.weight, (running, axis), 4.)
    pins.hold(g.A_log, 0, 0.)
    pins.hold(g.dt_bias, 0, -20.)
    pins.hold(g.in_proj_z.weight, slice(0, D), 0.)
    pins.hold(g.in_proj_z.weight, (slice(0, D), BIAS), .3)
    pins.hold(g.norm.weight, slice(0, 3), 1.)
    pins.hold(g.out_proj.weight, slice(CONTROL if deep else MEANING, None), 0.)
    pins.hold(layer.mlp.down_proj.weight, slice(CONTROL, None), 0.)
    pins.hold(g.out_proj.weight, (every, slice(0, D)), 0.)
    for j, axis in enumerate(SECTIONS):
        pins.hold(g.out_proj.weight, (axis, j), .2)


def pin_attention(pins, layer, deep):
    """No rotary dims but the ballast. The mask is exactly zero in keys of the state and far below all content elsewhere, so only the state is seen: every
    section but the state has an axis of its own, or two (prefix). Until layer 0 speaks in full (deep) keys have no content, which gives plain means. The first head of a pair is open to fields and the end, the second to the end alone; the heads beyond word meanings speak when
    deep and are open to both."""
    a = layer.self_attn
    plain = MEANING // D * (a.nh // a.nkv)
    if not deep:
        pins.hold(a.k_proj.weight, slice(None), 0.)
        pins.hold(a.o_proj.weight, (slice(None), slice(plain * D, None)), 0.)
    for head in range(a.nh):
        shut = [IN_STATE, IN_FIELDS] if head % 2 and head < plain else [IN_STATE]
        q = head * 2 * D
        pins.hold(a.q_proj.weight, slice(q, q + 16), 0.)
        pins.hold(a.q_proj.weight, q + MASK, 0.)
        pins.hold(a.q_proj.weight, (q + MASK, BIAS), 4.)
        gate = slice(q + D, q + 2 * D)
        pins.hold(a.q_proj.weight, gate, 0.)
        pins.hold(a.q_proj.weight, (gate, BIAS), -6.)
        for axis in SECTIONS:
            pins.hold(a.q_proj.weight, (gate, axis), 0. if axis in shut else 13.)
    for head in range(a.nkv):
        k = head * D
        pins.hold(a.k_proj.weight, slice(k, k + 16), 0.)
        pins.hold(a.k_proj.weight, k + MASK, 0.)
        for axis in (IN_FIELDS, AT_END):
            pins.hold(a.k_proj.weight, (k + MASK, axis), -1000.)
        pins.hold(a.k_proj.weight, (k + BALLAST, BIAS), -8.)
        pins.hold(a.k_proj.weight, (k + BALLAST, IN_STATE), 14.)
    pins.hold(a.q_norm.weight, MASK, 299.)
    pins.hold(a.k_norm.weight, MASK, .6)
    pins.hold(a.o_proj.weight, slice(CONTROL, None), 0.)
    if not deep:            # the summary keeps axes of its own: only up reads it
        summary = slice(MEANING, CONTROL)
        for head in range(a.nh):
            if head < plain:
                pins.hold(a.o_proj.weight, (summary if head % 2 else slice(0, MEANING), slice(head * D, head * D + D)), 0.)
        pins.hold(layer.mlp.gate_proj.weight, (slice(None), summary), 0.)
        pins.hold(layer.mlp.down_proj.weight, summary, 0.)
    pins.hold(layer.mlp.down_proj.weight, slice(CONTROL, YES), 0.)


def pin_head(pins, head):
    """Memory rows carry the mask too; no self-attention between questions; no option contexts."""
    w, every = head.width, slice(None)
    for h in range(w // D):
        d = h * D + D - 1
        pins.hold(head.memory_projection.weight, d, 0.)
        pins.hold(head.memory_projection.weight, (d, IN_STATE), 22.)
        pins.hold(head.memory_projection.weight, (d, BIAS), -9.)
    for axis in (BIAS, *SECTIONS):
        pins.hold(head.hidden_norm.weight, axis, .1)
        pins.hold(head.hidden_norm.bias, axis, 0.)
    attentions = [e.attention for e in head.evidence_layers] + [d.multihead_attn for d in head.layers]
    for a in attentions:
        for h in range(w // D):
            d = h * D + D - 1
            for start in (0, w):
                pins.hold(a.in_proj_weight, start + d, 0.)
                pins.hold(a.in_proj_bias, start + d, 0.)
            pins.hold(a.in_proj_bias, d, 16.)
            pins.hold(a.in_proj_weight, (w + d, d), 1.)
    for e in head.evidence_layers:
        for h in range(w // D):
            pins.hold(e.memory_norm.weight, h * D + D - 1, 1.)
            pins.hold(e.memory_norm.bias, h * D + D - 1, 0.)
    for d in head.layers:
        pins.hold(d.self_attn.out_proj.weight, every, 0.)
        pins.hold(d.self_attn.out_proj.bias, every, 0.)
        pins.hold(d.self_attn.in_proj_weight, every, 0.)
        pins.hold(d.self_attn.in_proj_bias, every, 0.)
    pins.hold(head.option_context_projection.weight, every, 0.)


def pin(net, deep):
    """All pins of a network, after its start values are set (wire.py); until layer 0 speaks in full (deep) word and summary keep to their axes."""
    pins = Pins()
    for layer in net.model.layers:
        (pin_attention if layer.full else pin_delta)(pins, layer, deep)
    net.embed.free[:CONTROL], net.embed.free[CONTROL if deep else MEANING:] = 1, 0
    for layer in net.model.layers:
        for norm in (layer.input_layernorm, layer.post_attention_layernorm):
            pins.hold(norm.weight, slice(CONTROL, YES), 0.)
    pins.hold(net.model.norm.weight, slice(CONTROL, YES), 0.)
    pin_head(pins, net.head)
    pins.seal()
    return pins
