"""The Clef prompt as separately tokenised pieces (clef.md section 2), and the byte-level BPE around it."""
import json

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
           "<|video_pad|>", "<think>", "</think>"]
SYSTEM = ("Read the complete state and schema. Decide every field jointly. "
          "Each answer must be exactly one of that field's allowed options.")
PREFIX = "<|im_start|>system\n" + SYSTEM + "<|im_end|>\n<|im_start|>user\nSTATE:\n"
SCHEMA = "\n\nSCHEMA FIELDS:\n"
ALLOWED = "\nALLOWED OPTIONS:\n"
END_FIELD = "END FIELD\n"
SUFFIX = "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nJOINT SCHEMA DECISIONS:"
TRUE = "The proposition is true or the answer is yes."
FALSE = "The proposition is false or the answer is no."
TYPES = ("noul", "choice", "score")


def field(number, question_id, kind):
    """The piece that opens a question; its instruction text follows as a piece of its own."""
    return f"\nFIELD {number}\nID: {question_id}\nTYPE: {kind}\nINSTRUCTION: "


def render(value):
    """A string as it is, anything else as compact JSON with sorted keys."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def instruction(question_id, question):
    """The instruction text; without one the question id is read instead."""
    text = question.get("instructions")
    return question_id if text in (None, "") else render(text)


def options(question):
    """[(option id, option text)] in prompt order: choice options sorted by id, score levels in order, noul true first."""
    kind, criteria = question["type"], question.get("criteria")
    if kind == "noul":
        texts = {"true": TRUE, "false": FALSE, **(criteria or {})}
        pairs = [("true", texts["true"]), ("false", texts["false"])]
    elif kind == "choice":
        pairs = sorted(criteria.items())
    else:
        pairs = [(str(i), d) for i, d in enumerate(criteria)]
    return [(k, render({"option_id": k} if d is None else {"description": d, "option_id": k})) for k, d in pairs]


def pieces(state, questions):
    """All pieces of a request, and per question (instruction piece, type, [option pieces], [option ids])."""
    out, index = [PREFIX, render(state), SCHEMA], []
    for number, (qid, q) in enumerate(questions.items(), 1):
        out += [field(number, qid, q["type"]), instruction(qid, q)]
        at, places, ids = len(out) - 1, [], []
        out.append(ALLOWED)
        for k, (oid, text) in enumerate(options(q), 1):
            out += [f"OPTION {k}: ", text]
            places.append(len(out) - 1)
            ids.append(oid)
            out.append("\n")
        out.append(END_FIELD)
        index.append((at, TYPES.index(q["type"]), places, ids))
    out.append(SUFFIX)
    return out, index


def pretokenizer():
    """The released split of text into words, then bytes."""
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(SPLIT), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def finish(tokenizer):
    """Normaliser, decoder and control tokens of the released tokenizer."""
    from tokenizers import AddedToken
    tokenizer.normalizer, tokenizer.decoder, tokenizer.pre_tokenizer = normalizers.NFC(), decoders.ByteLevel(), pretokenizer()
    tokenizer.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in SPECIAL])
    return tokenizer


class Encoder:
    """Text pieces to token ids, remembering short pieces."""

    def __init__(self, path):
        self.tokenizer, self.memory = Tokenizer.from_file(str(path)), {}

    def ids(self, piece):
        known = self.memory.get(piece)
        if known is None:
            known = self.tokenizer.encode(piece, add_special_tokens=False).ids
            if len(piece) < 240:
                self.memory[piece] = known
        return known

    def encode(self, state, questions):
        """(ids, [(instruction span, type, [option spans], [option ids])])"""
        parts, index = pieces(state, questions)
        ids, edge = [], [0]
        for p in parts:
            ids += self.ids(p)
            edge.append(len(ids))
        span = lambda i: (edge[i], edge[i + 1])
        return ids, [(span(at), kind, [span(p) for p in places], names) for at, kind, places, names in index]


def new_bpe(vocab, merges):
    """A tokenizer from explicit tables."""
    return finish(Tokenizer(models.BPE(vocab=vocab, merges=merges)))
