"""Parts: what goes into a worked example, and what is known of it before it is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from regard.trace import Array
from regard.worked.dialect import ROWS, Axes, Dialect
from regard.worked.dialects import DIALECTS, MATRICES


@dataclass(frozen=True)
class Parts:
    """The arrays of a worked example and how to read them."""

    mechanism: str
    tokens: list[str]
    given: dict[str, Array]
    """x, the matrices as written (``layout`` says how to read them), or later steps."""
    layout: str = "columns-are-outputs"
    heads: int = 1
    key_heads: int | None = None
    """Heads of keys and values, if they are fewer."""
    mask: dict[str, Any] | None = None
    """Its rules by name: causal, padding, window, matrix."""
    d_k: float | None = None
    scale: float | None = None
    """What scores are multiplied by, in place of 1/sqrt(d_k)."""
    options: dict[str, Any] = field(default_factory=dict)
    """The settings that only this mechanism has."""

    @property
    def dialect(self) -> Dialect:
        """What the mechanism takes and where its vectors come from."""
        return DIALECTS[self.mechanism]

    @property
    def x(self) -> Array:
        """(tokens, width): the vectors that ask."""
        return self.given[self.dialect.query]

    @property
    def matrices(self) -> dict[str, Array]:
        """w_q, w_k, w_v, w_o as written."""
        return {name: self.given[name] for name in MATRICES if name in self.given}

    def option(self, name: str) -> Any:
        """A setting of this mechanism, as given or as it usually is."""
        return self.options.get(name, self.dialect.options[name].default)

    def axes_of(self, name: str) -> Axes:
        """The axes of an array; a matrix's are (inputs, outputs)."""
        return self.dialect.axes_of(name, {n: self.option(n) for n in self.dialect.options})

    def is_matrix(self, name: str) -> bool:
        """Whether the array maps vectors to vectors, and the layout says which way."""
        return self.maps(self.axes_of(name))

    @staticmethod
    def maps(axes: Axes) -> bool:
        """Whether an array of these axes maps vectors to vectors."""
        # s W_a h has a vector on each side: its matrix is written as the formula has it.
        between = axes == ("width", "memory width")
        return len(axes) == 2 and axes[0] not in ROWS and not between

    def turned(self, name: str) -> Array:
        """The matrix as (inputs, outputs), whatever the layout."""
        w = self.given[name]
        return w.T if self.layout == "rows-are-outputs" and self.is_matrix(name) else w

    def outputs(self, name: str) -> int:
        """How many numbers the matrix ``name`` makes of a vector, over all heads."""
        return 1 if self.layout == "row-per-word" else int(self.turned(name).shape[1])

    def heads_of(self, step: str) -> int:
        """How many heads a step has: keys and values may have fewer."""
        return (self.key_heads or self.heads) if step in ("keys", "values") else self.heads

    @property
    def width_of_keys(self) -> int | None:
        """How many numbers a key of one head has: what d_k should be. None if that is unknown."""
        for name, heads in (("keys", self.heads_of("keys")), ("queries", self.heads)):
            if name in self.given:
                return int(self.given[name].shape[-1])
            if f"w_{name[0]}" in self.given:
                return self.outputs(f"w_{name[0]}") // heads
        return int(self.x.shape[1]) if self.dialect.query in self.given else None

    @property
    def factor(self) -> float | None:
        """What the scores are multiplied by; None if that is unknown."""
        if "temperature" in self.dialect.options:
            return 1 / float(self.option("temperature"))
        d_k = self.d_k or self.width_of_keys
        if self.scale is not None:
            return self.scale
        return None if d_k is None else 1 / math.sqrt(d_k)
