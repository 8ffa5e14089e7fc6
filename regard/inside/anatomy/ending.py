"""Ending: from the last layer to the scores of the words, or as far as regard can follow it.

    logit_w = U_w · maps(x) + b_w

``maps`` are norms, matrices and activations (the head of a masked model has all three) in the
order in which they ran. What is none of these ends the walk: then the scores are those of the
model alone, and nobody can say which part of x they came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.inside.anatomy.activation import HeldActivation, activation_between
from regard.inside.anatomy.linear import LinearMap, linear, multiplies, numbers
from regard.inside.anatomy.norm import HeldNorm, held, is_norm
from regard.inside.anatomy.runs import ModuleRun, same
from regard.models.language import LanguageModel
from regard.models.translators.base import Translator
from regard.trace import Array

Map = HeldNorm | LinearMap | HeldActivation
ROWS = 16384
"""Words whose vectors are held in float64 at a time."""


@dataclass(frozen=True, eq=False)
class Scorer:
    """U and b, as the model holds them: the scores of all words are U x + b."""

    matrix: Tensor
    """(words, width)"""
    shift: Tensor | None
    factor: float = 1.0
    """By which x is multiplied first (T5: 1 / sqrt(d))."""

    def __call__(self, x: Array) -> Array:
        """The scores of all words, in float64."""
        blocks = [numbers(block) @ x for block in self.matrix.detach().split(ROWS)]
        scores: Array = self.factor * np.concatenate(blocks)
        return scores if self.shift is None else scores + numbers(self.shift)

    def direction(self, word: int) -> tuple[Array, float]:
        """d and b with score = d · x + b, of one word."""
        bias = 0.0 if self.shift is None else float(self.shift[word].detach())
        return self.factor * numbers(self.matrix[word]), bias


@dataclass(frozen=True)
class Ending:
    """What is done to the last layer's vector before words are compared with it."""

    maps: tuple[Map, ...]
    made: Array
    """What the maps make of it."""
    scorer: Scorer | None
    """None if the model scores no words, or the way to its scores is not known."""

    @property
    def curves(self) -> list[str]:
        """The activations on the way."""
        return [step.name for step in self.maps if isinstance(step, HeldActivation)]


def ending_of(model: nn.Module, after: Sequence[ModuleRun], last: Tensor) -> Ending:
    """``last`` (1, width): the row that the last layer made."""
    maps, current, module = list[Map](), last, _scoring(model)
    for run in after:
        curve = _curve(maps, run, current)
        if curve is not None and run.given is not None:
            maps.append(curve)
            current = run.given
        if run.module is module:
            break
        found = map_of(run) if same(run.given, current) else None
        if found is not None and run.made is not None:
            maps.append(found)
            current = run.made
    return Ending(tuple(maps), numbers(current[0]), _scorer(model, module, after, current))


def _curve(maps: Sequence[Map], run: ModuleRun, current: Tensor) -> HeldActivation | None:
    """The activation between a matrix and what is given its product, module or not."""
    if not maps or not isinstance(maps[-1], LinearMap) or run.given is None:
        return None
    if same(run.given, current) or not (is_norm(run.module) or multiplies(run.module)):
        return None
    return activation_between(current, run.given)


def map_of(run: ModuleRun) -> Map | None:
    """What a norm or a matrix did to the one row that it was given; None of any other module."""
    if run.given is None or run.made is None:
        return None
    if is_norm(run.module):
        return held(run.module, numbers(run.given[0]), numbers(run.made[0]))
    return linear(run.module)


def _scoring(model: nn.Module) -> Any:
    """The module that scores words, of a model of transformers that has one."""
    network: Any = model
    get = getattr(network, "get_output_embeddings", None)
    return None if get is None else get()


def _scorer(
    model: nn.Module, module: Any, after: Sequence[ModuleRun], current: Tensor
) -> Scorer | None:
    """U and b, if what was followed is what they are applied to."""
    network: Any = model
    if isinstance(network, LanguageModel):
        matrix = network.words if network.output is None else network.output
        return Scorer(matrix, network.bias)
    if isinstance(network, Translator):
        if network.pointer is not None:  # its scores are logs of a mixture: no product of vectors
            return None
        return Scorer(network.vocabulary.output, network.vocabulary.bias)
    run = next((run for run in after if run.module is module), None)
    if run is None or not isinstance(run.module, nn.Linear) or run.given is None:
        return None
    if run.given.shape != current.shape:
        return None
    factor = float((run.given * current).sum() / (current * current).sum())
    if not torch.allclose(run.given, factor * current, rtol=1e-4, atol=1e-6):
        return None
    factor = 1.0 if abs(factor - 1) < 1e-6 else factor
    return Scorer(run.module.weight, run.module.bias, factor)
