"""Reading the corpus (data/README.md) and drawing varied requests from it."""
import json
import pathlib
import random
import re

from prompt import FALSE, TRUE, render

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"

OTHER = ["other", "none of these", "something_else", "Other", "none", "misc", "unclear"]
OTHER_TEXT = ["Anything else", "None of the above", None, "Does not fit the other options", "Something different"]
YES_NO_TEXT = [("Yes", "No"), ("It is so", "It is not so"), ("true", "false"), ("Applies", "Does not apply"),
               ("The statement fits", "The statement does not fit"), ("Correct", "Wrong")]
CLAIMS = ["Is it {x}?", "This is about {x}.", "Category: {x}", "Is this {x}?", "{x}", "The right label is {x}.", "Best described as: {x}"]
GREETINGS = ["Hello,", "Hi,", "Hi there,", "Note:", "FYI:", "Message:", "Hey"]
WRAPPERS = ["message", "text", "body", "input", "content", "request", "comment"]


def valid(question, answer):
    if answer is None:
        return True
    if question["type"] == "choice":
        return answer in question["options"]
    top = 2 if question["type"] == "noul" else len(question["levels"])
    return isinstance(answer, (int, bool)) and 0 <= int(answer) < top


def load_file(path):
    """One domain: questions, and states as (state, answers). A malformed state stops the run: the corpus is ours."""
    d = json.load(open(path, encoding="utf-8"))
    states = []
    for n, row in enumerate(d["states"]):
        if len(row) != len(d["questions"]) + 1:
            raise SystemExit(f"{path.name}: state {n} has {len(row) - 1} answers for {len(d['questions'])} questions: {row[0]!r}")
        for q, a in zip(d["questions"], row[1:]):
            if not valid(q, a):
                raise SystemExit(f"{path.name}: state {n}: {a!r} is no answer of {q['key']}: {row[0]!r}")
        states.append((row[0], row[1:]))
    return {"domain": d["domain"], "questions": d["questions"], "slots": d.get("slots", {}), "code": d.get("code", False), "states": states}


def load(kind):
    """All domains of data/KIND by name."""
    out = {}
    for path in sorted((DATA / kind).glob("*.json")):
        d = load_file(path)
        out[d["domain"]] = d
    return out


def fill(state, slots, r):
    """Put a random value of each {slot} into a state's text."""
    if isinstance(state, dict):
        return {k: fill(v, slots, r) for k, v in state.items()}
    if not isinstance(state, str) or not slots or "{" not in state:
        return state
    return re.sub(r"\{(\w+)\}", lambda m: r.choice(slots[m[1]]) if m[1] in slots else m[0], state)


def respell(name, r):
    """The ways people write an option id."""
    k = r.random()
    if k < .45:
        return name
    if k < .65:
        return name.replace(" ", "_").replace("-", "_")
    if k < .82:
        return name.replace("_", " ")
    if k < .9:
        return name.replace("_", " ").capitalize()
    if k < .95:
        return name.replace("_", "-").replace(" ", "-")
    return name.upper() if k < .97 else name


def lower_first(text):
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def choice(q, gold, r, foreign=(), plain=False):
    """A choice question about q: a subset of its options in random names, order and description style."""
    table = q["options"]
    keys = [k for k in table if k != gold]
    r.shuffle(keys)
    count = len(table) if plain or r.random() < .45 else r.randint(2, max(2, len(table)))
    missing = not plain and r.random() < .05 and len(keys) >= count and len(table) > 2
    use = keys[:count] if missing else keys[:count - 1] + [gold]
    r.shuffle(use)
    mode, same_name = r.random(), r.random() < .35
    letters, lead = r.choice(["abcdefghijklmnop", "ABCDEFGHIJKLMNOP"]), r.choice(["", "", "option_", "o"])
    named = lambda d: None if mode < .3 and not plain else d
    out, answer = {}, None
    for i, key in enumerate(use):
        entry = table[key]
        name = key if same_name else r.choice(entry.get("names") or [key])
        text = r.choice(entry["descriptions"]) if entry.get("descriptions") else None
        label = respell(name, r)
        if not plain and mode > .87:
            label, text = lead + letters[i], text or name
        if label in out:
            label += str(i)
        out[label] = named(text)
        if key == gold:
            answer = label
    if foreign and not plain and r.random() < .06 and len(out) < 9:
        name, text = r.choice(foreign)
        out.setdefault(name, named(text))
    if missing or (not plain and r.random() < .05):
        name = r.choice(OTHER)
        out[name] = named(r.choice(OTHER_TEXT))
        answer = answer or name
    return {"type": "choice", "criteria": out}, answer


def noul(q, answer, r):
    """A proposition of q, turned round in a third of the draws where the corpus has opposites."""
    flip = bool(q.get("opposites")) and r.random() < .33
    return r.choice(q["opposites"] if flip else q["instructions"]), bool(answer) != flip


def score(q, answer, r, plain=False):
    """A rating of q: sometimes fewer levels, sometimes from high to low."""
    levels, use = q["levels"], list(range(len(q["levels"])))
    if not plain and len(levels) > 2 and r.random() < .15:
        use = sorted({answer, *r.sample(use, r.randint(2, len(levels) - 1))})
    if not plain and r.random() < .1:
        use = use[::-1]
    column, same = r.randrange(8), r.random() < .5
    texts = [levels[i][column % len(levels[i])] if same else r.choice(levels[i]) for i in use]
    return {"type": "score", "criteria": texts}, str(use.index(answer)), texts


