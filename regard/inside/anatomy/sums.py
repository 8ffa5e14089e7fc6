"""Sums: which outputs, added to which inputs, give what came next. Proved by the numbers alone.

The vectors that flow through a layer are its *stream*. Where a module is given, or the layer hands
on, what no module made, it was made by adding: stream + output of a module (+ a second one, where
two run beside each other). The sum is looked for among all that ran, and must hold in every token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from regard.errors import ModelError
from regard.inside.anatomy.norm import is_norm
from regard.inside.anatomy.runs import ModuleRun, same

PRECISION = {torch.float64: 1e-12, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}
"""How far a sum may be from what came next, in units of the row's largest number."""


@dataclass(frozen=True)
class Addend:
    """What a module put out, and the factor it was added with (1 in most models)."""

    run: ModuleRun
    factor: float = 1.0


@dataclass(frozen=True)
class Sum:
    """``before`` + factor · made of each part = ``after``, all (tokens, width)."""

    before: Tensor
    parts: tuple[Addend, ...]
    after: Tensor
    difference: float
    """The largest one, in units of the row's largest number."""


def find_sums(layer: ModuleRun, runs: Sequence[ModuleRun]) -> list[Sum]:
    """The sums that lead from what a layer was given to what it made, in their order."""
    x, y = layer.given, layer.made
    if x is None or y is None or x.shape != y.shape:
        raise ModelError(f"{layer.name} does not hand on vectors of the kind that it is given")
    streams, sums = [x], list[Sum]()
    wide = [run for run in runs if run.made is not None and run.made.shape == x.shape]
    inner = [run.given for run in runs if run.given is not None and run.given.shape == x.shape]
    for target in [*inner, y]:
        if _among(target, streams):
            continue
        makers = [run for run in wide if same(run.made, target) and not _has_modules(run)]
        if makers:
            if any(is_norm(run.module) and _among(run.given, streams) for run in makers):
                streams.append(target)
            continue
        found = _sum(target, streams, wide)
        if found is not None:
            sums.append(found)
            streams.append(target)
    if not _among(y, streams) or not sums:
        raise ModelError(
            f"what {layer.name} hands on is no sum of what it was given and of what its modules "
            "put out: this kind of layer is not known"
        )
    return sums


def _has_modules(run: ModuleRun) -> bool:
    """Whether the module is made of others: some of these add before they hand on."""
    return next(run.module.children(), None) is not None


def _among(x: Tensor | None, streams: list[Tensor]) -> bool:
    return any(same(x, stream) for stream in streams)


def _sum(target: Tensor, streams: list[Tensor], runs: list[ModuleRun]) -> Sum | None:
    """``target`` as a stream and one output, or as a stream and two."""
    outputs = _distinct(runs, streams)
    for before in reversed(streams):
        rest = target - before
        for run in outputs:
            assert run.made is not None
            factor = _factor(rest, run.made)
            off = _apart(target, before + factor * run.made)
            if factor and off is not None:
                return Sum(before, (Addend(run, factor),), target, off)
    for before in reversed(streams):
        for one, two in combinations(outputs, 2):
            assert one.made is not None
            assert two.made is not None
            off = _apart(target, before + one.made + two.made)
            if off is not None:
                return Sum(before, (Addend(one), Addend(two)), target, off)
    return None


def _distinct(runs: list[ModuleRun], streams: list[Tensor]) -> list[ModuleRun]:
    """Each output once, by the module that made it first; none that is the stream itself."""
    found: list[ModuleRun] = []
    for run in runs:
        if not any(same(run.made, x) for x in [*streams, *(other.made for other in found)]):
            found.append(run)
    return found


def _factor(rest: Tensor, made: Tensor) -> float:
    """c with rest ≈ c · made; exactly 1 where it can be."""
    size = float((made.double() ** 2).sum())
    factor = float((rest.double() * made.double()).sum()) / size if size else 0.0
    return 1.0 if abs(factor - 1) < 1e-4 else factor


def _apart(target: Tensor, made: Tensor) -> float | None:
    """How far they are from each other, if that is no more than rounding."""
    most = target.abs().amax(-1).clamp_min(1e-12)
    off = float(((target - made).abs().amax(-1) / most).max())
    return off if off <= PRECISION.get(target.dtype, 2e-2) else None
