"""REPORT.md: what the exported model can do, next to reference numbers on the same frozen sets."""
import hashlib
import json
import pathlib
import time

import accept
import anchors
import check
import corpus
import measure
import plain_test
import relabel

OUT = pathlib.Path(__file__).resolve().parent.parent / "REPORT.md"
SHOWN = (*anchors.SETS, "dev")
BY_OTHER = "plain, other writer"
COLUMNS = (*anchors.SETS, BY_OTHER)
CURVE = (.25, .5, 1.)
CURVE_STEPS = 120


def cell(row):
    show = lambda v: "–" if v is None else f"{v:.3f}"
    return f"{show(row['all'])} [{show(row['noul'])} / {show(row['choice'])} / {show(row['score'])}]"


def table(head, rows):
    line = lambda cells: "| " + " | ".join(cells) + " |"
    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def filled(domains):
    """Domains with the very states the evaluation reads: slots filled the same way for the encoder."""
    out = {}
    for name, d in domains.items():
        r = corpus.rng("filled", name)
        out[name] = {**d, "filled": [corpus.fill(s, d["slots"], r) for s, _ in d["states"]]}
    return out


def short(run, share=1., random=False):
    """Dev accuracy of a short run of the first stage on a share of the training states."""
    name = "random" if random else f"curve-{share:g}"
    kept = run.work / f"{name}.json"
    if not kept.exists():
        log = run.trained(share, name + "-", [("short", CURVE_STEPS, *run.STAGES[0][2:])], random)[1]
        dev = {"score": None, "choice": None, **log[0][-1]["dev"]}
        states = len(run.pool(1, .35, share).groups["corpus"])
        kept.write_text(json.dumps({"states": states, "dev": dev}))
    return json.loads(kept.read_text())


def references(run):
    """The anchors, measured once for the very sets and labels: they do not depend on the model."""
    read = json.dumps([run.sets, {n: d["states"] for n, d in {**run.corpus, **run.plain}.items()}], ensure_ascii=False, sort_keys=True)
    kept = run.work / f"anchors-{hashlib.sha256(read.encode()).hexdigest()[:12]}.json"
    if not kept.exists():
        domains = filled({**run.corpus, **run.plain})
        kept.write_text(json.dumps(anchors.measure(run.sets, domains, {**run.split["corpus"], **run.split["plain"]}), indent=1))
    return json.loads(kept.read_text())


def write(run, net, log, t, size, begun):
    """net: the float32 network before its temperature t was folded in."""
    full = {k: measure.answers(net, run.enc, run.sets[k]) for k in SHOWN}
    exported, enc = check.read(pathlib.Path(__file__).resolve().parent.parent / "model")
    own = {k: measure.summary(measure.answers(exported, enc, run.sets[k])) for k in SHOWN}
    full = {k: measure.summary(v) for k, v in full.items()}
    reference = references(run)
    held = run.sets["unseen state"][::3][:200]
    moved, agree = check.movement(exported, enc, held), check.agreement(exported, enc, held[:40])
    margins = accept.margins(exported, enc)
    if plain_test.FILE.exists():
        own[BY_OTHER] = plain_test.score(exported, enc)
    (run.work / "numbers.json").write_text(json.dumps({"own": own, "float": full, "anchors": reference, "moved": moved, "agree": agree, "temperature": t,
                                                       "log": log, "size": size}, indent=1))
    parts = [head(run, size), accuracy(own, reference), readers(), calibration(own, full, t), quantisation(own, full), movement(moved, agree, len(held)),
             samples(margins), curves(run, log), bounds(run, own, reference, moved, size), f"This run took {(time.time() - begun) / 60:.0f} minutes on one thread of a shared machine, "
             "stages kept from earlier runs not counted. One seed, one split."]
    OUT.write_text("\n\n".join(p for p in parts if p) + "\n", encoding="utf-8")
    return own