def question(q, answer, r, foreign=(), plain=False, derived=.25):
    """(question, gold option id): q itself, or q asked in another form (derived)."""
    k = 1. if plain else r.random()
    ask = r.choice(q["instructions"])
    if q["type"] == "noul":
        ask, truth = noul(q, answer, r)
        if k < derived * .35:
            yes, no = r.choice([("yes", "no"), ("Yes", "No"), ("true", "false"), ("y", "n")])
            a, b = r.choice([(None, None), (TRUE, FALSE), ("It is so", "It is not so")])
            return {"type": "choice", "criteria": {yes: a, no: b}, "instructions": ask}, yes if truth else no
        out = {"type": "noul", "instructions": ask}
        if not plain and r.random() < .12:
            a, b = r.choice(YES_NO_TEXT)
            out["criteria"] = {"true": a, "false": b}
        return out, "true" if truth else "false"
    if q["type"] == "choice":
        if k < derived * .8:
            return claim(q, answer, ask, r)
        out, gold = choice(q, answer, r, foreign, plain)
    else:
        if k < derived * .4:
            i = r.randrange(1, len(q["levels"]))
            x = lower_first(r.choice(q["levels"][i]))
            text = r.choice([f"{ask.rstrip('?.')}: at least {x}?", f"Is it {x} or more?", f"At least: {x}"])
            return {"type": "noul", "instructions": text}, "true" if answer >= i else "false"
        out, gold, texts = score(q, answer, r, plain)
        if not plain and k > 1 - derived * .3 and len(set(texts)) == len(texts):
            order = texts[:]
            r.shuffle(order)
            out, gold = {"type": "choice", "criteria": {t: None for t in order}}, texts[int(gold)]
    if plain or r.random() < .92:
        out["instructions"] = ask
    return out, gold


def claim(q, answer, ask, r):
    """A choice asked as a proposition about one of its options."""
    table = q["options"]
    truth = r.random() < .5
    key = answer if truth else r.choice([k for k in table if k != answer])
    entry = table[key]
    use_name = r.random() < .5 or not entry.get("descriptions")
    x = r.choice(entry.get("names") or [key]).replace("_", " ") if use_name else r.choice(entry["descriptions"])
    text = r.choice(CLAIMS).replace("{x}", lower_first(x)) if r.random() < .75 else f"{ask} {x}"
    return {"type": "noul", "instructions": text}, "true" if truth else "false"


def typo(text, r):
    letters = list(text)
    for _ in range(max(1, len(text) // 40)):
        i = r.randrange(len(letters)) if letters else 0
        if i + 1 < len(letters) and letters[i].isalpha() and letters[i + 1].isalpha():
            k = r.random()
            if k < .4:
                letters[i], letters[i + 1] = letters[i + 1], letters[i]
            elif k < .7:
                letters.pop(i)
            else:
                letters.insert(i, letters[i])
    return "".join(letters)


def vary(state, r, code=False):
    """Surface noise that keeps the meaning."""
    if not isinstance(state, str):
        if isinstance(state, dict) and r.random() < .15:
            state = {**state, r.choice(["id", "ref"]): r.randint(1, 9999)}
        return state
    if not code:
        k = r.random()
        if k < .06:
            state = typo(state, r)
        elif k < .2:
            state = state.lower()
        elif k < .22:
            state = state.upper()
        elif k < .32:
            state = state.rstrip(".!?")
        elif k < .38 and len(state) > 12:
            state = r.choice(GREETINGS) + " " + state
    if r.random() < .1:
        state = {r.choice(WRAPPERS): state}
        if r.random() < .5:
            state.update([r.choice([("id", r.randint(1, 9999)), ("channel", r.choice(["email", "chat", "web"])), ("source", "app"), ("lang", "en")])])
    return state


def request(domain, index, questions, r, count, foreign=(), plain=False, derived=.25):
    """One request about a state: {state, questions, gold, domain, base}, or None when nothing can be asked."""
    state, answers = domain["states"][index]
    base = fill(state, domain["slots"], r)
    able = [i for i in questions if answers[i] is not None]
    if not able:
        return None
    r.shuffle(able)
    pick = able[:count] if plain else able[:count] + [r.choice(able) for _ in range(max(0, count - len(able)))]
    asked, gold = {}, {}
    for i in pick:
        q = domain["questions"][i]
        spec, answer = question(q, answers[i], r, foreign, plain, derived)
        name = q["key"]
        while name in asked:
            name += "_" + str(r.randint(2, 9))
        asked[name], gold[name] = spec, answer
    shown = base if plain else vary(base, r, domain["code"])
    return {"state": shown, "questions": asked, "gold": gold, "domain": domain["domain"], "index": index, "picked": pick}


def texts(domain, r):
    """Every text of a domain, states filled once or a few times: food for the vocabulary."""
    for q in domain["questions"]:
        yield q["key"]
        yield from q.get("instructions", [])
        yield from q.get("opposites", [])
        for key, o in (q.get("options") or {}).items():
            yield key
            yield from o.get("names") or []
            yield from o.get("descriptions") or []
        for level in q.get("levels") or []:
            yield from level
    for state, _ in domain["states"]:
        for _ in range(3 if domain["slots"] else 1):
            yield render(fill(state, domain["slots"], r))
    for values in domain["slots"].values():
        for v in values:
            yield " " + v


def rng(*parts):
    """A generator that depends on nothing but its name."""
    return random.Random("/".join(map(str, parts)))
