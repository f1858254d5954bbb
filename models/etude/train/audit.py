"""Checks the corpus: format, duplicate states across files, one-sided questions, and that no acceptance wording or plain test case is trained on. Exit 1 on a fault."""
import collections
import json
import re

import accept
import corpus
import plain_test
from prompt import render

ONE_SIDED = .93      # a question whose commonest answer is more frequent than this teaches little


def duplicates(domains):
    """States that stand in more than one file."""
    seen = collections.defaultdict(set)
    for name, d in domains.items():
        for state, _ in d["states"]:
            seen[render(state).lower()].add(name)
    return {text: names for text, names in seen.items() if len(names) > 1}


def one_sided(domains):
    """(domain, question, share of the commonest answer) above ONE_SIDED."""
    for name, d in domains.items():
        for i, q in enumerate(d["questions"]):
            answers = [a[i] for _, a in d["states"] if a[i] is not None]
            if not answers:
                yield name, q["key"], 1.
                continue
            share = collections.Counter(answers).most_common(1)[0][1] / len(answers)
            if share > ONE_SIDED:
                yield name, q["key"], share


def leaks(domains):
    """Acceptance wordings that stand in the training data as they are."""
    texts = {render(s).lower() for d in domains.values() for s, _ in d["states"]}
    texts |= {t.lower() for d in domains.values() for q in d["questions"] for t in (*q["instructions"], *q.get("opposites", []))}
    table = json.load(open(accept.HERE.parent / "acceptance.json", encoding="utf-8"))
    for entry in table["samples"]:
        for wording in (*entry["states"], *entry["questions"].values()):
            if render(wording).lower() in texts:
                yield entry["sample"], wording


def words(state):
    """A state's words, without case and marks."""
    return " ".join(re.findall(r"\w+", render(state).lower()))


def known_plain(domains):
    """Plain test states that stand in the training data, but for case and marks."""
    known = {words(s) for d in domains.values() for s, _ in d["states"]}
    return sorted({render(s) for s, *_ in plain_test.cases() if words(s) in known})


def main():
    domains = {**corpus.load("corpus"), **corpus.load("plain")}
    twice, leaked, known = duplicates(domains), list(leaks(domains)), known_plain(domains)
    for text, names in twice.items():
        print("in several files:", sorted(names), text[:80])
    for name, key, share in one_sided(domains):
        print(f"one-sided: {name} {key} {share:.2f}")
    for sample, wording in leaked:
        print("acceptance wording in the training data:", sample, wording)
    for state in known:
        print("plain test state in the training data:", state)
    noul = [a[i] for d in domains.values() for _, a in d["states"] for i, q in enumerate(d["questions"]) if q["type"] == "noul" and a[i] is not None]
    print(f"{len(domains)} domains, {sum(len(d['states']) for d in domains.values()):,} states, yes in {sum(map(bool, noul)) / len(noul):.2f} of {len(noul):,} yes/no labels")
    raise SystemExit(bool(leaked or known))


if __name__ == "__main__":
    main()
