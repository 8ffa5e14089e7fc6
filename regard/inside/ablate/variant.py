"""Variant: what is taken away from a model, one thing or everything of a kind in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from regard.errors import RegardError
from regard.inside.intervene.hands import Hands
from regard.inside.observe.places import LayerPlace
from regard.text import Word


@dataclass(frozen=True)
class HeadAt:
    """A head of a model: which attention, layer, head."""

    part: str
    layer: int
    head: int


@dataclass(frozen=True)
class Variant:
    """Some heads removed, or some pairs masked in some or all heads; the rest as it is."""

    heads: tuple[HeadAt, ...] = ()
    """Removed; or, with pairs, those in which they are masked."""
    query: Word | None = None
    key: Word | None = None
    parts: tuple[str, ...] = ()
    """The attention in whose every head the pairs are masked, if no heads are named."""
    how: dict[str, Any] = field(default_factory=dict, compare=False)
    """``by`` of a removed head; ``renormalise`` of a mask."""

    @property
    def masks(self) -> bool:
        return self.query is not None or self.key is not None

    def apply(self, hands: Hands, row: int | None) -> None:
        """Do it to one row of the batch, or to all."""
        places: dict[str, Any] = {"query": _positions(self.query), "key": _positions(self.key)}
        for one in self.heads:
            if self.masks:
                hands.mask(one.layer, one.head, **places, kind=one.part, batch=row, **self.how)
            else:
                hands.replace(one.layer, one.head, kind=one.part, batch=row, **self.how)
        for part in self.parts:
            hands.mask(**places, kind=part, batch=row, **self.how)

    def lowest(self, places: Iterable[LayerPlace]) -> list[str]:
        """The names of the layers that it changes."""
        wanted = {(one.part, one.layer) for one in self.heads}
        found = []
        for place in places:
            if any(place.answers(layer, part) for part, layer in wanted) or any(
                place.answers(None, part) for part in self.parts
            ):
                found.append(place.name)
        return found


def _positions(word: Word | None) -> tuple[int, ...] | None:
    return None if word is None else tuple(range(word.start, word.stop))


def random_others(
    heads: list[HeadAt], chosen: Iterable[HeadAt], draws: int, seed: int
) -> Iterator[tuple[HeadAt, ...]]:
    """As many other heads as were chosen, drawn at random."""
    kept = set(chosen)
    others = [head for head in heads if head not in kept]
    if len(others) < len(kept):
        return
    chance = Random(seed)
    for _ in range(draws):
        yield tuple(chance.sample(others, len(kept)))


def parse_head(text: str) -> tuple[int, int]:
    """``3.1``: layer 3, head 1."""
    layer, dot, head = text.partition(".")
    if not dot or not layer.isdecimal() or not head.isdecimal():
        raise RegardError(f"--head takes LAYER.HEAD, both from 0, such as 3.1, got {text!r}")
    return int(layer), int(head)
