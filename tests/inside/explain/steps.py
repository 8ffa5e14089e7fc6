"""Tiny untrained recurrent models of every design, and the LSTMN's equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from regard.inside.ownmodel import OwnClassifier, OwnLanguage, OwnTranslator
from regard.models import classifier, language
from regard.models.translators.builder import build
from regard.models.translators.config import TranslatorConfig
from regard.recurrent.reader import ReaderLayer
from regard.trace import Array
from tests.inside.explain.wholes import own_words


def reader_of(design: str, **changes: Any) -> OwnLanguage:
    """A language model of width 5, hidden size 7."""
    torch.manual_seed(11)
    words = own_words()
    sizes = {"width": 5, "hidden": 7, "layers": 2} | changes
    config = language.sized(design, "tiny", len(words), **sizes)
    model = language.LanguageModel(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight)
    return OwnLanguage("own", model, words, None)


def judge_of(design: str, **changes: Any) -> OwnClassifier:
    """A classifier of width 5, hidden size 7."""
    torch.manual_seed(17)
    words = own_words()
    sizes = {"width": 5, "hidden": 7, "layers": 1} | changes
    config = classifier.sized(design, "tiny", len(words), ("bad", "good"), **sizes)
    return OwnClassifier("own", classifier.Classifier(config).eval(), words, None)


def writer_of(design: str) -> OwnTranslator:
    """A translator of width 5, hidden size 7."""
    torch.manual_seed(13)
    words = own_words()
    config = TranslatorConfig(
        model=design, vocabulary=len(words), width=5, hidden=7, readout=6, tied=False
    )
    model = build(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.7)
    return OwnTranslator("own", model, words, None)


def layers_of(model: OwnLanguage) -> list[ReaderLayer]:
    """The layers that read, from the lowest."""
    network: Any = model.network
    found: list[ReaderLayer] = network.body.reader.parts()
    return found


def lstmn(x: Array, layer: Any, window: int | None) -> tuple[Array, Array, Array, list[Array]]:
    """h_t, c_t, h~_t and the weights of each word of ``x`` (n, width), from the equations."""
    w = {name: p.detach().double().numpy() for name, p in layer.named_parameters()}
    size = w["v"].size
    h: list[Array] = []
    c: list[Array] = []
    recalled, weights = [], []
    before = np.zeros(size)
    for x_t in x:
        seen = slice(0 if window is None else max(0, len(h) - window), len(h))
        tape = np.array(h[seen]).reshape(-1, size), np.array(c[seen]).reshape(-1, size)
        asked = w["w_input"] @ x_t + w["w_summary"] @ before
        e = np.tanh(tape[0] @ w["w_key"].T + asked) @ w["v"]
        if len(e) and "recency" in w:
            e[-1] += w["recency"][0]
        a = np.exp(e) / np.exp(e).sum()
        before, cell = a @ tape[0], a @ tape[1]
        gates = w["inputs.weight"] @ x_t + w["inputs.bias"] + w["recurrent"] @ before
        i, f, g, o = np.split(gates, 4)
        c.append(_sigmoid(f) * cell + _sigmoid(i) * np.tanh(g))
        h.append(_sigmoid(o) * np.tanh(c[-1]))
        recalled.append(before)
        weights.append(a)
    return np.array(h), np.array(c), np.array(recalled), weights


def _sigmoid(x: Array) -> Array:
    found: Array = 1 / (1 + np.exp(-x))
    return found
