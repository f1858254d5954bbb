"""Accuracy, calibration and probabilities of a network on evaluation requests."""
import numpy as np
import torch

from batch import Collator, log_shares, pack


@torch.no_grad()
def answers(net, enc, requests, size=64, logits=False):
    """Per decision: (request index, question index, type, probabilities (or logits) in prompt order, gold index)."""
    return _answers(net, Collator(enc), [pack(enc, q) for q in requests], size, logits)


def _answers(net, collate, packed, size, logits):
    was, out = net.training, []
    net.eval()
    order = sorted(range(len(packed)), key=lambda i: len(packed[i]["state"]))
    for a in range(0, len(order), size):
        rows = order[a:a + size]
        b = collate([packed[i] for i in rows])
        lg = net(b)
        value = (lg if logits else log_shares(lg, b).exp()).numpy()
        for r, i in enumerate(rows):
            o = 0
            for j, (kind, _, opts, want) in enumerate(packed[i]["rows"]):
                out.append((i, j, kind, value[r, o:o + len(opts)].copy(), int(np.argmax(want))))
                o += len(opts)
    net.train(was)
    return out


@torch.no_grad()
def quick(net, dev):
    """summary of packed requests: dev is (collator, [packed])."""
    s = summary(_answers(net, *dev, 96, False))
    return {k: s[k] for k in ("all", "noul", "choice", "score") if s[k] is not None}


def ece(sure, right, bins=10):
    total = 0.
    for i in range(bins):
        m = (sure > i / bins) & (sure <= (i + 1) / bins)
        if m.any():
            total += m.mean() * abs(sure[m].mean() - right[m].mean())
    return float(total)


def summary(rows):
    """Accuracy in all and by type, expected calibration error, count."""
    kind = np.array([r[2] for r in rows])
    right = np.array([r[3].argmax() == r[4] for r in rows], float)
    sure = np.array([r[3].max() for r in rows])
    part = lambda k: round(float(right[kind == k].mean()), 3) if (kind == k).any() else None
    return {"all": round(float(right.mean()), 3), "noul": part(0), "choice": part(1), "score": part(2), "ece": round(ece(sure, right), 3), "n": len(rows)}
