"""Stem: from the token to what the first layer is given: its vector, its position, a norm.

    x = maps(s E w + P + …)

E w is the row of the model's table of words. What is added to it is looked for among the tables
that ran before the first layer; what they leave is kept too, so that the parts always add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.inside.anatomy.ending import Map, map_of
from regard.inside.anatomy.linear import numbers
from regard.inside.anatomy.runs import ModuleRun, same
from regard.models.positions import Positions
from regard.models.translators.base import Translator
from regard.trace import Array

CLOSE = 1e-5
"""How far the parts may be from their sum, in units of its largest number."""
WORD, POSITION, TYPE, REST = "word", "position", "type", "rest"


@dataclass(frozen=True)
class Stem:
    """What the first layer is given, in parts."""

    scale: float
    """By which the word's vector is multiplied."""
    parts: dict[str, Array]
    """"word" (scaled), and what is added to it, such as "position" and "type"."""
    maps: tuple[Map, ...]
    """What is done to their sum."""
    made: Array
    """What the first layer is given."""

    @property
    def total(self) -> Array:
        """The sum of the parts."""
        found: Array = np.sum(list(self.parts.values()), axis=0)
        return found


def stem_of(model: nn.Module, before: Sequence[ModuleRun], word: int, first: Tensor) -> Stem:
    """Of the token ``word``; ``first`` (1, width) is what the first layer was given of it."""
    current, maps, runs = first, list[Map](), list(before)
    while (step := _step(runs, current)) is not None:
        run, found = step
        assert run.given is not None
        maps.insert(0, found)
        current, runs = run.given, runs[: runs.index(run)]
    scale, parts = _parts(model, before, word, numbers(current[0]))
    order = [name for name in (WORD, POSITION, TYPE) if name in parts]
    parts = {name: parts[name] for name in dict.fromkeys([*order, *parts])}
    return Stem(scale, parts, tuple(maps), numbers(first[0]))


def _step(runs: Sequence[ModuleRun], current: Tensor) -> tuple[ModuleRun, Map] | None:
    """The norm or matrix that made ``current``."""
    for run in runs:
        if same(run.made, current) and (found := map_of(run)) is not None:
            return run, found
    return None


def _parts(
    model: nn.Module, before: Sequence[ModuleRun], word: int, total: Array
) -> tuple[float, dict[str, Array]]:
    """The scale and the vectors that add up to ``total``."""
    vector, tables = word_vector(model, word), _tables(model, before, len(total))
    for added in (tables, {}):
        left = total - sum(added.values())
        scale = float(left @ vector / (vector @ vector))
        scale = 1.0 if abs(scale - 1) < CLOSE else scale
        if np.abs(scale * vector - left).max() <= CLOSE * np.abs(total).max():
            return scale, {WORD: scale * vector, **added}
    own = any(isinstance(run.module, Positions) for run in before)
    scale = math.sqrt(len(total)) if own else 1.0
    parts = {WORD: scale * vector, **tables}
    label = REST if POSITION in parts else POSITION
    return scale, parts | {label: total - sum(parts.values())}


def _tables(model: nn.Module, before: Sequence[ModuleRun], width: int) -> dict[str, Array]:
    """The rows that other tables than that of the words gave."""
    words = word_table(model)
    return {
        _label(run.name): numbers(run.made[0])
        for run in before
        if "embedding" in type(run.module).__name__.lower()
        and next(run.module.children(), None) is None
        and not _is(run.module, words)
        and run.made is not None
        and run.made.shape == (1, width)
    }


def _is(module: nn.Module, table: Any) -> bool:
    """Whether a module is that table, or shares its numbers."""
    weight, words = getattr(module, "weight", None), getattr(table, "weight", None)
    shared = weight is not None and words is not None and weight.data_ptr() == words.data_ptr()
    return module is table or shared


def word_table(model: nn.Module) -> Any:
    """The module (or matrix) that holds a vector for each word."""
    network: Any = model
    if isinstance(network, Translator):
        known = network.vocabulary
        return known.words if known.tied else known.target_words
    if hasattr(network, "get_input_embeddings"):
        return network.get_input_embeddings()
    return network.words if hasattr(network, "words") else network.embedding.words


def word_vector(model: nn.Module, word: int) -> Array:
    """The vector of a token, as the model's table gives it."""
    table = word_table(model)
    if not isinstance(table, nn.Module):
        return numbers(table[word])
    device = next(table.parameters()).device
    with torch.no_grad():
        return numbers(table(torch.tensor([[word]], device=device))[0, 0])


def _label(name: str) -> str:
    """What a table is for, by its name."""
    name = name.rpartition(".")[2].lower()
    if "type" in name or "segment" in name:
        return TYPE
    return POSITION if "pos" in name or name == "wpe" else name
