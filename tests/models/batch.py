"""Small translators and a batch with every kind of padding, for the tests of this folder."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.models.translators.base import Translator
from regard.models.translators.builder import build
from regard.models.translators.config import TranslatorConfig

VOCABULARY = 23

SHAPES: dict[str, dict[str, Any]] = {
    "word-by-word": {"width": 10, "hidden": 7, "readout": 10},
    "encoder-decoder": {"width": 10, "hidden": 7, "readout": 10},
    "bahdanau": {"width": 10, "hidden": 7, "readout": 10},
    "lstmn-shallow": {"width": 10, "hidden": 7, "readout": 10},
    "lstmn-deep": {"width": 10, "hidden": 7, "readout": 10},
    "transformer": {"width": 10, "layers": 3, "heads": 2, "feedforward": 17, "norm": "pre"},
}


def model(name: str, vocabulary: int = VOCABULARY, **changes: Any) -> Translator:
    """A small translator in float64, not training; its biases are not 0."""
    shape = SHAPES[name] | changes
    made = build(TranslatorConfig(model=name, vocabulary=vocabulary, **shape)).double().eval()
    for key, parameter in made.named_parameters():
        if key.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.3)
    return made


class Batch(NamedTuple):
    source: Tensor
    source_lengths: Tensor
    target: Tensor
    target_lengths: Tensor


def batch(source: tuple[int, ...] = (5, 1, 3, 4), target: tuple[int, ...] = (4, 3, 6, 2)) -> Batch:
    """Random sentences of these lengths; sources end with EOS, targets are BOS … EOS."""
    generator = torch.Generator().manual_seed(5)
    sides = []
    for lengths in (source, target):
        ids = torch.randint(4, VOCABULARY, (len(lengths), max(lengths)), generator=generator)
        for row, n in zip(ids, lengths, strict=True):
            row[n - 1], row[n:] = 3, 0
        sides.append(ids)
    sides[1][:, 0] = 2
    return Batch(sides[0], torch.tensor(source), sides[1], torch.tensor(target))
