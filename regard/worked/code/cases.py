"""Cases: what somebody's function is called with, from the smallest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from regard.trace import Array
from regard.worked.dialect import Dialect
from regard.worked.dialects import DIALECTS
from regard.worked.example import Example
from regard.worked.parts import Parts
from regard.worked.stage import Stage, weights_of
from regard.worked.stages import compute, stages

VECTORS = ("x", "memory", "s", "h", "queries", "keys", "values")
"""What may have a batch axis and a head axis in front; weights have none."""


class Plan(NamedTuple):
    """What a case is made like."""

    name: str
    circumstances: tuple[str, ...] = ()
    """What is not usual in it, of: uneven, axes, mask, empty, large, float32, gradients."""
    lead: tuple[int, ...] = ()
    queries: int = 3
    keys: int = 3
    width: int = 4
    values: int = 3
    mask: str = ""


PLANS = (
    Plan("two words", queries=2, keys=2, values=4),
    Plan("three words", values=4),
    Plan("one query, four keys", ("uneven",), queries=1, keys=4, width=5),
    Plan("more keys than queries", ("uneven",), queries=2, keys=5, width=7),
    Plan("more queries than keys", ("uneven",), queries=5, keys=3, width=7, values=2),
    Plan("a batch axis", ("axes",), (2,), width=5),
    Plan("a batch axis, more keys", ("axes", "uneven"), (2,), queries=3, keys=5),
    Plan("batch and head axes", ("axes",), (2, 3), width=7),
    Plan("batch and head axes, more keys", ("axes", "uneven"), (2, 3), queries=2, keys=5),
    Plan("causal mask", ("mask",), queries=2, keys=2, values=2, mask="causal"),
    Plan("causal mask, three words", ("mask",), mask="causal"),
    Plan("padding", ("mask",), mask="padding", width=5),
    Plan("window", ("mask",), mask="window", queries=5, keys=5),
    Plan("any mask", ("mask", "uneven"), mask="any", queries=3, keys=5, width=5),
    Plan("a mask for a batch", ("axes", "mask"), (2,), mask="causal"),
    Plan("a mask for each sentence", ("axes", "mask"), (2,), 3, 5, mask="each"),
    Plan("a mask for each sentence, heads", ("axes", "mask"), (2, 3), 3, 5, mask="each"),
    Plan("a row that may attend to nothing", ("mask", "empty"), (), 2, 2, 4, 2, "empty"),
    Plan("such a row, batch and heads", ("axes", "mask", "empty"), (2, 3), mask="empty"),
    Plan("large scores", ("large",), width=5),
    Plan("large scores, mask", ("large", "mask"), mask="causal"),
    Plan("float32", ("float32",), width=5),
    Plan("float32, mask", ("float32", "mask"), queries=5, keys=5, mask="window"),
    Plan("gradients", ("gradients",), width=5),
    Plan("gradients, mask", ("gradients", "mask"), mask="causal"),
    Plan("gradients, such a row", ("gradients", "mask", "empty"), mask="empty"),
)


@dataclass(frozen=True)
class Case:
    """Arrays by the keys of a worked example, the vectors with leading axes, and a mask."""

    plan: Plan
    mechanism: str
    given: dict[str, Array]
    mask: Array | None
    heads: int = 1
    slices: list[Slice] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return "float32" if "float32" in self.plan.circumstances else "float64"

    @property
    def tolerance(self) -> float:
        """How far a number may be off, in proportion to the largest."""
        return 2e-3 if self.kind == "float32" else 1e-6

    @property
    def empty(self) -> Array | None:
        """Which queries may attend to nothing, with leading axes."""
        if self.mask is None:
            return None
        shape = (*self.plan.lead, *self.mask.shape[-2:])
        none: Array = np.logical_not(np.broadcast_to(self.mask, shape).any(-1))
        return none

    def stacked(self, step: str) -> Array:
        """A step of all slices, with the leading axes again."""
        values = np.stack([part.known[step] for part in self.slices])
        return values.reshape(*self.plan.lead, *values.shape[1:])


class Slice(NamedTuple):
    """One worked example of a case, the steps of its computation and how they are made."""

    example: Example
    known: dict[str, Array]
    last: str
    stages: list[Stage]
    weights: dict[str, Tensor]

    @property
    def sources(self) -> list[str]:
        """The steps that no stage makes."""
        made = {stage.name for stage in self.stages}
        return [name for name in self.known if name not in made]


def make(
    plan: Plan,
    mechanism: str,
    keys: tuple[str, ...],
    weights: dict[str, Array],
    heads: int,
    seed: int,
) -> Case:
    """The case of a plan: numbers of one digit, and what regard makes of them."""
    rng = np.random.default_rng(seed)
    dialect = DIALECTS[mechanism]
    queries, length = plan.queries, plan.keys
    if dialect.memory == dialect.query and "queries" not in keys:
        queries = length = max(plan.queries, plan.keys)
    sizes = {"query": queries, "key": length, "position": queries, "width": plan.width}
    sizes |= {"memory width": plan.width + 1, "key width": plan.width, "value width": plan.values}
    if dialect.memory == dialect.query:
        sizes["memory width"] = plan.width
    if weights:
        sizes["width"] = weights["w_q"].shape[0]
        sizes["memory width"] = weights["w_k"].shape[0]
    factor = 100 if "large" in plan.circumstances else 1
    given: dict[str, Array] = {}
    for key in keys:
        shape = _shape(dialect, key, sizes, heads)
        lead = plan.lead if key in VECTORS else ()
        drawn = rng.uniform(-2, 2, (*lead, *shape)).round(1)
        given[key] = drawn * factor if key in VECTORS and key != "values" else drawn
    mask = _mask(plan.mask, plan.lead, queries, length, rng)
    case = Case(plan, mechanism, given, mask, heads)
    case.slices.extend(_slices(case, weights))
    return case


OTHERS = {"hidden": 3, "output width": 5, "aligned": 5, "inner": 7, "place": 11}
"""How long the other axes are."""


def _shape(dialect: Dialect, key: str, sizes: dict[str, int], heads: int) -> tuple[int, ...]:
    """The array as a file has it, read by the mechanism's usual layout."""
    axes = dialect.axes_of(key, _options(dialect))
    known = OTHERS | sizes
    shape = [sum(known.get(part, 2) for part in axis.split("+")) for axis in axes]
    if key in ("w_q", "w_k", "w_v", "b_q", "b_k", "b_v"):
        shape[-1] *= heads
    if key == "w_o" and dialect.family == "attention":
        shape[0] *= heads
    turned = dialect.layout == "rows-are-outputs" and Parts.maps(axes)
    return tuple(reversed(shape)) if turned else tuple(shape)


