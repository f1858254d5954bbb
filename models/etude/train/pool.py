"""Training requests without end, drawn from the training states."""
import corpus
import splits
from batch import pack

QUESTIONS = 6        # asked about a state at once


class Pool:
    """Endless batches of training requests: a share of plain domains, the rest from the corpus, every state once a round; states < 1 keeps that share.

    A batch holds a few states each of some domains and asks them the same wordings, which spares most of the work on instructions."""

    def __init__(self, domains, plain, split, enc, seed, plain_share, questions, states=1., group=8):
        self.r, self.enc, self.share, self.count, self.group = corpus.rng("train", seed), enc, plain_share, questions, group
        self.groups, self.rounds, self.foreign = {}, {}, {}
        for kind, table in (("corpus", domains), ("plain", plain)):
            items = []
            for name, s in split[kind].items():
                train, _, _, asked = splits.domain(s, table[name])
                items += [(table[name], i, asked) for i in train[:max(1, int(len(train) * states))]]
            self.groups[kind], self.rounds[kind] = items, self._round(items)
            self.foreign[kind] = self._foreign(table, split[kind])

    def _foreign(self, table, split):
        return [(n, t) for name, s in split.items() for i, q in enumerate(table[name]["questions"]) if q["type"] == "choice" and i != s["unseen_question"]
                for o in q["options"].values() for n in (o.get("names") or [])[:2] for t in (o.get("descriptions") or [None])[:1]]

    def _round(self, items):
        """Groups of states of one domain, each state once a round: (domain, askable questions, state indices)."""
        by = {}
        for d, i, asked in items:
            by.setdefault(d["domain"], (d, asked, []))[2].append(i)
        while True:
            out = []
            for d, asked, states in by.values():
                self.r.shuffle(states)
                out += [(d, asked, states[k:k + self.group]) for k in range(0, len(states), self.group)]
            self.r.shuffle(out)
            yield from out

    def _worded(self, d):
        """The domain with one wording and one opposite a question."""
        one = lambda q, k: {k: [self.r.choice(q[k])]} if q.get(k) else {}
        return {**d, "questions": [{**q, **one(q, "instructions"), **one(q, "opposites")} for q in d["questions"]]}

    def _drawn(self, count):
        out = []
        while len(out) < count:
            kind = "plain" if self.groups["plain"] and self.r.random() < self.share else "corpus"
            d, asked, states = next(self.rounds[kind])
            d = self._worded(d)
            for i in states:
                q = corpus.request(d, i, asked[:], self.r, self.count, self.foreign[kind])
                if q:
                    out.append(pack(self.enc, q))
        return out

    def batches(self, size):
        """Endless batches of about `size` requests; two are drawn at once and cut by length, so that short states stand together."""
        while True:
            drawn = sorted(self._drawn(2 * size), key=lambda p: len(p["state"]))
            halves = [drawn[:len(drawn) // 2], drawn[len(drawn) // 2:]]
            self.r.shuffle(halves)
            yield from halves
