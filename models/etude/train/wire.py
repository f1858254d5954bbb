"""The start of the network: word vectors in the tables, plain means and products of them in layer 1, everything else silent.

Silent means that it reads with random weights and writes zeros: such layers are the identity.
"""
import torch
import torch.nn as nn

from network import D, FEW, RUNNING, WIDTH
from pins import BIAS, CONTROL, MARK_ASK, MARK_LAST, MARK_SCHEMA, MARK_STATE, MEANING, SUMMARY, YES

EMBED_SCALE, CONSTANT = 6., 5.
GATED_OFF = -200.   # a sigmoid of 0 in float32: whoever reads it may skip the joint part


def start_layers(net):
    for name, p in net.named_parameters():
        if p.ndim == 2 and not name.startswith(("embed", "out.")) and "type_emb" not in name:
            nn.init.normal_(p, std=p.shape[1] ** -.5)
    for layer in net.model.layers:
        mixer = layer.self_attn if layer.full else layer.linear_attn
        (mixer.o_proj if layer.full else mixer.out_proj).weight.mul_(0 if layer.full else .1)
        layer.mlp.down_proj.weight.mul_(.3 if layer.full else 0)
        readers = [layer.mlp.gate_proj, layer.mlp.up_proj]
        readers += [mixer.q_proj, mixer.k_proj, mixer.v_proj] if layer.full else [mixer.in_proj_qkv, mixer.in_proj_z]
        if layer.full:
            layer.mlp.gate_proj.weight.mul_((WIDTH / MEANING) ** .5), layer.mlp.up_proj.weight.mul_((WIDTH / SUMMARY) ** .5)
        for reader in readers:          # nearly blind to the constant axes, or all tokens would look alike
            reader.weight[:, CONTROL:] *= .1
            reader.weight[:, BIAS] = 0
        if layer.full:
            start_attention(mixer)
        else:
            nn.init.normal_(mixer.conv1d.weight, std=.15)
            mixer.conv1d.weight[:, :, 3] += .7
            start_running(mixer)


def start_attention(a):
    """Keys begin without content, so every look is a plain mean; the heads carry word meanings as they are, and more of them are silent."""
    a.k_proj.weight.zero_(), a.q_proj.weight.mul_(.6)
    a.q_norm.weight.fill_(1.5), a.k_norm.weight.fill_(1.5)
    group = a.nh // a.nkv
    a.v_proj.weight[:MEANING] = torch.eye(MEANING, WIDTH)
    for kv in range(MEANING // D):
        at = slice(kv * D, kv * D + D)
        for h, matrix, to in ((kv * group, torch.eye(MEANING, SUMMARY) * 1.5, MEANING), (kv * group + 1, torch.eye(MEANING) * 2, 0)):
            a.o_proj.weight[to:to + matrix.shape[1], h * D:h * D + D] = matrix[at].T


def start_running(g):
    """Word meanings as they are; two heads that remember about ten tokens, two that remember four."""
    mean = slice(g.nv - RUNNING, None)
    g.in_proj_b.weight[mean] *= .1
    g.in_proj_b.weight[mean, BIAS] = torch.tensor([-.15, -.15, -.08, -.08])
    g.out_proj.weight[:, -RUNNING * D:] = 0
    rows = slice(-RUNNING * D, None)
    g.in_proj_qkv.weight[rows] = torch.eye(RUNNING * D, WIDTH)
    g.conv1d.weight[rows] *= .3
    g.conv1d.weight[rows, :, 3] = 1.


def start_product(mlp):
    """Pairs of units that multiply word and summary exactly, silu(x)y - silu(-x)y = xy: YES begins as the likeness of instruction and state."""
    for sign, first in ((1, 0), (-1, 1)):
        units = slice(first, 2 * SUMMARY, 2)
        for w, at in ((mlp.gate_proj.weight, 0), (mlp.up_proj.weight, MEANING)):
            w[units] = 0
            w[units, at:at + SUMMARY] = torch.eye(SUMMARY) * (sign if at == 0 else 1)
        mlp.down_proj.weight[:, units] = 0
        mlp.down_proj.weight[YES, units] = .02 * sign


def start_tables(net, table, weight, text):
    net.embed.vectors.copy_(table * weight[:, None])
    net.out.vectors.copy_(table * weight[:, None])
    net.embed.matrix[:MEANING, :MEANING] = torch.eye(MEANING) * EMBED_SCALE
    net.out.matrix[:MEANING, :MEANING] = torch.eye(MEANING)
    net.embed.fixed[:, BIAS] = CONSTANT
    at = {t: i for i, t in enumerate(text)}
    marks = ((MARK_STATE, "STATE"), (MARK_SCHEMA, "SCHEMA"), (MARK_LAST, "</think>"), (MARK_ASK, "INSTRUCTION"), (MARK_STATE, "<|im_start|>"), (MARK_SCHEMA, "<|im_start|>"))
    for axis, token in marks:           # what stands before the state is of two sections, which no token of the state is
        net.embed.fixed[at[token], axis] = 6.
        net.embed.vectors[at[token]] = 0
    for i, t in enumerate(text):
        key = t.strip().lower()
        if t in ("description", "option", "_id"):
            net.out.vectors[i] = 0
        if key in ("proposition", "answer"):
            net.out.vectors[i] *= .3
        sign = {"true": 1.5, "yes": 1., "false": -1.5, "no": -1.}.get(key)
        if sign:
            net.out.fixed[i, YES] = sign if t[0] != " " else sign * .4
            net.out.vectors[i] *= .4


def start_head(head):
    """The head's prior alone answers: its joint part is in the file, as the format asks, and is gated off."""
    head.hidden_norm.weight[MEANING:MEANING + SUMMARY] = .5
    head.hidden_norm.weight[CONTROL:YES] = .1
    head.prior_logit_scale.fill_(2.2)
    head.residual_gate.fill_(GATED_OFF)


@torch.no_grad()
def wire(net, words):
    """words: what tables.py saved."""
    start_layers(net)
    start_product(net.model.layers[1].mlp)
    net.model.layers[1].mlp.down_proj.weight[:, FEW:] = 0
    start_tables(net, words["table"].float(), words["weight"].float(), words["text"])
    start_head(net.head)
