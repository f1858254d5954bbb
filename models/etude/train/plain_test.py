"""Plain cases by another writer (data/plain_test.json): an acceptance set, never used for a choice."""
import json
import pathlib
import sys

import torch

import check
import corpus
from accept import option_id
from measure import answers, summary

FILE = corpus.DATA / "plain_test.json"


def cases():
    """[(state, question, right option id as the prompt names it)]"""
    table = json.load(open(FILE, encoding="utf-8"))
    return [(c["state"], c["question"], option_id(c["answer"])) for c in table]


def requests():
    """One request a case, with its gold, as measure.answers reads it."""
    return [{"state": s, "questions": {"q": q}, "gold": {"q": gold}, "domain": "plain test"} for s, q, gold in cases()]


def score(net, enc):
    """Accuracy in all, by kind and the calibration error: {"all", "noul", "choice", "score", "ece", "n"} as measure.summary gives it.

    net and enc are the exported folder's (check.read). Report the numbers; never choose a model, a stage or a setting by them.
    """
    return summary(answers(net, enc, requests()))


if __name__ == "__main__":
    torch.set_num_threads(1)
    folder = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent / "model"
    print("plain test", score(*check.read(folder)))
