"""REPORT.md: what the exported model can do, next to reference numbers on the same frozen sets."""
import json
import pathlib

import accept
import anchors
import check
import corpus
import measure

OUT = pathlib.Path(__file__).resolve().parent.parent / "REPORT.md"
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


def state_curve(run):
    """Dev accuracy of short circuit runs on a share of the training states."""
    rows = []
    for share in CURVE:
        kept = run.work / f"curve-{share:g}.json"
        if not kept.exists():
            log = run.circuit(share, "curve", words=CURVE_STEPS, phrases=0, polish=0)[2]
            dev = {"score": None, "choice": None, **log[0][-1]["dev"]}
            states = len(run.pool(1, .35, share).groups["corpus"])
            kept.write_text(json.dumps({"states": states, "dev": dev}))
        rows.append(json.loads(kept.read_text()))
    return rows


def references(run):
    """The anchors, measured once: they do not depend on the model."""
    kept = run.work / "anchors.json"
    if not kept.exists():
        domains = filled({**run.corpus, **run.plain})
        kept.write_text(json.dumps(anchors.measure(run.sets, domains, {**run.split["corpus"], **run.split["plain"]}), indent=1))
    return json.loads(kept.read_text())


def write(run, net, log, t, size, minutes):
    """net: the float32 network before its temperature t was folded in."""
    full = {k: measure.answers(net, run.enc, run.sets[k]) for k in anchors.SETS}
    exported, enc = check.read(pathlib.Path(__file__).resolve().parent.parent / "model")
    own = {k: measure.summary(measure.answers(exported, enc, run.sets[k])) for k in anchors.SETS}
    full = {k: measure.summary(v) for k, v in full.items()}
    reference = references(run)
    held = run.sets["unseen state"][::3][:200]
    moved, agree = check.movement(exported, enc, held), check.agreement(exported, enc, held[:40])
    margins = accept.margins(exported, enc)
    (run.work / "numbers.json").write_text(json.dumps({"own": own, "float": full, "anchors": reference, "moved": moved, "agree": agree, "temperature": t,
                                                       "log": log, "size": size}, indent=1))
    parts = [head(run, size), accuracy(own, reference), calibration(own, full, t), quantisation(own, full), movement(moved, agree, len(held)),
             samples(margins), curves(run, log), limits(own, reference, minutes)]
    OUT.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return own


def head(run, size):
    states = sum(len(d["states"]) for d in (*run.corpus.values(), *run.plain.values()))
    labels = sum(a is not None for d in (*run.corpus.values(), *run.plain.values()) for _, answers in d["states"] for a in answers)
    return f"""# Etude: report

Written by `make etude` (`models/etude/train/run.py`); every number below was measured by it, on the exported folder unless said otherwise.

{len(run.corpus) + len(run.plain)} domains, {states:,} states, {labels:,} labels, all written by hand; {size / 1e6:.1f} MB on disk. The splits (`data/splits.json`) were frozen before training.
*Unseen state*: known domains and questions, other states. *Unseen question*: questions never asked in training. *Unseen domain*: {", ".join(run.split["unseen_domains"])}, never seen.
*Plain*: held-out plain cases of the sample domains, by the same writer as the training cases, so this row flatters. Nothing was chosen on these sets; choices and the temperature used *dev* states.

What answers: word vectors that start from a sentence encoder's and learn, filters over four tokens (layer 0), the state pooled into every token of an
instruction with a product of both (layer 1), the pooled state in the last token (layer 3), and the head's prior. Layer 2, the remaining heads and MLPs and the
head's joint part are in the file, as the format asks, and add nothing: training them needs about ten times the time of all the rest. The pins of `train/pins.py`
keep attention on the state alone, so no answer depends on question ids, order or siblings."""


def accuracy(own, reference):
    rows = [["**Etude**", *(cell(own[k]) for k in anchors.SETS)]]
    for name, sets in reference.items():
        rows.append([name, *(cell(sets[k]) if k in sets else "–" for k in anchors.SETS)])
    counts = ", ".join(f"{k} {own[k]['n']:,}" for k in anchors.SETS)
    return "## Accuracy\n\nAll [noul / choice / score]; decisions: " + counts + ".\n\n" + table(["", *anchors.SETS], rows) + """

*Commonest answer*: the answer most training states give to that very question; on unseen questions and domains it is counted on the test states themselves, so no model could know it.
*Zero-shot*: cosine of all-MiniLM-L6-v2 vectors of state and instruction + option; for noul one threshold fitted on dev; every third request. *Linear read-out*: ridge regression on the encoder's vectors, one per question, fitted on the same training states."""


def calibration(own, full, t):
    rows = [[k, f"{full[k]['ece']:.3f}", f"{own[k]['ece']:.3f}"] for k in anchors.SETS]
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
    states = [[f"{r['states']:,}", cell(r["dev"])] for r in state_curve(run)]
    steps = [[stage, f"{r['decisions']:,}", *(cell(r[k]) for k in ("dev", "dev domain", "dev plain"))] for stage, rows in zip(("words", "phrases", "polish"), log) for r in rows]
    return f"## Curves\n\nOver states: short runs of the first stage ({CURVE_STEPS} steps) on a share of the training states, dev:\n\n" + \
        table(["corpus states trained on", "dev"], states) + "\n\nOver decisions seen, in the three stages of training:\n\n" + table(["stage", "decisions", "dev", "dev domain", "dev plain"], steps)


def limits(own, reference, minutes):
    linear, zero, common = reference["encoder + linear read-out"], reference["encoder, zero-shot"], reference["commonest answer"]
    gap = lambda a, b: f"{a:.3f} against {b:.3f}: {'reached' if a >= b else 'missed by ' + format(b - a, '.3f')}"
    lines = [f"unseen states, at least the linear read-out: {gap(own['unseen state']['all'], linear['unseen state']['all'])}",
             f"unseen questions, zero-shot + 5 points: {gap(own['unseen question']['all'], zero['unseen question']['all'] + .05)}",
             f"unseen domains, zero-shot + 5 points: {gap(own['unseen domain']['all'], zero['unseen domain']['all'] + .05)}",
             f"noul on unseen states, 0.70: {gap(own['unseen state']['noul'], .7)}"]
    lines += [f"noul on {k}, commoner answer + 5 points: {gap(own[k]['noul'], common[k]['noul'] + .05)}" for k in ("unseen state", "unseen question", "unseen domain")]
    lines += [f"ECE on {k}, at most 0.06: {own[k]['ece']:.3f}: {'reached' if own[k]['ece'] <= .06 else 'missed by ' + format(own[k]['ece'] - .06, '.3f')}" for k in anchors.SETS[:3]]
    lines.append(f"plain cases, 0.85: {gap(own['plain']['all'], .85)} (same writer; a set by another writer is the real test)")
    return "## Bounds\n\n" + "\n".join("* " + x for x in lines) + f"\n\nThis last run took {minutes:.0f} minutes on one thread of a shared machine, stages kept from earlier runs not counted. One seed, one split, one labeller a domain."
