"""Ablation: what changed in a model's output when parts of it were taken away.

Plain data: what inside/ablate measures and what the terminal, pictures and JSON show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from regard.text import Word


@dataclass(frozen=True)
class Effect:
    """One thing that was taken away, and what that did."""

    layer: int | None
    """None: in all layers."""
    head: int | None
    """None: all heads."""
    value: float
    """The metric of the changed output."""
    change: float
    """value − base."""
    weight: float | None = None
    """What attention gave what was taken away."""
    kl: float | None = None
    part: str = ""
    """Of a model with encoder and decoder: whose attention."""
    query: Word | None = None
    key: Word | None = None
    heads: int = 1
    """How many heads it was taken from."""
    text: str | None = None
    """What a translator then writes, if it was asked."""

    def to_json(self) -> dict[str, Any]:
        """``{"layer", "head", "query"?, "key"?, "weight", "value", "change", "kl"}``."""
        entry: dict[str, Any] = {"layer": self.layer, "head": self.head}
        if self.part:
            entry["part"] = self.part
        entry |= {
            name: word.start
            for name, word in (("query", self.query), ("key", self.key))
            if word is not None
        }
        entry |= {"weight": self.weight, "value": self.value, "change": self.change, "kl": self.kl}
        return entry | ({} if self.text is None else {"text": self.text})


@dataclass(frozen=True)
class Baseline:
    """The same done to as many others, drawn at random."""

    what: str
    """Of what was drawn, such as "1 other head"."""
    changes: list[float]

    @property
    def mean(self) -> float:
        return sum(self.changes) / len(self.changes)

    @property
    def spread(self) -> float:
        """The standard deviation over the draws."""
        squares = sum((change - self.mean) ** 2 for change in self.changes)
        return math.sqrt(squares / len(self.changes))

    def to_json(self) -> dict[str, Any]:
        draws = len(self.changes)
        return {"what": self.what, "draws": draws, "mean": self.mean, "spread": self.spread}


@dataclass(frozen=True)
class EstimatedEffects:
    """Effects that were estimated by one backward pass, and how they rank beside exact ones."""

    effects: list[Effect]
    """Their changes are estimates; there is no KL."""
    sample: int
    """How many heads were also measured."""
    correlation: float | None
    """Of |estimate| and |change| over the sample."""


@dataclass(frozen=True)
class Ablation:
    """All effects on one text."""

    model: str
    text: str
    metric: str
    target: str | None
    base: float
    effects: list[Effect]
    correlation: float | None = None
    """Spearman's, of weight and |change|, over the effects of single heads or links."""
    baseline: Baseline | None = None
    estimate: EstimatedEffects | None = None
    kind: str = "head"
    """What was taken away in turn: head, layer, link or word; of a history item."""
    said: list[str] = field(default_factory=list)
    """What a reader must know: how heads were removed, what was left out."""

    def ranked(self) -> list[Effect]:
        """By the size of the change; what was taken from everywhere at once comes first."""
        return sorted(self.effects, key=lambda e: (e.head is not None, -abs(e.change)))

    def with_texts(self, texts: dict[int, str]) -> Ablation:
        """With what a translator writes, by the number of the effect."""
        effects = [replace(e, text=texts.get(i)) for i, e in enumerate(self.effects)]
        return replace(self, effects=effects)

    def to_json(self) -> dict[str, Any]:
        """``{"model", "text", "metric", "target", "base", "effects", "correlation", …}``."""
        content: dict[str, Any] = {
            "model": self.model,
            "text": self.text,
            "metric": self.metric,
            "target": self.target,
            "base": self.base,
            "effects": [effect.to_json() for effect in self.effects],
            "correlation": self.correlation,
        }
        if self.baseline is not None:
            content["baseline"] = self.baseline.to_json()
        if self.estimate is not None:
            sample = {"sample": self.estimate.sample, "correlation": self.estimate.correlation}
            effects = [effect.to_json() for effect in self.estimate.effects]
            content["estimate"] = {"effects": effects, **sample}
        return content
