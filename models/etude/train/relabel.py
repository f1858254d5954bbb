"""Blind second reading of one state in twenty. `draw FILE` writes the states without labels, `take FILE` keeps the reader's answers, `score` compares them.

A drawn state is answered by one line: its index and, per question in order, y or n, the letter of an option, the number of a level, or - where
a careful reader can't say. A line with a domain's name goes before its states. Kept answers (data/relabel.json) are never changed.
"""
import collections
import json
import sys

import corpus
from prompt import render

FILE = corpus.DATA / "relabel.json"
EVERY = 20                        # one state of this many is drawn, so states appended later never change the draw
ENOUGH, BAR = 8, .9               # a question with so many compared answers must agree this well
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def load():
    return {**corpus.load("corpus"), **corpus.load("plain")}


def drawn(name, d):
    """Indexes of the states that are read again."""
    picks = (start + corpus.rng("relabel", name, start).randrange(EVERY) for start in range(0, len(d["states"]), EVERY))
    return [i for i in picks if i < len(d["states"])]


def kept():
    return json.load(open(FILE, encoding="utf-8")) if FILE.exists() else {}


def ask(n, q):
    """A question as the reader sees it: its first and its longest wording, and the answers."""
    wordings = dict.fromkeys([q["instructions"][0], max(q["instructions"], key=len)])
    lines = [f"{n}. {q['type']} {q['key']}: " + " | ".join(wordings)]
    if q["type"] == "choice":
        lines += [f"   {LETTERS[i]} {k}: {(o.get('descriptions') or [''])[0]}" for i, (k, o) in enumerate(q["options"].items())]
    if q["type"] == "score":
        lines += [f"   {i} {level[0]}" for i, level in enumerate(q["levels"])]
    return lines


def draw(path):
    """Write the drawn states that have no answer yet, each domain's after its questions."""
    table, lines = kept(), []
    for name, d in load().items():
        new = [i for i in drawn(name, d) if str(i) not in table.get(name, {})]
        if new:
            lines += ["", f"=== {name}", *(x for n, q in enumerate(d["questions"], 1) for x in ask(n, q))]
            lines += [f"{i} {render(corpus.fill(d['states'][i][0], d['slots'], corpus.rng('relabel', name, i)))}" for i in new]
    open(path, "w", encoding="utf-8").write("\n".join(lines) + "\n")


def answer(q, mark):
    """The label that a reader's mark stands for."""
    if mark == "-":
        return None
    if q["type"] == "noul":
        return {"y": 1, "n": 0}[mark]
    if q["type"] == "choice":
        return list(q["options"])[LETTERS.index(mark)]
    if not 0 <= int(mark) < len(q["levels"]):
        raise ValueError(mark)
    return int(mark)


def take(path):
    """Add a reader's lines for states that have no answer yet. A line that does not fit stops the run."""
    domains, table, name = load(), kept(), None
    for line in open(path, encoding="utf-8"):
        index, *marks = line.split() or [""]
        if index in domains:
            name = index
        elif index and index not in table.get(name, {}):
            questions = domains[name]["questions"]
            try:
                assert int(index) in drawn(name, domains[name]) and len(marks) == len(questions)
                table.setdefault(name, {})[index] = [answer(q, m) for q, m in zip(questions, marks)]
            except (AssertionError, KeyError, ValueError, IndexError):
                raise SystemExit(f"{name}: {line.rstrip()!r} does not answer a drawn state") from None
    table = {k: dict(sorted(v.items(), key=lambda x: int(x[0]))) for k, v in table.items()}
    rows = (f"{json.dumps(k)}:{json.dumps(v, separators=(',', ':'))}" for k, v in sorted(table.items()))
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def compare(domains, table):
    """{(domain, question key, type): [(state index, label, second reader's answer, agreement)]}; agreement is None where one of them can't say."""
    out = collections.defaultdict(list)
    for name, answers in table.items():
        d = domains[name]
        for i, second in answers.items():
            for q, a, b in zip(d["questions"], d["states"][int(i)][1], second):
                near = .5 if q["type"] == "score" and a is not None and b is not None and abs(a - b) == 1 else 0.
                agree = None if a is None or b is None else 1. if a == b else near
                out[name, q["key"], q["type"]].append((int(i), a, b, agree))
    return out


def share(rows):
    values = [r[3] for r in rows if r[3] is not None]
    return sum(values) / len(values) if values else 0., len(values)


def score(show):
    """Print agreement by kind and in all, and the questions under the bar; show also lists the differences."""
    domains = load()
    result = compare(domains, kept())
    for (name, key, kind), rows in result.items():
        part, n = share(rows)
        low = n >= ENOUGH and part < BAR
        if low or show:
            print(f"{'UNDER' if low else '     '} {name} {key} ({kind}) {part:.2f} of {n}")
        for i, a, b, agree in rows if show else ():
            if agree != 1 and not (a is None and b is None):
                print(f"        {i} label {a} second {b}: {render(domains[name]['states'][i][0])[:160]}")
    for kind in ("noul", "choice", "score", ""):
        rows = [r for (*_, k), part in result.items() if kind in ("", k) for r in part]
        part, n = share(rows)
        silent = sum(b is None and a is not None for _, a, b, _ in rows)
        print(f"{kind or 'all'}: agreement {part:.3f} of {n}; {silent} labels where the second reader can't say")


if __name__ == "__main__":
    command, *rest = sys.argv[1:] or ["score"]
    {"draw": draw, "take": take, "score": lambda *a: score(bool(a))}[command](*rest)
