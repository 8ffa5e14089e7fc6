"""Step: one named value of a computation, with its axes, its formula and its meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Step:
    """One named array.

    ``axes`` names each axis, e.g. ``("head", "query", "key")``. ``labels`` gives, for some axes, a
    text per position (the words). ``value`` may be handed over as a function: a derived array such
    as the weighted values (queries × keys × width) is then computed only where somebody looks.
    """

    def __init__(
        self,
        name: str,
        value: Array | Callable[[], Array],
        *,
        axes: Sequence[str],
        formula: str = "",
        meaning: str = "",
        labels: dict[str, list[str]] | None = None,
        scope: str = "",
    ) -> None:
        self.name = name
        self.axes = tuple(axes)
        self.formula = formula
        self.meaning = meaning
        self.labels = labels or {}
        self.scope = scope
        self._value = value

    @property
    def value(self) -> Array:
        """The numbers."""
        if callable(self._value):
            self._value = self._value()
        return self._value

    @property
    def path(self) -> str:
        """The name with the scope it was noted in: ``layer 0/weights``."""
        return f"{self.scope}/{self.name}" if self.scope else self.name

    def axis(self, name: str) -> int:
        """The position of the axis called ``name``."""
        return self.axes.index(name)

    def to_dict(self) -> dict[str, Any]:
        """The step as JSON-ready data; numbers keep their shortest exact decimal form."""
        content: dict[str, Any] = {"name": self.name, "axes": list(self.axes)}
        if self.scope:
            content["scope"] = self.scope
        if self.labels:
            content["labels"] = self.labels
        content["formula"] = self.formula
        content["meaning"] = self.meaning
        content["dtype"] = str(self.value.dtype)
        content["shape"] = list(self.value.shape)
        content["value"] = _numbers(self.value)
        return content

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Step:
        """The step that :meth:`to_dict` wrote."""
        value = _array(content["value"], np.dtype(content.get("dtype", "float32")))
        value = value.reshape(content.get("shape", value.shape))
        name, axes = content["name"], content["axes"]
        if len(axes) != value.ndim:
            raise ValueError(f"{name!r} names {len(axes)} axes, its value has {value.ndim}")
        return cls(
            name,
            value,
            axes=axes,
            formula=content.get("formula", ""),
            meaning=content.get("meaning", ""),
            labels=content.get("labels"),
            scope=content.get("scope", ""),
        )

    def __repr__(self) -> str:
        shape = " x ".join(f"{n} {a}" for n, a in zip(self.value.shape, self.axes, strict=True))
        return f"Step({self.path!r}, {shape or 'one number'})"


def _numbers(value: Array) -> Any:
    """Nested lists of numbers that read back exactly.

    float32 is written with its own shortest digits (0.1, not 0.10000000149011612). JSON has no
    infinities, and a masked score is -inf: those become the strings that both Python's ``float``
    and JavaScript's ``Number`` read.
    """
    if value.ndim:
        return [_numbers(part) for part in value]
    item = value.item()
    if not isinstance(item, float):
        return item
    if not np.isfinite(item):
        return "NaN" if np.isnan(item) else ("Infinity" if item > 0 else "-Infinity")
    return float(str(value)) if value.dtype.itemsize < 8 else item


def _array(content: Any, dtype: np.dtype[Any]) -> Array:
    """The array that :func:`_numbers` wrote."""
    if dtype.kind == "f":
        content = np.vectorize(float, otypes=[np.float64])(np.array(content, dtype=object))
    return np.asarray(content, dtype=dtype)