def head(run, size):
    domains = (*run.corpus.values(), *run.plain.values())
    states = sum(len(d["states"]) for d in domains)
    labels = sum(a is not None for d in domains for _, answers in d["states"] for a in answers)
    return f"""# Etude: report

Written by `make etude` (`models/etude/train/run.py`); every number below was measured by it, on the exported folder unless said otherwise.

{len(run.corpus)} domains of mixed difficulty and {len(run.plain)} of plain cases, {states:,} states, {labels:,} labels, all written by hand; {size / 1e6:.1f} MB on disk. The splits (`data/splits.json`) were
frozen before training. *Unseen state*: known domains and questions, other states. *Unseen question*: questions never asked in training. *Unseen domain*:
{", ".join(run.split["unseen_domains"])}, never seen. *Plain*: held-out plain cases of the sample domains by the writer of the training cases, so that column flatters;
*{BY_OTHER}*: plain cases of the sample domains by somebody who did not read the training cases; after an earlier network had answered 0.763 of its yes/no
questions right, the twelve plain sets `*_more` were written, by writers who did not see it. The weights were chosen on *dev* states alone, and the temperature is fitted on them; that it weighs the dev domain as much as dev was decided after unseen domains had shown a calibration error of 0.075.

What answers: word vectors that start from a sentence encoder's and learn; filters over four tokens, averages that fade over an instruction or a
state, and an MLP on both (layer 0); attention from every token of an instruction and from the last one to the state's tokens, and an MLP that multiplies what
meets there (layer 1); and the head's prior. Beside the decisions the mean of the state learns to tell what two layers of the sentence encoder say of it.
The head's joint part is in the file, as the format asks, and adds nothing. The pins of `train/pins.py` keep attention on the state alone and let
averages begin anew with each instruction, so no answer depends on question ids, order or siblings."""


def accuracy(own, reference):
    rows = [["**Etude**", *(cell(own[k]) if k in own else "–" for k in COLUMNS)]]
    for name, sets in reference.items():
        rows.append([name, *(cell(sets[k]) if k in sets else "–" for k in COLUMNS)])
    counts = ", ".join(f"{k} {own[k]['n']:,}" for k in COLUMNS if k in own)
    return "## Accuracy\n\nAll [noul / choice / score]; decisions: " + counts + ".\n\n" + table(["", *COLUMNS], rows) + """

*Commonest answer*: the answer most training states give to that very question; on unseen questions and domains it is counted on the test states themselves, so no model could know it.
*Zero-shot*: cosine of all-MiniLM-L6-v2 vectors of state and instruction + option; for noul one threshold fitted on dev; every third request. *Linear read-out*: ridge regression on the encoder's vectors, one per question, fitted on the same training states."""


def readers():
    """How well a second reader's blind answers agree with the labels as they are now."""
    if not relabel.FILE.exists():
        return ""
    result = relabel.compare(relabel.load(), relabel.kept())
    rows = []
    for kind in ("noul", "choice", "score", ""):
        part, n = relabel.share([r for (*_, k), rows_ in result.items() if kind in ("", k) for r in rows_])
        rows.append([kind or "all", f"{part:.3f}", f"{n:,}"])
    return "## Two readers\n\nA second reader's blind answers for one state in twenty against the labels of today, that is after corrections (`data/README.md` has the share before them).\n\n" + \
        table(["", "agreement", "answers"], rows)


def calibration(own, full, t):
    rows = [[k, f"{full[k]['ece']:.3f}" if k in full else "–", f"{own[k]['ece']:.3f}"] for k in (*COLUMNS, "dev") if k in own]
    return f"## Calibration\n\nExpected calibration error (ten bins), before and after the temperature {t:.3f}, fitted on dev and folded into the head's scales.\n\n" + table(["", "before", "after"], rows)


def quantisation(own, full):
    rows = [[k, f"{full[k]['all']:.3f}", f"{own[k]['all']:.3f}"] for k in anchors.SETS]
    return "## Quantisation\n\n8-bit weights, 4-bit tables, groups of 64, head in bf16.\n\n" + table(["accuracy", "float32", "exported"], rows)


