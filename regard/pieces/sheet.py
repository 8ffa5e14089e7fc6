"""Subject: what a page shows: what was read, and for each attention layer a sheet of its heads.

Plain data between whatever was observed or recorded and the page's file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regard.pieces.outcome import Trials
from regard.pieces.pieces import Pieces
from regard.pieces.whole import WholeWay
from regard.trace import Array


@dataclass
class Known:
    """Numbers of a layer that the page shows but does not compute: its input, its output."""

    value: Array
    """(positions, width)"""
    formula: str = ""
    meaning: str = ""
    after: bool = False
    """Whether it comes after attention or before it."""


@dataclass
class Sheet:
    """One layer's attention: the vectors of all its heads and the rule between them, or weights."""

    name: str
    number: int
    queries: int
    """Which of the subject's ``texts`` attends."""
    keys: int
    """Which is attended to."""
    kind: str = "self"
    part: str = ""
    heads: Sequence[int] = (0,)
    """As the model counts them."""
    query: Array | None = None
    """(heads, q, d)"""
    key: Array | None = None
    """(key heads, k, d)"""
    value: Array | None = None
    """(key heads, k, w)"""
    weights: Array | None = None
    """(heads, q, k), where there are no queries and keys of a dot product."""
    scale: float = 1.0
    causal: bool = False
    before: int | None = None
    after: int | None = None
    softcap: float | None = None
    allowed: Array | None = None
    """Boolean, broadcastable to (heads, q, k)."""
    bias: Array | None = None
    lse: Array | None = None
    """(heads, rows): log-sum-exp of the scores as Python had it, at ``checked`` rows."""
    context: Array | None = None
    """(heads, rows, w): what the model itself mixed, at ``checked`` rows."""
    checked: Sequence[int] = ()
    """Rows for which the page carries what it proves its own numbers by."""
    known: dict[str, Known] = field(default_factory=dict)
    recurrent: bool = False
    """Whether it was read word by word, each row attending to a growing memory."""

    @property
    def shape(self) -> tuple[int, int]:
        """(queries, keys)"""
        if self.weights is not None:
            return self.weights.shape[-2], self.weights.shape[-1]
        assert self.query is not None
        assert self.key is not None
        return self.query.shape[-2], self.key.shape[-2]

    @property
    def numbers(self) -> int:
        parts = (self.query, self.key, self.value, self.weights, self.bias, self.context)
        known = sum(math.prod(k.value.shape) for k in self.known.values())
        return known + sum(math.prod(part.shape) for part in parts if part is not None)

    def set_rule(self, rule: Any) -> None:
        """Take over scale, mask, bias and soft cap of an attention's ``Rule``."""
        self.scale, self.softcap = float(rule.scale), rule.softcap
        self.bias = None if rule.bias is None else as_array(rule.bias)
        mask = rule.mask
        if mask is not None:
            self.causal, self.before, self.after = mask.causal, mask.before, mask.after
            self.allowed = None if mask.allowed is None else mask.allowed.detach().cpu().numpy()


@dataclass
class MeasureSheets:
    """A subject's layers with a derived measure (pieces/measures.py) in place of their weights."""

    name: str
    sheets: list[Sheet | None] = field(default_factory=list)
    """One for each of the subject's, None for one that it is not of; empty: it was not computed."""
    reason: str = ""
    """Why it could not be computed."""
    scored: str = ""
    """Of a gradient: the number that it is of."""

    @property
    def numbers(self) -> int:
        return sum(sheet.numbers for sheet in self.sheets if sheet is not None)


@dataclass
class Subject:
    """One text read by one model (or two texts, in translation)."""

    title: str
    texts: list[Pieces]
    sheets: list[Sheet]
    model: str = ""
    mechanism: str = ""
    notes: list[str] = field(default_factory=list)
    """What must be said beside it, such as that weights are random."""
    start: dict[str, Any] = field(default_factory=dict)
    """What is chosen when the page opens: layer (place in ``sheets``), head, query, key, view."""
    whole: WholeWay | None = None
    """The way of one word through the whole model, if the page has it."""
    trials: Trials | None = None
    """What came out of the model when something was changed, if the page has it."""
    measures: list[MeasureSheets] = field(default_factory=list)
    """What a page can show in place of the weights, or why it cannot."""
    picture: Array | None = None
    """(rows, columns): weights of the first head, for where no script runs; no part of the page."""

    @property
    def numbers(self) -> int:
        derived = sum(measure.numbers for measure in self.measures)
        return sum(sheet.numbers for sheet in self.sheets) + derived


def as_array(tensor: Any) -> Array:
    """A NumPy array of a tensor of any float type."""
    array: Array = tensor.detach().float().cpu().numpy()
    return array


def some(count: int, most: int = 16) -> list[int]:
    """At most ``most`` of ``count`` rows, evenly spread, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]
