"""Makes Etude: tables, circuit, network, export, report. Each stage is kept in work/ and skipped when it is there, so a stopped run goes on.

Deterministic on one kind of machine: seeds are fixed, the number of steps is fixed, one thread does the sums.
"""
import argparse
import json
import pathlib
import time

import torch

import accept
import anchors
import check
import circuit
import corpus
import export
import fit
import measure
import network
import pins
import report
import splits
import tables
import wire
from batch import Collator, pack
from prompt import Encoder

VOCABULARY = 28000
PLAIN = .35               # share of plain cases in training
WORD_STEPS, PHRASE_STEPS, NETWORK_STEPS = 800, 800, 400
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "model"
CARD = {"name": "etude", "description": "A small practice model that comes with Clefbar. It answers plain, everyday cases and shows how decision models work.",
        "release_date": "2026-11-30", "practice": True,
        "practice_note": "Practice model: good enough to learn with, not to decide with. On questions unlike those it was trained on, its yes/no answers are near guessing."}


class Run:
    """The data, the splits and the evaluation sets, once."""

    def __init__(self, work):
        self.work = work
        self.corpus, self.plain, self.split = corpus.load("corpus"), corpus.load("plain"), splits.read()
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
        return fit.Pool(self.corpus, self.plain, self.split, self.enc, seed, plain, fit.DEFAULTS["questions"], share)

    def dev(self):
        return {k: self.sets[k] for k in ("dev", "dev domain", "dev plain")}

    def circuit(self, share=1., words=WORD_STEPS, phrases=PHRASE_STEPS):
        """The fitted circuit on a share of the training states, and an untouched network for it: words first, then words in phrases."""
        net, kept = self.fresh(), self.work / f"circuit-{share:g}.pt"
        m = circuit.Circuit(net, *circuit.around(self.enc, Collator(self.enc)))
        if kept.exists():
            m.load_state_dict(torch.load(kept))
            return net, m.eval()
        dev = {k: [pack(self.enc, q) for q in v] for k, v in self.dev().items()}
        pool = self.pool(1, PLAIN, share)
        for steps, rate, m.phrases in ((words, 3e-3, False), (phrases, 1.5e-3, True)):
            circuit.train(m, pool, steps, rate=rate, row_rate=rate / 2, drop=.35, dev=dev, say=60)
        torch.save(m.state_dict(), kept)
        return net, m

    def network(self):
        """The circuit written into the network, and the whole network trained on."""
        net, m = self.circuit()
        circuit.write(net, m)
        held = pins.pin(net)
        done = self.work / "network.pt"
        if done.exists():
            saved = torch.load(done)
            net.load_state_dict(saved["net"])
            return net.eval(), saved["log"]
        watch = lambda n: {k: measure.summary(measure.answers(n, self.enc, v)) for k, v in self.dev().items()}
        start = {"step": 0, "seconds": 0, "decisions": 0, **watch(net)}
        print("network starts at", json.dumps(start), flush=True)
        log = fit.train(net, held, self.pool(7, PLAIN), self.enc, fit.DEFAULTS, steps=NETWORK_STEPS, checkpoint=self.work / "fit.pt", watch=watch, each=300)
        end = {"step": NETWORK_STEPS, "decisions": NETWORK_STEPS * fit.DEFAULTS["states"] * fit.DEFAULTS["questions"], **watch(net)}
        value = lambda row: sum(row[k]["all"] for k in self.dev())
        if value(end) <= value(start):
            print("the longer training did not help on dev: the circuit stays as it was", flush=True)
            circuit.write(net := self.fresh(), m)
            pins.pin(net)
        log = [start, *log, end]
        torch.save({"net": net.state_dict(), "log": log}, done)
        return net.eval(), log


def temperature(net, enc, requests):
    """The divisor of the logits that makes dev likeliest, by golden-section search on its logarithm."""
    rows = measure.answers(net, enc, requests, logits=True)

    def loss(log_t):
        total = 0.
        for _, _, _, lg, gold in rows:
            total -= torch.log_softmax(torch.tensor(lg) / 2.718281828 ** log_t, 0)[gold].item()
        return total
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
    return 2.718281828 ** ((low + high) / 2)


@torch.no_grad()
def fold(net, t):
    """Divide all logits by t through the head's own scales: every reader of the format gets the fitted temperature."""
    net.head.prior_logit_scale -= torch.tensor(t).log()
    net.head.joint_logit_scale -= torch.tensor(t).log()
    net.head.residual_scorer[3].weight /= t
    net.head.residual_scorer[3].bias /= t


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--work", default=str(pathlib.Path(__file__).resolve().parent / "work"))
    parse.add_argument("--threads", type=int, default=1)
    options = parse.parse_args()
    torch.set_num_threads(options.threads)
    work, begun = pathlib.Path(options.work), time.time()
    work.mkdir(parents=True, exist_ok=True)
    run = Run(work)
    print("1 of 5: tokenizer and word vectors", flush=True)
    run.tables()
    print("2 of 5: circuit", flush=True)
    run.circuit()
    print("3 of 5: network", flush=True)
    net, log = run.network()
    print("4 of 5: temperature and export", flush=True)
    t = temperature(net, run.enc, run.sets["dev"] + run.sets["dev plain"])
    before = {k: measure.summary(measure.answers(net, run.enc, run.sets[k]))["ece"] for k in anchors.SETS}
    fold(net, t)
    size = export.write(net, work / "tokenizer.json", FOLDER, CARD)
    print("5 of 5: report", flush=True)
    report.write(run, net, log, t, before, size, (time.time() - begun) / 60)
    exported, enc = check.read(FOLDER)
    if accept.show(exported, enc):
        raise SystemExit("a sample or a paraphrase is answered wrong: the model must not be embedded")


if __name__ == "__main__":
    main()
