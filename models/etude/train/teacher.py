"""What the sentence encoder says of each training state. The network learns to say the same from its state's mean, beside the decisions:
a direction for features that a few hundred labels a question cannot give."""
import torch

import corpus
import encoder
import splits
from prompt import render

DEPTHS = (3, 6)      # the encoder's layers whose mean vectors are taught


def build(domains, split, path):
    """Write the vectors of all training states; domains and split by name."""
    keys, texts = [], []
    for name, s in split.items():
        d, r = domains[name], corpus.rng("teacher", name)
        for i in splits.domain(s, d)[0]:
            keys.append((name, i))
            texts.append(render(corpus.fill(d["states"][i][0], d["slots"], r)))
    torch.save({"keys": keys, "vectors": encoder.SentenceEncoder().encode(texts, 64, DEPTHS).half()}, path)


class Teacher:
    """Standardised vectors (n, 384 * depths) by (domain, state index)."""

    def __init__(self, path):
        kept = torch.load(path)
        v = kept["vectors"].float()
        self.vectors, self.at = (v - v.mean(0)) / v.std(0).clamp(min=1e-3), {k: i for i, k in enumerate(kept["keys"])}

    def __call__(self, keys):
        return self.vectors[torch.tensor([self.at[k] for k in keys])]
