"""The app's samples, their paraphrases and the worked example: right or not, and by which margin."""
import json
import pathlib

from measure import answers

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE.parents[2] / "assets" / "samples"


def option_id(value):
    """An expected answer as the option id of the prompt."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def cases():
    """(name, request with gold) for every sample, paraphrased state and paraphrased question."""
    table = json.load(open(HERE.parent / "acceptance.json", encoding="utf-8"))
    for entry in table["samples"]:
        sample = json.load(open(SAMPLES / entry["sample"], encoding="utf-8"))
        request, gold = sample["request"], {k: option_id(v) for k, v in sample["expect"].items()}
        make = lambda state, questions, ids: {"state": state, "questions": questions, "gold": {i: gold[i] for i in ids}, "domain": entry["sample"]}
        yield entry["sample"], make(request["state"], request["questions"], request["questions"])
        for n, state in enumerate(entry["states"], 1):
            yield f"{entry['sample']} state {n}", make(state, request["questions"], request["questions"])
        for qid, text in entry["questions"].items():
            question = {**request["questions"][qid], "instructions": text}
            yield f"{entry['sample']} question {qid}", make(request["state"], {qid: question}, [qid])
    for entry in table["more"]:
        gold = {k: option_id(v) for k, v in entry["expect"].items()}
        yield entry["name"], {**entry["request"], "gold": gold, "domain": entry["name"]}


def margins(net, enc):
    """[(name, question id, probability of the right answer minus the best other)]"""
    named = list(cases())
    out = []
    for i, j, _, p, gold in answers(net, enc, [c for _, c in named]):
        other = max(x for k, x in enumerate(p) if k != gold)
        out.append((named[i][0], list(named[i][1]["questions"])[j], float(p[gold] - other)))
    return sorted(out, key=lambda x: x[2])


def show(net, enc, below=.15):
    """Print what is wrong or narrow; returns how many are wrong."""
    rows = margins(net, enc)
    for name, qid, m in rows:
        if m < below:
            print(f"  {'WRONG' if m <= 0 else 'narrow'} {m:+.2f} {name} {qid}")
    wrong = sum(m <= 0 for _, _, m in rows)
    print(f"samples and paraphrases: {len(rows) - wrong} of {len(rows)} right", flush=True)
    return wrong
