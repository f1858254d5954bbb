"""Tokenizer and word vectors: what the model knows about words before it sees a label. Writes tokenizer.json and vectors.pt."""
import re

import torch
import torch.nn.functional as F

import corpus
import encoder
import vocab
from prompt import SPECIAL

STOP = set("a an the is are was were be been being it its this that these those to of in at for with and or but i you he she we they my your "
           "his her our their me him us them do does did have has had as by from so if what which who how where when why can could should would "
           "will there here about into than then too very just also".split())
NEGATION = {"not", "no", "never", "n't", "t", "none", "without", "on", "off", "isn", "doesn", "don", "won", "can't", "nothing"}
FRAGMENT = re.compile(r"[^\W\d_]+")


def importance(key, text, rank):
    """How much a token should weigh in a plain mean, from 0 to 1."""
    if text in SPECIAL:
        return 0.
    if not re.search(r"[^\W\d_]", key):
        return .2 if re.search(r"\d", key) else .5 if re.search(r"[?!$€£@%]", key) else .05
    if key in STOP:
        return .1
    if key in NEGATION:
        return .6
    if len(key) <= 2:
        return .25
    p = .08 / rank[key] if key in rank else 2e-6
    return max(.1, (1e-4 / (1e-4 + p)) ** .5)


def fit_fragments(table, targets, splits, free, ridge=.3, rounds=30):
    """Move the rows in free so that the mean of a word's pieces comes near its vector (ridge, by conjugate gradients)."""
    rows = torch.tensor([i for i, p in enumerate(splits) for _ in p])
    cols = torch.tensor([c for p in splits for c in p])
    vals = torch.tensor([1 / len(p) for p in splits for _ in p])
    a = torch.sparse_coo_tensor(torch.stack([rows, cols]), vals, (len(splits), table.shape[0])).coalesce()
    at = a.t().coalesce()
    mask = torch.zeros(table.shape[0], 1)
    mask[free] = 1
    apply = lambda x: mask * torch.sparse.mm(at, torch.sparse.mm(a, x)) + ridge * x
    x, r = torch.zeros_like(table), mask * torch.sparse.mm(at, targets - torch.sparse.mm(a, table))
    d, rr = r.clone(), (r * r).sum(0)
    for _ in range(rounds):
        q = apply(d)
        step = rr / ((d * q).sum(0) + 1e-12)
        x, r = x + step * d, r - step * q
        new = (r * r).sum(0)
        d, rr = r + (new / (rr + 1e-12)) * d, new
    return table + x


def build(domains, requests, size, out, base_size=5000, extra=5000):
    """domains: what may be listed as whole words (training domains only)."""
    common = [w for w in encoder.vocabulary() if re.fullmatch(r"[a-z]{2,}|[ai]", w)]
    r = corpus.rng("vocabulary")
    texts = [t for d in domains for t in corpus.texts(d, r)]
    words = vocab.listed(requests, texts, common)
    tokenizer, whole = vocab.build(texts + [" " + w for w in common[:15000]], words, base_size, size)
    tokenizer.save(str(out / "tokenizer.json"))
    n = tokenizer.get_vocab_size()
    names = [tokenizer.id_to_token(i) for i in range(n)]
    text = [t if t in SPECIAL else vocab.unspell(t) for t in names]
    key = [re.sub(r"^[^\w]+", "", t).strip().lower().strip("_") or t for t in text]
    known = set(common) | {re.sub(r"^\W|_", "", w).lower() for w in words}
    unique = list(dict.fromkeys(key))
    spare = [w for w in common if w not in set(key)][:extra]
    vectors = encoder.SentenceEncoder().encode(unique + spare, 256)
    inside, outside = vectors[:len(unique)], vectors[len(unique):]
    real = torch.tensor([k in known for k in unique])
    mean = inside[real].mean(0)
    values, axes = torch.linalg.eigh((inside[real] - mean).T @ (inside[real] - mean))
    axes = axes.flip(1)
    turned = (inside - mean) @ axes
    scale = turned[real].norm(dim=-1).mean()
    at = {k: i for i, k in enumerate(unique)}
    table = turned[torch.tensor([at[k] for k in key])]
    free = [i for i, (k, t) in enumerate(zip(key, text)) if k not in known and len(k) >= 2 and FRAGMENT.fullmatch(k)]
    if spare and free:
        table = fit_fragments(table, (outside - mean) @ axes, [tokenizer.encode(" " + w).ids for w in spare], free)
    table = table / scale
    length = table.norm(dim=-1, keepdim=True)
    table = F.normalize(table, dim=-1) * length.clamp(max=1.3)
    rank = {w: i + 1 for i, w in enumerate(common)}
    weight = torch.tensor([importance(k, t, rank) for k, t in zip(key, text)])
    torch.save({"table": table.half(), "weight": weight, "text": text, "mean": mean, "axes": axes}, out / "vectors.pt")
    print(f"vocabulary {n}, {whole} of {len(words)} listed words whole, {len(free)} fragments fitted", flush=True)
