"""Mistakes: what a function would answer if it made one of the usual ones.

The slips of worked examples, each carried through to the result; and those that only code makes,
because it has batch axes, takes masks of two polarities, and counts axes from either end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import torch

from regard.trace import Array
from regard.worked.code.cases import Case, Slice
from regard.worked.mechanisms.attention import allowed
from regard.worked.slips import slips

Known = dict[str, Array]
OF_PENCILS = {"rounded early", "neighbour's row"}
"""Slips that code hardly makes: none is looked for beside another one."""
LOWS = (-math.inf, -1e9)
NEVER = {"scaled already"}
"""Slips of writing down: code that scales twice divides by d_k."""


class Made(NamedTuple):
    """A mistake in one slice: its name, how it ends "… is what you get if", and the step."""

    name: str
    says: str
    step: str
    value: Array
    before: Known
    """The other steps."""
    low: float = -math.inf
    """What stands for a masked score: code has either, and rows without a key tell them apart."""

    @property
    def identity(self) -> str:
        """The same in another case, whose numbers differ."""
        return f"{self.name}: {re.sub('[0-9.]+', '', self.says)}"


class Mistake(NamedTuple):
    """A mistake in a whole case: the result and, where there are any, the weights with it."""

    identity: str
    name: str
    says: str
    result: Array
    weights: Array | None


def mistakes(
    case: Case, pairs: bool = False, only: Collection[str] | None = None
) -> Iterator[Mistake]:
    """What each mistake would give in this case (or each two together, if ``pairs``).

    ``only``: those of these identities.
    """
    made: dict[tuple[str, float], dict[int, Made]] = {}
    for i, part in enumerate(case.slices):
        for one in _pairs(part) if pairs else _single(part, part.known):
            if only is None or one.identity in only:
                made.setdefault((one.identity, one.low), {}).setdefault(i, one)
    for many in made.values():
        if len(many) == len(case.slices):
            yield _stacked(case, list(many.values()))
    if not pairs:
        yield from (one for one in _over_axes(case) if only is None or one.identity in only)


def carried(part: Slice, known: Known, step: str, value: Array) -> Known:
    """All steps, with this value for one of them and what follows from it."""
    steps, changed = {**known, step: value}, {step}
    for stage in part.stages:
        runs = all(need in steps or need in part.weights for need in stage.needs)
        if runs and stage.name not in changed and changed & set(stage.needs):
            needs = {n: np.ascontiguousarray(steps[n]) for n in stage.needs if n in steps}
            parts = {n: torch.from_numpy(a) for n, a in needs.items()}
            steps[stage.name] = stage.run({**part.weights, **parts}).numpy()
            changed.add(stage.name)
    return steps


def _single(part: Slice, known: Known, after: str = "") -> Iterator[Made]:
    """Every mistake in a step (after ``after``) of what is known so far."""
    if part.example.dialect.family != "attention":
        yield from _throughout(part)
        return
    steps = [s.name for s in part.stages if s.name in known]
    for step in steps[steps.index(after) + 1 :] if after else steps:
        if step not in part.example.given:
            for slip in slips(part.example, step, known):
                masked = slip.name == "wrong axis" and part.example.mask is not None
                if slip.value.shape == known[step].shape and slip.name not in NEVER and not masked:
                    yield Made(slip.name, slip.says, step, slip.value, known)
        if step == "weights":
            for low in LOWS:
                for name, says, weights in _of_weights(part, known, low):
                    yield Made(name, says, step, weights, known, low)


def _throughout(part: Slice) -> Iterator[Made]:
    """A mechanism that goes step by step makes its mistake at every step."""
    weights = {name: w for name, w in part.weights.items() if name not in part.known}
    ways = {slip.says: dict(weights) for stage in part.stages for slip in stage.slips}
    for name in dict.fromkeys(name for stage in part.stages for name in stage.weights):
        own = weights.get(name)
        if own is None:
            continue
        if own.dim() == 1:
            ways[f"{name} is forgotten"] = {**weights, name: own * 0}
        elif own.shape[0] == own.shape[1]:
            ways[f"{name.upper()} is transposed"] = {**weights, name: own.mT}
        for other, taken in weights.items():
            if other != name and own.dim() == 2 and taken.shape == own.shape:
                says = f"{other.upper()} is used for {name.upper()}"
                ways[says] = {**weights, name: taken}
    for says, given in ways.items():
        right = {n: torch.from_numpy(np.ascontiguousarray(a)) for n, a in part.known.items()}
        known = {**given, **right}
        for stage in part.stages:
            if stage.name not in part.sources:
                wrongly = next((s.run for s in stage.slips if s.says == says), stage.run)
                known[stage.name] = wrongly(known)
        yield Made(says, says, part.last, known[part.last].numpy(), part.known)


def _pairs(part: Slice) -> Iterator[Made]:
    for first in _single(part, part.known):
        if first.name in OF_PENCILS or part.example.dialect.family != "attention":
            continue
        known = carried(part, part.known, first.step, first.value)
        for second in _single(part, known, first.step):
            if second.name not in OF_PENCILS:
                name = f"{first.name}, {second.name}"
                yield second._replace(name=name, says=f"{first.says}, and {second.says}")


def _of_weights(part: Slice, known: Known, low: float) -> Iterator[tuple[str, str, Array]]:
    """Mistakes of code in making weights of the scores; masked ones are ``low``."""
    fitting = known["scaled" if part.example.dialect.scaled else "scores"]
    mask = allowed(part.example, torch.from_numpy(fitting))
    may = np.ones(fitting.shape, dtype=bool) if mask is None else mask.numpy()
    yield "no softmax", "softmax is left out", np.where(may, fitting, 0)
    factor = part.example.factor if part.example.dialect.scaled else None
    if factor is not None and "scores" in known:
        late = _softmax(known["scores"], may, low) * factor
        yield "scaled late", "the weights, and not the scores, are divided by sqrt(d_k)", late
        side = known["scores"].shape[-2]
        says = f"sqrt({side}), the number of queries, is taken for sqrt(d_k)"
        yield "wrong width", says, _softmax(known["scores"] / side**0.5, may, low)
    if not part.example.dialect.scaled:
        width = known["keys"].shape[-1] if "keys" in known else 1
        says = "the scores are divided by the root of their width, though nothing is scaled here"
        yield "scaled", says, _softmax(fitting / width**0.5, may, low)
    if mask is None:
        return
    columns = "softmax is taken over the queries (columns), not the keys"
    yield "wrong axis", columns, _softmax(fitting, may, low, -2)
    other = "the mask is read the other way round (True = may attend)"
    yield "mask inverted", other, _softmax(fitting, ~may, low)
    zeroed = "masked scores are set to 0, whose exponential is 1, and not to -inf"
    yield "masked to zero", zeroed, _softmax(np.where(may, fitting, 0))
    yield "mask added", "the mask is added to the scores as 0 and 1", _softmax(fitting + may)
    if part.example.mask == {"causal": True}:
        yield from _of_causal(fitting, low)
    if may.shape[-1] == may.shape[-2]:
        says = "rows and columns of the mask are mixed up"
        yield "mask transposed", says, _softmax(fitting, may.T, low)


def _of_causal(fitting: Array, low: float) -> Iterator[tuple[str, str, Array]]:
    n = fitting.shape[-1]
    leak = "the mask begins one place too late: each word sees the next one"
    yield "leaks the next word", leak, _softmax(fitting, np.tri(n, k=1, dtype=bool), low)
    blind = "the mask begins one place too early: no word sees itself"
    yield "not itself", blind, _softmax(fitting, np.tri(n, k=-1, dtype=bool), low)
    later = "words see later ones and not earlier ones: triu stands for tril"
    yield "mask turned", later, _softmax(fitting, ~np.tri(n, k=-1, dtype=bool), low)


def _over_axes(case: Case) -> Iterator[Mistake]:
    """Axes counted from the front, which are others as soon as there is a batch."""
    if case.slices[0].example.dialect.family != "attention":
        return
    step = "scaled" if "scaled" in case.slices[0].known else "scores"
    scores, depth = case.stacked(step), len(case.plan.lead)
    may = np.ones((), dtype=bool) if case.mask is None else _with_heads(case.mask, scores, depth)
    for axis, low in product((0, 1), LOWS):
        if axis > depth:
            continue
        says = f"softmax is taken over axis {axis} (dim={axis}) and not over the last one"
        yield _carried(case, f"axis {axis}", says, _softmax(scores, may, low, axis))
        if step == "scaled":
            side = (*case.plan.lead, case.plan.queries)[axis]
            says = f"the scores are divided by the root of axis {axis}, and not of the last one"
            raw = case.stacked("scores") / side**0.5
            yield _carried(case, f"width of axis {axis}", says, _softmax(raw, may, low))
    every = "softmax is taken over all numbers at once, and not row by row"
    axes = tuple(range(scores.ndim))
    yield _carried(case, "all axes", every, _softmax(scores, may, axis=axes))


def _with_heads(mask: Array, scores: Array, depth: int) -> Array:
    """The mask for scores that have an axis of heads of their own behind the leading ones."""
    return mask if scores.ndim == depth + 2 or mask.ndim == 2 else np.expand_dims(mask, -3)


def _carried(case: Case, name: str, says: str, weights: Array) -> Mistake:
    parts = weights.reshape(len(case.slices), *weights.shape[len(case.plan.lead) :])
    pairs = zip(case.slices, parts, strict=True)
    return _stacked(case, [Made(name, says, "weights", own, part.known) for part, own in pairs])


def _stacked(case: Case, many: list[Made]) -> Mistake:
    """The slices' results together, with the leading axes again."""
    pairs = zip(case.slices, many, strict=True)
    steps = [carried(part, one.before, one.step, one.value) for part, one in pairs]

    def of(step: str) -> Array:
        values = np.stack([known[step] for known in steps])
        return values.reshape(*case.plan.lead, *values.shape[1:])

    weights, first = of("weights") if "weights" in steps[0] else None, many[0]
    return Mistake(first.identity, first.name, first.says, of(case.slices[0].last), weights)


def _softmax(
    scores: Array,
    may: Array | bool = True,
    low: float = -math.inf,
    axis: int | tuple[int, ...] = -1,
) -> Array:
    """As a function without care computes it: NaN where nothing is allowed."""
    with np.errstate(all="ignore"):
        kept = np.where(may, scores, low)
        raised = np.exp(kept - kept.max(axis, keepdims=True))
        made: Array = raised / raised.sum(axis, keepdims=True)
    return made
