"""A whole-word byte-level BPE: a small trained base for fragments, then one chain of merges per listed word.

Later merges rank higher, so a new word never changes how an earlier one splits.
"""
import collections
import json
import re

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from prompt import ALLOWED, END_FIELD, PREFIX, SCHEMA, SPECIAL, SPLIT, SUFFIX, field, new_bpe, pieces, pretokenizer


def byte_letters():
    """The printable letter that stands for each byte."""
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table = {b: chr(b) for b in plain}
    for b in range(256):
        if b not in table:
            table[b] = chr(256 + len(table) - len(plain))
    return table


LETTER = byte_letters()
BYTE = {c: b for b, c in LETTER.items()}


def spell(word):
    return "".join(LETTER[b] for b in word.encode())


def unspell(token):
    return bytes(BYTE[c] for c in token).decode("utf-8", "replace")


def split(word, rank):
    """What BPE makes of one word under the merges so far."""
    parts = list(word)
    while len(parts) > 1:
        k = min(range(len(parts) - 1), key=lambda i: rank.get((parts[i], parts[i + 1]), 1 << 30))
        if (parts[k], parts[k + 1]) not in rank:
            break
        parts[k:k + 2] = [parts[k] + parts[k + 1]]
    return parts


def build(texts, words, base_size, size):
    """(tokenizer, how many listed words became one token)"""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pretokenizer()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=base_size, min_frequency=2, show_progress=False,
                                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    model = json.loads(t.to_str())["model"]
    vocab = dict(model["vocab"])
    merges = [tuple(m) if not isinstance(m, str) else tuple(m.split(" ")) for m in model["merges"]]
    rank, whole = {m: i for i, m in enumerate(merges)}, 0
    for word in words:
        if len(vocab) >= size - len(SPECIAL) - 8:
            break
        parts = split(spell(word), rank)
        while len(parts) > 1:
            k = next((i for i in range(len(parts) - 1) if parts[i] + parts[i + 1] in vocab), 0)
            pair = (parts[k], parts[k + 1])
            rank[pair] = len(merges)
            merges.append(pair)
            vocab.setdefault(pair[0] + pair[1], len(vocab))
            parts = split(spell(word), rank)
        whole += 1
    return new_bpe(vocab, merges), whole


WORD = re.compile(r"[^\r\n\w]?[^\W\d_]+|_[^\W\d_]+|'[a-z]+")


def listed(requests, texts, common):
    """Words that must be one token, most needed first: the prompt's own, JSON joints, corpus words, common words in their usual shapes."""
    pre, seen, joints = pre_tokenizers.Split(Regex(SPLIT), "isolated"), collections.Counter(), collections.Counter()
    words = lambda text: [w for w, _ in pre.pre_tokenize_str(text)]
    for text in texts:
        seen.update(w for w in words(text) if WORD.fullmatch(w))
    for q in requests:
        for piece in pieces(q["state"], q["questions"])[0]:
            joints.update(w for w in words(piece) if not WORD.fullmatch(w))
    fixed = [PREFIX, SCHEMA, ALLOWED, END_FIELD, SUFFIX, "OPTION 1: ", *(field(1, "x", k) for k in ("noul", "choice", "score"))]
    out = dict.fromkeys(w for p in fixed for w in words(p) if not any(s in w for s in SPECIAL))
    out.update(dict.fromkeys(w for w, n in joints.most_common() if n >= 25))
    out.update(dict.fromkeys(w for w, n in seen.most_common() if n >= 2))
    for i, w in enumerate(common):
        out[" " + w] = None
        if i < 3500:
            out[w] = out[w.capitalize()] = None
        if i < 1500:
            out[" " + w.capitalize()] = None
        if i < 500:
            out[" " + w.upper()] = None
    out.update(dict.fromkeys(w for w, _ in seen.most_common()))
    return list(out)
