"""The frozen splits (data/splits.json): made before any training and only read afterwards. A domain written later gets its own entry; no entry ever changes.

unseen state: states of known domains and questions; unseen question: questions never asked in training; unseen domain: whole domains;
dev: states of known domains for every choice and for the temperature, plus one development domain.
"""
import json

import corpus

FILE = corpus.DATA / "splits.json"
UNSEEN_DOMAINS = ["codereview", "events", "insurance", "music"]
DEV_DOMAIN = "food"


def extend(out, domains, plain):
    """Add an entry for every domain that has none."""
    for name, d in domains.items():
        if name in (*out["unseen_domains"], out["dev_domain"], *out["corpus"]):
            continue
        r = corpus.rng("split", name)
        order = list(range(len(d["states"])))
        r.shuffle(order)
        a, b = len(order) * 12 // 100, len(order) * 20 // 100
        out["corpus"][name] = {"test": sorted(order[:a]), "dev": sorted(order[a:b]), "unseen_question": r.randrange(len(d["questions"]))}
    for name, d in plain.items():
        if name in out["plain"]:
            continue
        r = corpus.rng("split", name)
        order = list(range(len(d["states"])))
        r.shuffle(order)
        a, b = len(order) * 8 // 100, len(order) * 16 // 100
        out["plain"][name] = {"test": sorted(order[:a]), "dev": sorted(order[a:b]), "unseen_question": None}
    return out


def read():
    return json.load(open(FILE, encoding="utf-8"))


def domain(split, d):
    """(training states, dev states, test states, trained questions) of one known domain."""
    gone = set(split["test"]) | set(split["dev"])
    asked = [i for i in range(len(d["questions"])) if i != split["unseen_question"]]
    return [i for i in range(len(d["states"])) if i not in gone], split["dev"], split["test"], asked


def sets(domains, plain, split):
    """The evaluation requests: {name: [request]}, options in full, wordings drawn once."""
    out = {k: [] for k in ("dev", "dev domain", "dev plain", "unseen state", "unseen question", "unseen domain", "plain")}

    def add(name, d, states, questions, count):
        r = corpus.rng("requests", name, d["domain"])
        for i in states:
            q = corpus.request(d, i, list(questions), r, count, plain=True)
            if q:
                out[name].append(q)
    for name, s in split["corpus"].items():
        d = domains[name]
        train, dev, test, asked = domain(s, d)
        add("dev", d, dev, asked, 5)
        add("unseen state", d, test, asked, 6)
        add("unseen question", d, test + train[:15], [s["unseen_question"]], 1)
    for name, s in split["plain"].items():
        d = plain[name]
        _, dev, test, asked = domain(s, d)
        add("dev plain", d, dev, asked, 5)
        add("plain", d, test, asked, 6)
    for name in split["unseen_domains"]:
        d = domains[name]
        add("unseen domain", d, range(len(d["states"])), range(len(d["questions"])), 5)
    d = domains[split["dev_domain"]]
    add("dev domain", d, range(0, len(d["states"]), 2), range(len(d["questions"])), 5)
    return out


if __name__ == "__main__":
    new = {"unseen_domains": UNSEEN_DOMAINS, "dev_domain": DEV_DOMAIN, "corpus": {}, "plain": {}}
    split = extend(read() if FILE.exists() else new, corpus.load("corpus"), corpus.load("plain"))
    FILE.write_text(json.dumps(split, separators=(",", ":")).replace('},"', '},\n"') + "\n")