def _options(dialect: Dialect) -> dict[str, Any]:
    return {name: option.default for name, option in dialect.options.items()}


def _mask(
    kind: str, lead: tuple[int, ...], queries: int, keys: int, rng: np.random.Generator
) -> Array | None:
    """True = may attend; every query sees something, but for ``empty``."""
    if not kind:
        return None
    rows, columns = np.arange(queries)[:, None], np.arange(keys)[None]
    axes = (lead[0], *(1 for _ in lead[1:])) if kind == "each" else ()
    made: Array = rng.random((*axes, queries, keys)) < 0.5
    made |= columns == rows % keys
    made[..., 0, -1] = False
    regular: dict[str, Array] = {
        "causal": columns <= rows,
        "own": columns <= rows,
        "padding": np.repeat(columns < keys - 1, queries, 0),
        "window": np.abs(columns - rows) <= 1,
    }
    if kind == "empty":
        made[..., 1, :] = False
    return regular.get(kind, made)


def _slices(case: Case, weights: dict[str, Array]) -> Iterator[Slice]:
    for index in np.ndindex(case.plan.lead):
        given = {k: v[index] if k in VECTORS else v for k, v in case.given.items()} | weights
        mask: dict[str, Any] | None = None
        if case.mask is not None:
            whole = (*case.plan.lead, *case.mask.shape[-2:])
            own = np.broadcast_to(case.mask, whole)[index]
            mask = {"causal": True} if _is_causal(own) else {"matrix": own.copy()}
        example = Example(
            case.mechanism,
            [f"x{i + 1}" for i in range(_tokens(case))],
            given,
            layout=DIALECTS[case.mechanism].layout,
            heads=case.heads,
            mask=mask,
            options=_options(DIALECTS[case.mechanism]),
        )
        trace = compute(example)
        known = {s.path: s.value.astype(np.float64) for s in trace if s.derived is None}
        known.pop("mask", None)
        made = [stage for stage in stages(example) if stage.noted]
        last = [step.path for step in trace if not step.scope][-1]
        yield Slice(example, known, last, made, weights_of(example))


def _tokens(case: Case) -> int:
    dialect = DIALECTS[case.mechanism]
    if dialect.query in case.given:
        return int(case.given[dialect.query].shape[-2])
    return int(case.given["keys"].shape[-2])


def _is_causal(mask: Array) -> bool:
    return mask.shape[0] == mask.shape[1] and bool((mask == np.tri(len(mask), dtype=bool)).all())
