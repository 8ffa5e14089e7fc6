"""Run folders of tiny models with random weights, in forms that the shipped ones do not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from regard.models.language import LanguageConfig, LanguageModel
from regard.models.translators.builder import build
from regard.models.translators.config import TranslatorConfig
from regard.pieces.tokenizer import Level, Tokenizer
from regard.store.folder import RunFolder
from regard.store.weights import named_weights, write_weights

TEXTS = ["the dog sees a cat", "a cat sees the dog .", "dogs eat , cats sleep", "it's the dog's"]
ODD: dict[str, dict[str, Any]] = {
    "post": {
        "task": "translate",
        "model": {"model": "transformer", "width": 12, "layers": 2, "heads": 3, "feedforward": 17},
        "more": {"norm": "post"},
        "level": "bpe",
    },
    "apart": {
        "task": "translate",
        "model": {"model": "bahdanau", "width": 7, "hidden": 11, "readout": 5},
        "level": "word",
    },
    "both": {
        "task": "lm",
        "model": {"model": "simple-rnn+attention", "width": 7, "hidden": 11, "layers": 2},
        "more": {"form": "xch", "score": "dot", "window": 3},
        "level": "space",
    },
    "near": {
        "task": "lm",
        "model": {"model": "lstmn", "width": 7, "hidden": 5, "layers": 2, "recency": 2},
        "more": {"window": 2, "tied": True},
        "level": "word",
    },
}
"""Untied words, a norm after the sum, odd widths, windows, more layers; all levels of tokens."""


def save_run(folder: Path, name: str) -> Path:
    """The run folder of one of :data:`ODD`."""
    odd = ODD[name]
    level: Level = odd["level"]
    tokens = Tokenizer.train(TEXTS * 3, 40, level, least=1)
    shape = odd["model"] | odd.get("more", {}) | {"vocabulary": len(tokens)}
    torch.manual_seed(len(name))
    model: torch.nn.Module
    if odd["task"] == "translate":
        model = build(TranslatorConfig(**shape))
    else:
        model = LanguageModel(LanguageConfig(**shape))
    for parameter in model.parameters():
        parameter.data.mul_(1.3).add_(0.05 * torch.randn_like(parameter))
    run = RunFolder(folder / name)
    run.write_config({"task": odd["task"], "model": shape})
    tokens.save(run.path / "tokens.json")
    write_weights(run.model, {k: w.detach().contiguous() for k, w in named_weights(model).items()})
    run.test.write_text("".join(f"{text}\tx\n" for text in TEXTS[:2]), encoding="utf-8")
    run.test_text.write_text("\n".join(TEXTS[:2]), encoding="utf-8")
    return run.path
