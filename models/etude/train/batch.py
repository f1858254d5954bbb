"""Requests to factored batches: each state, instruction and option text once."""
import numpy as np
import torch

from network import FIELDS, KEEP, LAST, LEAD, NONE, STATE
from prompt import PREFIX, SCHEMA, SUFFIX, TYPES, field, instruction, options, render

LONGEST_STATE, LONGEST_TEXT = 256, 40


def pack(enc, request):
    """Token ids and targets of one request."""
    gold = request["gold"]
    rows = []
    for name, q in request["questions"].items():
        lead = tuple(enc.ids(field(1, "x", q["type"]))[-LEAD:])
        g, opts = gold[name], options(q)
        want = [float(g[k]) if isinstance(g, dict) else float(k == g) for k, _ in opts]
        text = enc.ids(instruction(name, q))[:LONGEST_TEXT] or [0]
        rows.append((TYPES.index(q["type"]), lead + tuple(text), [tuple(enc.ids(t)) for _, t in opts], want))
    return {"state": enc.ids(render(request["state"]))[:LONGEST_STATE], "rows": rows, "domain": request["domain"]}


class Collator:
    """Builds batches."""

    def __init__(self, enc):
        head = enc.ids(PREFIX)
        self.mark = len(head) - 1 - head[::-1].index(enc.tokenizer.token_to_id("STATE"))
        self.before, self.after = head[self.mark - 6:], enc.ids(SCHEMA)[:1]
        self.context = 6                       # tokens before the section starts
        self.tail = tuple(enc.ids(SUFFIX)[-LEAD - 1:])
        self.empty = enc.tokenizer.token_to_id("<|endoftext|>")

    def __call__(self, packed):
        n, width = len(packed), max(len(p["rows"]) for p in packed)
        states, parts, opts, picks = [], {self.tail: 0}, {}, []
        most = max(sum(len(r[2]) for r in p["rows"]) for p in packed)
        owner, at, alive, kind = np.zeros((n, most), np.int64), np.zeros((n, most), np.int64), np.zeros((n, most), bool), np.zeros((n, width), np.int64)
        for i, p in enumerate(packed):
            states.append([*self.before, *p["state"], *self.after])
            o, mine = 0, [0]
            for j, (k, text, options_, _) in enumerate(p["rows"]):
                mine.append(parts.setdefault(text, len(parts)))
                kind[i, j] = k
                for t in options_:
                    owner[i, o], at[i, o], alive[i, o] = j, opts.setdefault(t, len(opts)), True
                    o += 1
            picks.append(mine)
        arrays = dict(kind=kind, owner=owner, option_at=at, alive=alive)
        arrays.update(self._states(states), **self._parts(list(parts), picks, width), **self._options(opts))
        return {k: torch.from_numpy(v) for k, v in arrays.items()}

    def _states(self, states):
        t = max(map(len, states))
        ids, section = np.full((len(states), t), self.empty), np.zeros((len(states), t), np.int64)
        for i, s in enumerate(states):
            ids[i, :len(s)] = s
            section[i, self.context:len(s)] = STATE
        return dict(state=ids, section=section)

    def _parts(self, parts, picks, width):
        """All texts end to end, and for each state the rows and mean weights of its last token (first) and of its instructions."""
        starts, flat, section = [], [], []
        for i, s in enumerate(parts):
            starts.append(len(flat))
            flat += s
            section += [FIELDS if i else LAST] * len(s)
        rows = [[range(starts[m] + LEAD - KEEP, starts[m] + len(parts[m])) for m in mine] for mine in picks]
        longest = max(sum(map(len, r)) for r in rows)
        pick, pool = np.zeros((len(picks), longest), np.int64), np.zeros((len(picks), width + 1, longest), np.float32)
        for i, spans in enumerate(rows):
            c = 0
            for j, span in enumerate(spans):
                pick[i, c:c + len(span)] = span
                first = c + (KEEP if j else len(span) - 1)
                pool[i, j, first:c + len(span)] = 1 / (c + len(span) - first)
                c += len(span)
        return dict(part=np.array(flat), part_section=np.array(section), pick=pick, pool=pool)

    def _options(self, opts):
        row = [k for k, o in enumerate(opts) for _ in o]
        return dict(option=np.array([i for o in opts for i in o]), option_row=np.array(row), option_size=np.array([len(o) for o in opts], np.float32))


def log_shares(logits, b):
    """log softmax of each option among the options of its question."""
    q = b["kind"].shape[1]
    member = torch.nn.functional.one_hot(b["owner"], q).bool() & b["alive"][..., None]
    total = logits.float()[..., None].masked_fill(~member, -1e9).logsumexp(1)
    return logits.float() - total.gather(1, b["owner"])