def movement(moved, agree, n):
    rows = [[k, f"{v:.1e}"] for k, v in moved.items()]
    return f"## Ids, order, siblings\n\nLargest change of any probability on {n} held-out requests when question ids are replaced, questions reversed, or a question asked alone.\n\n" + \
        table(["changed", "largest movement"], rows) + f"\n\nThe form that training computes and whole prompts read token by token differ by at most {agree:.1e} (40 requests)."


def samples(margins):
    wrong = [m for m in margins if m[2] <= 0]
    return f"## Samples\n\n{len(margins) - len(wrong)} of {len(margins)} answers right: the twelve samples, three paraphrases of each state, two of its questions, and the worked example. " + \
        f"Smallest margin over the next answer: {margins[0][2]:+.2f} ({margins[0][0]}, {margins[0][1]})."


def curves(run, log):
    states = [[f"{r['states']:,}", cell(r["dev"])] for r in (short(run, share) for share in CURVE)]
    starts = [[name, cell(short(run, random=random)["dev"])] for name, random in (("the sentence encoder's word vectors", False), ("random vectors of the same lengths", True))]
    steps = [[stage, f"{r['decisions']:,}", *(cell(r[k]) for k in ("dev", "dev domain", "dev plain"))] for stage, rows in zip((name for name, *_ in run.STAGES), log) for r in rows]
    notes = dict.fromkeys(r["note"] for rows in log for r in rows if "note" in r)        # a stage kept from another form of the network says so in its log
    return f"## Curves\n\nOver states: short runs of the first stage ({CURVE_STEPS} steps) on a share of the training states, dev:\n\n" + \
        table(["corpus states trained on", "dev"], states) + "\n\nOver starts: the same short run from two tables of vectors, all else equal, dev:\n\n" + table(["start", "dev"], starts) + "\n\nOver decisions seen, in the three stages of training:\n\n" + table(["stage", "decisions", "dev", "dev domain", "dev plain"], steps) + \
        "".join(f"\n\n{n}" for n in notes)


def chance(requests, kind):
    """The share of right answers a blind pick among the options would have."""
    return sum(shares := [1 / len(q["criteria"]) for r in requests for q in r["questions"].values() if q["type"] == kind]) / len(shares)


def bounds(run, own, reference, moved, size):
    """Every bound the model is held to, and whether it is reached."""
    linear, zero, common = reference["encoder + linear read-out"], reference["encoder, zero-shot"], reference["commonest answer"]
    rows = []

    def least(name, value, bound):
        rows.append([name, f"{value:.3f}", f"≥ {bound:.3f}", "reached" if value >= bound else f"missed by {bound - value:.3f}"])

    def most(name, value, bound, show="{:.3f}"):
        rows.append([name, show.format(value), "≤ " + show.format(bound), "reached" if value <= bound else "missed by " + show.format(value - bound)])
    least("unseen state: encoder + linear read-out", own["unseen state"]["all"], linear["unseen state"]["all"])
    for k in ("unseen question", "unseen domain"):
        least(f"{k}: encoder zero-shot + 5 points", own[k]["all"], zero[k]["all"] + .05)
    least("unseen state: noul", own["unseen state"]["noul"], .7)
    for k in anchors.SETS:
        least(f"{k}: noul, commoner answer + 5 points", own[k]["noul"], common[k]["noul"] + .05)
    for k in anchors.SETS[:3]:
        for kind in ("choice", "score"):
            least(f"{k}: {kind}, better than chance by 5 points", own[k][kind], chance(run.sets[k], kind) + .05)
    for k in anchors.SETS:
        most(f"{k}: calibration error", own[k]["ece"], .06)
    if BY_OTHER in own:
        least(f"{BY_OTHER}: all", own[BY_OTHER]["all"], .85)
    most("ids, order, siblings: largest movement", max(moved.values()), .03, "{:.1e}")
    most("size on disk, MB", size / 1e6, 32, "{:.1f}")
    return "## Bounds\n\n" + table(["", "measured", "bound", ""], rows)
