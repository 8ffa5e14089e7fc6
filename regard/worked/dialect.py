"""Dialect: what a worked example of one mechanism may give: arrays, their axes, and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Axes = tuple[str, ...]
"""A name for each axis; those of one name are of one length. ``width+hidden`` is their sum."""

ROWS = ("query", "key", "position", "place")
"""First axes of arrays that hold a vector in each row. All others of two axes are matrices, which
are declared as (inputs, outputs) and written as the layout says."""


@dataclass(frozen=True)
class Option:
    """A setting that is no array: one of ``choices``, or a number from ``least`` on."""

    default: Any = None
    choices: tuple[str, ...] = ()
    least: float = 0.0
    """The smallest number allowed; with ``whole`` a whole one."""
    whole: bool = False
    above: bool = False
    """Whether ``least`` itself is refused."""


@dataclass(frozen=True)
class Dialect:
    """The arrays and options that a file of one mechanism may hold, and what they are for."""

    takes: tuple[str, ...]
    query: str = "x"
    """The key of the vectors that ask; ``tokens`` has a word for each."""
    memory: str = "x"
    """The key of the vectors that are asked."""
    projects: bool = True
    """Whether queries, keys and values are made by matrices, or are the vectors themselves."""
    scaled: bool = True
    heads: bool = False
    needs: tuple[str, ...] = ()
    """The arrays that must be there; of attention, the weights that the score has."""
    family: str = "attention"
    """The module of regard.worked.mechanisms that runs it."""
    axes: Mapping[str, Axes] = field(default_factory=dict)
    """The axes of its arrays, where they are not the usual ones."""
    options: Mapping[str, Option] = field(default_factory=dict)
    variants: Mapping[tuple[str, str], Mapping[str, Axes]] = field(default_factory=dict)
    """Arrays that go with one choice of an option: {("align", "dot"): {"w_q": …, "w_k": …}}."""
    masked: bool = True
    """Whether a mask may be given."""
    layout: str = "columns-are-outputs"
    """How matrices are read where both ways fit and the file does not say."""
    about: str = ""
    """What it computes, in a line."""

    @property
    def settings(self) -> tuple[str, ...]:
        """The keys besides arrays that only some mechanisms have."""
        attention = self.family == "attention"
        known = (
            ("mask", self.masked),
            ("heads", self.heads),
            ("key_heads", self.heads and attention),
            ("memory_tokens", self.memory != self.query),
            ("d_k", self.scaled and "temperature" not in self.options),
            ("scale", self.scaled and "temperature" not in self.options),
            ("positions", attention and "x" in self.takes),
        )
        return (*(name for name, has in known if has), *self.options)

    def needed(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The arrays that must be there with these options."""
        chosen = [key for pair, keys in self.variants.items() if _holds(pair, options)
                  for key in keys]  # fmt: skip
        return tuple(dict.fromkeys((*self.needs, *chosen)))

    def refused(self, options: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        """The arrays that go with another choice of an option, and which."""
        needed = self.needed(options)
        return {
            key: pair
            for pair, keys in self.variants.items()
            for key in keys
            if key not in needed and not _holds(pair, options)
        }

    def axes_of(self, name: str, options: Mapping[str, Any]) -> Axes:
        """The axes of an array with these options."""
        for pair, keys in self.variants.items():
            if name in keys and _holds(pair, options):
                return keys[name]
        for keys in self.variants.values():
            if name in keys and name not in self.axes:
                return keys[name]  # it will be refused: as many axes as where it belongs
        return self.axes[name] if name in self.axes else AXES[name]


def _holds(pair: tuple[str, str], options: Mapping[str, Any]) -> bool:
    return bool(options.get(pair[0]) == pair[1])


AXES: dict[str, Axes] = {
    "x": ("query", "width"),
    "s": ("query", "width"),
    "memory": ("key", "memory width"),
    "h": ("key", "memory width"),
    "queries": ("query", "key width"),
    "keys": ("key", "key width"),
    "values": ("key", "value width"),
    "scores": ("query", "key"),
    "scaled": ("query", "key"),
    "w_q": ("width", "key width"),
    "w_k": ("memory width", "key width"),
    "w_v": ("memory width", "value width"),
    "w_o": ("value width", "output width"),
    "b_q": ("key width",),
    "b_k": ("key width",),
    "b_v": ("value width",),
    "b_o": ("output width",),
    "w_a": ("width", "hidden"),
    "u_a": ("memory width", "hidden"),
    "v_a": ("hidden",),
}
"""The axes of the arrays of attention."""
