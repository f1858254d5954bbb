"""Training requests without end, drawn from the training states."""
import corpus
import splits
from batch import pack

QUESTIONS = 6        # asked about a state at once


class Pool:
    """Endless training requests: a share of plain domains, the rest from the corpus, every state once a round; states < 1 keeps that share of them."""

    def __init__(self, domains, plain, split, enc, seed, plain_share, questions, states=1.):
        self.r, self.enc, self.share, self.count = corpus.rng("train", seed), enc, plain_share, questions
        self.groups, self.order, self.foreign = {}, {}, {}
        for kind, table in (("corpus", domains), ("plain", plain)):
            items = []
            for name, s in split[kind].items():
                train, _, _, asked = splits.domain(s, table[name])
                items += [(table[name], i, asked) for i in train[:max(1, int(len(train) * states))]]
            self.groups[kind], self.order[kind] = items, []
            self.foreign[kind] = self._foreign(table, split[kind])

    def _foreign(self, table, split):
        return [(n, t) for name, s in split.items() for i, q in enumerate(table[name]["questions"]) if q["type"] == "choice" and i != s["unseen_question"]
                for o in q["options"].values() for n in (o.get("names") or [])[:2] for t in (o.get("descriptions") or [None])[:1]]

    def next(self):
        kind = "plain" if self.groups["plain"] and self.r.random() < self.share else "corpus"
        if not self.order[kind]:
            self.order[kind] = self.groups[kind][:]
            self.r.shuffle(self.order[kind])
        d, i, asked = self.order[kind].pop()
        q = corpus.request(d, i, asked[:], self.r, self.count, self.foreign[kind])
        return pack(self.enc, q) if q else self.next()
