"""Subject: what a page shows: texts, and for each attention layer a sheet of its heads.

Plain data between whatever was observed or recorded and the page's file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from regard.pieces.marks import readable, separators_of, special_of, word_starts
from regard.trace import Array

if TYPE_CHECKING:
    from regard.views.page.pack import Pack


@dataclass
class SheetText:
    """One text that a head attends from or to."""

    tokens: list[str]
    name: str = ""
    """"source" and "target" where there are two."""
    words: list[int] | None = None
    """Where each word begins; found by the marks of the usual tokenizers if not given."""
    special: list[int] | None = None
    """Tokens that stand for no text, such as [CLS]; the usual ones if not given."""
    separators: list[int] | None = None
    """Special tokens but the first of all, and punctuation."""

    @classmethod
    def numbered(cls, count: int) -> SheetText:
        """A text of which only the length is known."""
        return cls([str(i) for i in range(count)], words=list(range(count)))

    def to_dict(self) -> dict[str, Any]:
        special = special_of(self.tokens) if self.special is None else self.special
        separators = self.separators
        if separators is None:
            separators = separators_of(self.tokens, special)
        return {
            "name": self.name,
            "tokens": self.tokens,
            "shown": readable(self.tokens),
            "words": word_starts(self.tokens) if self.words is None else self.words,
            "special": special,
            "separators": separators,
        }


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
    """Which of the subject's texts attends."""
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

    def to_dict(self, pack: Pack) -> dict[str, Any]:
        return {
            "name": self.name,
            "number": self.number,
            "kind": self.kind,
            "part": self.part,
            "recurrent": self.recurrent,
            "texts": [self.queries, self.keys],
            "shape": list(self.shape),
            "heads": list(self.heads),
            "scale": self.scale,
            "causal": self.causal,
            "before": self.before,
            "after": self.after,
            "softcap": self.softcap,
            "query": pack.add(self.query),
            "key": pack.add(self.key),
            "value": pack.add(self.value),
            "weights": pack.add(self.weights, exact=self.query is None),
            "allowed": pack.add(_three(self.allowed)),
            "bias": pack.add(_three(self.bias)),
            "lse": pack.add(self.lse, exact=True),
            "context": pack.add(self.context, exact=True),
            "checked": list(self.checked),
            "known": {
                name: {
                    "value": pack.add(k.value),
                    "formula": k.formula,
                    "meaning": k.meaning,
                    "after": k.after,
                }
                for name, k in self.known.items()
            },
        }


@dataclass
class Subject:
    """One text read by one model (or two texts, in translation)."""

    title: str
    texts: list[SheetText]
    sheets: list[Sheet]
    model: str = ""
    mechanism: str = ""
    notes: list[str] = field(default_factory=list)
    """What must be said beside it, such as that weights are random."""
    start: dict[str, Any] = field(default_factory=dict)
    """What is chosen when the page opens: layer (place in ``sheets``), head, query, key, view."""
    picture: Array | None = None
    """(rows, columns): weights of the first head, for where no script runs; no part of the page."""

    @property
    def numbers(self) -> int:
        return sum(sheet.numbers for sheet in self.sheets)

    def to_dict(self, pack: Pack) -> dict[str, Any]:
        return {
            "title": self.title,
            "model": self.model,
            "mechanism": self.mechanism,
            "notes": self.notes,
            "start": self.start,
            "texts": [text.to_dict() for text in self.texts],
            "layers": [sheet.to_dict(pack) for sheet in self.sheets],
        }


def as_array(tensor: Any) -> Array:
    """A NumPy array of a tensor of any float type."""
    array: Array = tensor.detach().float().cpu().numpy()
    return array


def some(count: int, most: int = 16) -> list[int]:
    """At most ``most`` of ``count`` rows, evenly spread, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]


def _three(array: Array | None) -> Array | None:
    """With axes for heads, queries and keys, each of them one long where it broadcasts."""
    return None if array is None else array.reshape((1,) * (3 - array.ndim) + array.shape)
