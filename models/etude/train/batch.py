"""Requests to factored batches: each state, instruction and option text once."""
import numpy as np
import torch

from network import FIELDS, LAST, LEAD, NONE, STATE
from prompt import PREFIX, SCHEMA, SUFFIX, TYPES, field, instruction, options, render

LONGEST_STATE, LONGEST_TEXT = 256, 40


def pack(enc, request):
    """Token ids and targets of one request."""
    gold = request["gold"]
    rows = []
    for name, q in request["questions"].items():
        lead = tuple(enc.ids(field(1, "x", q["type"]))[-2 * LEAD:])
        g, opts = gold[name], options(q)
        want = [float(g[k]) if isinstance(g, dict) else float(k == g) for k, _ in opts]
        text = enc.ids(instruction(name, q))[:LONGEST_TEXT] or [0]
        rows.append((TYPES.index(q["type"]), lead + tuple(text), [tuple(enc.ids(t)) for _, t in opts], want))
    return {"state": enc.ids(render(request["state"]))[:LONGEST_STATE], "rows": rows, "domain": request["domain"], "base": (request["domain"], request.get("index"))}


class Collator:
    """Builds batches. All texts stand end to end, each behind the tokens the filters see before it."""

    def __init__(self, enc):
        head = enc.ids(PREFIX)
        self.after = enc.ids(SCHEMA)[:1]
        mark = enc.tokenizer.token_to_id("STATE")
        self.before = head[len(head) - 1 - head[::-1].index(mark) - LEAD:]      # the section begins with the word STATE
        tail = enc.ids(SUFFIX)
        self.tail = tail[tail.index(enc.tokenizer.token_to_id("</think>")) - LEAD:]

    def __call__(self, packed):
        n, width = len(packed), max(len(p["rows"]) for p in packed)
        most = max(sum(len(r[2]) for r in p["rows"]) for p in packed)
        owner, at, alive, want = (np.zeros((n, most), t) for t in (np.int64, np.int64, bool, np.float32))
        kind, ask_at, asks, opts = np.zeros((n, width), np.int64), np.zeros((n, width), np.int64), {}, {}
        for i, p in enumerate(packed):
            o = 0
            for j, (k, text, options_, wanted) in enumerate(p["rows"]):
                kind[i, j], ask_at[i, j] = k, asks.setdefault(text, len(asks))
                for t, y in zip(options_, wanted):
                    owner[i, o], at[i, o], alive[i, o], want[i, o] = j, opts.setdefault(t, len(opts)), True, y
                    o += 1
        arrays = dict(base=[p["base"] for p in packed], kind=kind, owner=owner, option_at=at, alive=alive, want=want)
        arrays.update(self._places([p["state"] for p in packed], list(asks), ask_at), **self._options(list(opts)))
        return {k: v if k == "base" else torch.from_numpy(np.asarray(v)) for k, v in arrays.items()}

    def _places(self, states, asks, ask_at):
        """The flat sequence of tokens, and where states, instructions and the last token stand in it."""
        flat, section = list(self.tail), [LAST] * len(self.tail)
        inside = []
        for s in states:
            mine = [*self.before, *s, *self.after]
            inside.append(np.arange(len(flat) + LEAD, len(flat) + len(mine)))
            flat += mine
            section += [NONE] * LEAD + [STATE] * (len(mine) - LEAD)
        asked, first_ask = [], len(flat)
        for t in asks:
            asked.append(np.arange(len(flat) + 2 * LEAD, len(flat) + len(t)))
            flat += t
            section += [FIELDS] * len(t)
        segments = dict(states=_padded(inside, len(flat)), asks=_padded([np.arange(x[0] - LEAD, x[-1] + 1) for x in asked], len(flat)),
                        ending=np.arange(LEAD, len(self.tail))[None])
        token, at = np.unique(np.array(flat), return_inverse=True)
        size, asize = [np.array([len(x) for x in xs]) for xs in (inside, asked)]
        pairs = asize[ask_at]                                    # (B, Q): tokens of each question
        asking = [np.concatenate([*(asked[j] - first_ask for j in mine), [len(flat) - first_ask]]) for mine in ask_at]     # the last token asks too
        ends = np.cumsum([len(a) for a in asking])
        begins = np.cumsum(size) - size
        in_state = _padded([np.arange(a, a + n) for a, n in zip(begins, size)], size.sum())
        return dict(asking=_padded(asking, -1), ended=ends - 1, asked=np.delete(np.arange(ends[-1]), ends - 1), in_state=in_state, token=token, at=at, section=np.array(section), last=len(self.tail) - 1, first_ask=first_ask, state_place=np.concatenate(inside), **segments,
                    state_of=np.repeat(np.arange(len(size)), size), state_size=size.astype(np.float32),
                    pair_place=np.concatenate([asked[j] for j in ask_at.flat]), pair_ask=np.repeat(np.arange(pairs.size), pairs.flat),
                    pair_state=np.repeat(np.arange(len(pairs)), pairs.sum(1)), ask_size=pairs.astype(np.float32))

    def _options(self, opts):
        word, at = np.unique(np.array([i for o in opts for i in o]), return_inverse=True)
        size = np.array([len(o) for o in opts])
        return dict(word=word, option_word=at, option_row=np.repeat(np.arange(len(opts)), size), option_size=size.astype(np.float32))


def _padded(rows, filler):
    out = np.full((len(rows), max(len(r) for r in rows)), filler)
    for o, r in zip(out, rows):
        o[:len(r)] = r
    return out


def log_shares(logits, b):
    """log softmax of each option among the options of its question."""
    q = b["kind"].shape[1]
    member = torch.nn.functional.one_hot(b["owner"], q).bool() & b["alive"][..., None]
    total = logits.float()[..., None].masked_fill(~member, -1e9).logsumexp(1)
    return logits.float() - total.gather(1, b["owner"])
