"""Makes Etude: tables, circuit, export, report. Each stage is kept in work/ and skipped when it is there, so a stopped run goes on.

Deterministic on one kind of machine: seeds are fixed, the number of steps is fixed, one thread does the sums.
"""
import argparse
import copy
import json
import math
import pathlib
import time

import torch

import accept
import check
import circuit
import corpus
import export
import measure
import network
import pins
import pool
import report
import splits
import tables
import wire
from batch import Collator, pack
from prompt import Encoder

VOCABULARY = 28000
PLAIN = .35               # share of plain cases in training, more in the last stage
WORD_STEPS, PHRASE_STEPS, POLISH_STEPS = 700, 500, 300
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "model"
CARD = {"name": "etude", "description": "A small practice model that comes with Clefbar. It answers plain, everyday cases and shows how decision models work.",
        "release_date": "2026-11-30", "practice": True}


def note(own, reference):
    """What the app says beside the model's answers; the numbers are the report's."""
    known, new, common = own["unseen state"]["noul"], own["unseen domain"]["noul"], reference["commonest answer"]["unseen domain"]["noul"]
    there = "there they are near guessing" if new < common + .05 else f"where the commoner answer alone would be right in {common:.0%}"
    return (f"Practice model: good enough to learn with, not to decide with. Its yes/no answers were right in {known:.0%} of new cases of questions "
            f"it was trained on, and in {new:.0%} in domains it never saw{':' if new < common + .05 else ','} {there}.")


class Run:
    """The data, the splits and the evaluation sets, once."""

    def __init__(self, work):
        self.work = work
        self.split = splits.read()
        named = (*self.split["corpus"], *self.split["unseen_domains"], self.split["dev_domain"])
        self.corpus = {n: d for n, d in corpus.load("corpus").items() if n in named}        # a domain without a split waits for the next training
        self.plain = {n: d for n, d in corpus.load("plain").items() if n in self.split["plain"]}
        self.sets = splits.sets(self.corpus, self.plain, self.split)

    def tables(self):
        if not (self.work / "vectors.pt").exists():
            r = corpus.rng("requests")
            known = [self.corpus[n] for n in self.split["corpus"]] + [self.plain[n] for n in self.split["plain"]]
            drawn = [corpus.request(d, i, list(range(len(d["questions"]))), r, 5) for d in known for i in range(0, len(d["states"]), 4)]
            tables.build(known, [q for q in drawn if q], VOCABULARY, self.work)
        self.enc = Encoder(self.work / "tokenizer.json")

    def fresh(self):
        torch.manual_seed(0)
        words = torch.load(self.work / "vectors.pt")
        net = network.Etude(len(words["text"]))
        wire.wire(net, words)
        return net

    def pool(self, seed, plain, share=1.):
        return pool.Pool(self.corpus, self.plain, self.split, self.enc, seed, plain, pool.QUESTIONS, share)

    def dev(self):
        return {k: self.sets[k] for k in ("dev", "dev domain", "dev plain")}

    def circuit(self, share=1., name="", words=WORD_STEPS, phrases=PHRASE_STEPS, polish=POLISH_STEPS):
        """The fitted circuit on a share of the training states, and an untouched network for it, with the log of its stages: words first, then words in phrases, then smaller steps."""
        net = self.fresh()
        m = circuit.Circuit(net, *circuit.around(self.enc, Collator(self.enc)))
        dev = {k: [pack(self.enc, q) for q in v] for k, v in self.dev().items()}
        plan = (("words", words, 3e-3, PLAIN), ("phrases", phrases, 1.5e-3, PLAIN), ("polish", polish, 1e-3, .5))
        for seed, (stage, steps, rate, plain) in enumerate(plan, 1):
            kept = self.work / f"{name}{stage}-{share:g}.pt"
            m.phrases = stage != "words"
            if kept.exists():
                m.load_state_dict(torch.load(kept))
                continue
            log = circuit.train(m, self.pool(seed, plain, share), steps, rate=rate, row_rate=rate / 2, drop=.35, dev=dev, say=60)
            kept.with_suffix(".json").write_text(json.dumps(log))
            torch.save(m.state_dict(), kept)
        stages = [json.loads((self.work / f"{name}{stage}-{share:g}.json").read_text()) for stage, *_ in plan]
        return net, m.eval(), stages

    def network(self, share=1., name="", **steps):
        """The circuit written into the network."""
        net, m, log = self.circuit(share, name, **steps)
        circuit.write(net, m)
        pins.pin(net)
        return net.eval(), log


def temperature(net, enc, sets):
    """The divisor of the logits that makes the sets likeliest, each of equal weight, by golden-section search on its logarithm.

    One of the sets is a domain that training never saw: there a model is surer than it should be, and users' questions are often of that kind."""
    rows = [[(torch.tensor(lg), gold) for *_, lg, gold in measure.answers(net, enc, s, logits=True)] for s in sets]

    def loss(log_t):
        return sum(-torch.stack([torch.log_softmax(lg / math.exp(log_t), 0)[gold] for lg, gold in r]).mean().item() for r in rows)
    low, high, g = -1.5, 1.5, .618034
    a, b = high - g * (high - low), low + g * (high - low)
    fa, fb = loss(a), loss(b)
    for _ in range(14):
        if fa < fb:
            high, b, fb = b, a, fa
            a = high - g * (high - low)
            fa = loss(a)
        else:
            low, a, fa = a, b, fb
            b = low + g * (high - low)
            fb = loss(b)
    return math.exp((low + high) / 2)


@torch.no_grad()
def folded(net, t):
    """A copy whose logits are divided by t through the head's own scales: every reader of the format gets the fitted temperature."""
    out = copy.deepcopy(net)
    for scale in (out.head.prior_logit_scale, out.head.joint_logit_scale):
        scale -= math.log(t)
    for p in out.head.residual_scorer[3].parameters():
        p /= t
    return out


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--work", default=str(pathlib.Path(__file__).resolve().parent / "work"))
    parse.add_argument("--threads", type=int, default=1)
    options = parse.parse_args()
    torch.set_num_threads(options.threads)
    work, begun = pathlib.Path(options.work), time.time()
    work.mkdir(parents=True, exist_ok=True)
    run = Run(work)
    print("1 of 4: tokenizer and word vectors", flush=True)
    run.tables()
    print("2 of 4: circuit", flush=True)
    net, log = run.network()
    print("3 of 4: temperature and export", flush=True)
    t = temperature(net, run.enc, run.dev().values())
    size = export.write(folded(net, t), work / "tokenizer.json", FOLDER)
    print("4 of 4: report", flush=True)
    own = report.write(run, net, log, t, size, begun)
    export.put(FOLDER, "clefbar.json", {**CARD, "practice_note": note(own, report.references(run))})
    exported, enc = check.read(FOLDER)
    if accept.show(exported, enc):
        raise SystemExit("a sample or a paraphrase is answered wrong: the model must not be embedded")


if __name__ == "__main__":
    main()
