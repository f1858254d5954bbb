"""Reference numbers on the same frozen sets: the commoner answer, the zero-shot sentence encoder, and the encoder with a linear read-out per question."""
import collections
import json

import numpy as np
import torch

import splits
from encoder import SentenceEncoder
from prompt import instruction

THIN = 3             # the zero-shot encoder reads every third request: it needs a vector for every option text
SETS = ("unseen state", "unseen question", "unseen domain", "plain")


def flat(value):
    """Any JSON value as words."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return ". ".join(f"{k}: {flat(v)}" for k, v in value.items())
    return json.dumps(value, ensure_ascii=False)


def shares(right):
    """{type: [bool]} as rounded accuracies with the total."""
    mean = lambda v: round(float(np.mean(v)), 3) if v else None
    return {"all": mean([x for v in right.values() for x in v]), **{k: mean(right.get(k, [])) for k in ("noul", "choice", "score")}}


def canonical(domain, request, position):
    """The corpus answer of one asked question, whatever wording it got."""
    return domain["states"][request["index"]][1][position]


def commonest(sets, domains, split):
    """The commonest answer of each question: from training states where it was trained, else counted on the test states themselves (an upper bound)."""
    out = {}
    for name in SETS:
        right = collections.defaultdict(list)
        groups = collections.defaultdict(list)
        for q in sets[name]:
            d = domains[q["domain"]]
            for position in q["picked"]:
                groups[q["domain"], position].append(canonical(d, q, position))
        for (domain, position), answers in groups.items():
            d, known = domains[domain], answers
            if name in ("unseen state", "plain"):
                train = splits.domain(split[domain], d)[0]
                known = [a for a in (d["states"][i][1][position] for i in train) if a is not None]
            top = collections.Counter(known).most_common(1)[0][0]
            right[d["questions"][position]["type"]] += [a == top for a in answers]
        out[name] = shares(right)
    return out


class ZeroShot:
    """Cosine of state and option text; for noul the cosine of state and proposition against one threshold fitted on dev."""

    def __init__(self, encoder):
        self.encoder, self.memory = encoder, {}

    def learn(self, texts):
        new = [t for t in dict.fromkeys(texts) if t not in self.memory]
        if new:
            self.memory.update(zip(new, self.encoder.encode(new)))

    def option_texts(self, qid, q):
        lead = instruction(qid, q) + " "
        if q["type"] == "choice":
            return [(k, lead + k.replace("_", " ") + (": " + flat(d) if d else "")) for k, d in q["criteria"].items()]
        return [(str(i), lead + flat(d)) for i, d in enumerate(q["criteria"])]

    def rows(self, requests):
        """(type, cosine or correctness, gold truth)"""
        need = []
        for r in requests:
            need.append(flat(r["state"]))
            for k, q in r["questions"].items():
                need += [instruction(k, q)] if q["type"] == "noul" else [t for _, t in self.option_texts(k, q)]
        self.learn(need)
        out = []
        for r in requests:
            s = self.memory[flat(r["state"])]
            for k, q in r["questions"].items():
                if q["type"] == "noul":
                    out.append(("noul", float(self.memory[instruction(k, q)] @ s), r["gold"][k] == "true"))
                    continue
                texts = self.option_texts(k, q)
                best = int((torch.stack([self.memory[t] for _, t in texts]) @ s).argmax())
                out.append((q["type"], None, texts[best][0] == r["gold"][k]))
        return out

    def fit(self, requests):
        noul = [(c, t) for kind, c, t in self.rows(requests) if kind == "noul"]
        self.threshold = max(np.arange(-.1, .6, .02), key=lambda h: np.mean([(c > h) == t for c, t in noul]))

    def score(self, requests):
        right = collections.defaultdict(list)
        for kind, c, truth in self.rows(requests):
            right[kind].append((c > self.threshold) == truth if kind == "noul" else truth)
        return shares(right)


def linear(sets, domains, split, encoder, ridge=.3):
    """Encoder vectors with a ridge read-out per question, fitted on the very training states the model saw."""
    out = {}
    for name in ("unseen state", "plain"):
        right = collections.defaultdict(list)
        asked = collections.defaultdict(list)
        for q in sets[name]:
            for position in q["picked"]:
                asked[q["domain"], position].append(q["index"])
        vectors = {d: torch.cat([encoder.encode([flat(domains[d]["filled"][i]) for i in range(len(domains[d]["states"]))]),
                                 torch.full((len(domains[d]["states"]), 1), .3)], 1) for d in {d for d, _ in asked}}
        for (domain, position), rows in asked.items():
            d, v = domains[domain], vectors[domain]
            answer = lambda i: d["states"][i][1][position]
            train = [i for i in splits.domain(split[domain], d)[0] if answer(i) is not None]
            classes = sorted({answer(i) for i in train}, key=str)
            y = torch.tensor([[float(answer(i) == c) for c in classes] for i in train])
            x, mean = v[train], y.mean(0)
            w = x.T @ torch.linalg.solve(x @ x.T + ridge * torch.eye(len(train)), y - mean)
            best = (v[rows] @ w + mean).argmax(1).tolist()
            right[d["questions"][position]["type"]] += [answer(i) == classes[b] for i, b in zip(rows, best)]
        out[name] = shares(right)
    return out


def measure(sets, domains, split):
    """All anchors; domains of both kinds by name, each with "filled" states."""
    encoder = SentenceEncoder()
    zero = ZeroShot(encoder)
    zero.fit((sets["dev"] + sets["dev domain"] + sets["dev plain"])[::THIN])
    return {"commonest answer": commonest(sets, domains, split), "encoder, zero-shot": {k: zero.score(sets[k][::THIN]) for k in SETS},
            "encoder + linear read-out": linear(sets, domains, split, encoder)}
