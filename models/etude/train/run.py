"""Makes Etude: tables, training, export, report. What is done is kept in work/ and not done again, so a stopped run goes on.

Deterministic on one kind of machine: seeds are fixed, the number of steps is fixed, and so are the threads.
"""
import argparse
import copy
import json
import math
import pathlib
import time

import torch
import torch.nn.functional as F

import accept
import check
import corpus
import export
import fit
import measure
import network
import pins
import pool
import report
import splits
import tables
import teacher
import wire
from batch import Collator, pack
from prompt import Encoder

VOCABULARY = 28000
# name, batches, largest step, that of table rows, share of plain cases, dropout, states that share their questions, whether layer 0 speaks in full
STAGES = (("words", 700, 1e-3, 1.5e-3, .3, .2, 8, False), ("phrases", 1000, 8e-4, 1.2e-3, .4, .2, 8, False), ("questions", 2600, 8e-4, 1.2e-3, .4, .2, 3, True))
LEAK = .01           # how far probabilities of whole prompts may be from those of training's form
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "model"
CARD = {"name": "etude", "description": "A small practice model that comes with Clefbar. It answers plain, everyday cases and shows how decision models work.",
        "release_date": "2026-12-01", "practice": True}


def note(own, reference):
    """What the app says beside the model's answers; the numbers are the report's."""
    known, new, common = own["unseen state"]["noul"], own["unseen domain"]["noul"], reference["commonest answer"]["unseen domain"]["noul"]
    there = "there they are near guessing" if new < common + .05 else f"where the commoner answer alone would be right in {common:.0%}"
    return (f"Practice model: good enough to learn with, not to decide with. Its yes/no answers were right in {known:.0%} of new cases of questions "
            f"it was trained on, and in {new:.0%} in domains it never saw{':' if new < common + .05 else ','} {there}.")


class Run:
    """The data, the splits and the evaluation sets, once."""

    STAGES = STAGES

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
        if not (self.work / "teacher.pt").exists():
            known = {**self.split["corpus"], **self.split["plain"]}
            teacher.build({**self.corpus, **self.plain}, known, self.work / "teacher.pt")
        self.teacher = teacher.Teacher(self.work / "teacher.pt")

    def fresh(self, random=False):
        """The network before training; random leaves the word vectors only their lengths."""
        torch.manual_seed(0)
        words = torch.load(self.work / "vectors.pt")
        if random:
            words["table"] = F.normalize(torch.randn_like(words["table"].float())) * words["table"].float().norm(dim=1, keepdim=True)
        net = network.Etude(len(words["text"]))
        wire.wire(net, words)
        return net

    def pool(self, seed, plain, share=1., group=8):
        return pool.Pool(self.corpus, self.plain, self.split, self.enc, seed, plain, pool.QUESTIONS, share, group)

    def dev(self):
        """What training shows on its way: a third of dev, to save time."""
        collate = Collator(self.enc)
        return {k: (collate, [pack(self.enc, q) for q in self.sets[k][::thin]]) for k, thin in (("dev", 3), ("dev domain", 1), ("dev plain", 1))}

    def trained(self, share=1., name="", stages=STAGES, random=False):
        """The network trained on a share of the training states, and per stage dev accuracy as it went."""
        net, logs = self.fresh(random), []
        for seed, (stage, steps, rate, rows, plain, drop, group, deep) in enumerate(stages, 1):
            kept = self.work / f"{name}{stage}.pt"
            if not kept.exists():
                print("stage", name + stage, flush=True)
                log = fit.train(net, pins.pin(net, deep), self.pool(seed, plain, share, group), self.enc, self.teacher, steps, rate=rate, row_rate=rows, drop=drop, deep=deep, dev=self.dev(), kept=kept.with_suffix(".part.pt"))
                apart = check.agreement(net, self.enc, self.sets["dev"][:10])
                if apart > LEAK:
                    raise SystemExit(f"whole prompts are answered otherwise than training's form, by up to {apart:.2f}: a pin of pins.py has lost its hold")
                kept.with_suffix(".json").write_text(json.dumps(log))
                torch.save(net.state_dict(), kept)
            net.load_state_dict(torch.load(kept))
            logs.append(json.loads(kept.with_suffix(".json").read_text()))
        return net.eval(), logs


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
    out.head.prior_logit_scale -= math.log(t)
    return out


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--work", default=str(pathlib.Path(__file__).resolve().parent / "work"))
    parse.add_argument("--threads", type=int, default=2)
    options = parse.parse_args()
    torch.set_num_threads(options.threads)
    work, begun = pathlib.Path(options.work), time.time()
    work.mkdir(parents=True, exist_ok=True)
    run = Run(work)
    print("1 of 4: tokenizer and word vectors", flush=True)
    run.tables()
    print("2 of 4: training", flush=True)
    net, log = run.trained()
    print("3 of 4: temperature and export", flush=True)
    t = temperature(net, run.enc, [run.sets[k] for k in ("dev", "dev domain", "dev plain")])
    size = export.write(folded(net, t), work / "tokenizer.json", FOLDER)
    print("4 of 4: report", flush=True)
    own = report.write(run, net, log, t, size, begun)
    export.put(FOLDER, "clefbar.json", {**CARD, "practice_note": note(own, report.references(run))})
    exported, enc = check.read(FOLDER)
    if accept.show(exported, enc):
        raise SystemExit("a sample or a paraphrase is answered wrong: the model must not be embedded")


if __name__ == "__main__":
    main()
