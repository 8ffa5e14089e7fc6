"""Step: one named value of a computation, with its axes, its formula and its meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from regard.trace.derived import Array, Derived, Part

SMALL = 100_000
"""Numbers up to which a file holds a derived value itself."""


class Step:
    """One named array.

    ``axes`` names each axis, e.g. ``("head", "query", "key")``. ``labels`` gives, for some axes, a
    text per position (the words). ``value`` may be handed over as a function: a :class:`Derived`
    array such as the weighted values (queries × keys × width) is computed only where somebody
    looks, each time, and never kept.
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
        return self._value() if callable(self._value) else self._value

    @property
    def derived(self) -> Derived | None:
        """What the value is made from, if it is made only where somebody looks."""
        return self._value if isinstance(self._value, Derived) else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value; a derived one is not made for it."""
        return (self.derived or self.value).shape

    @property
    def path(self) -> str:
        """The name with the scope it was noted in: ``layer 0/weights``."""
        return _path(self.scope, self.name)

    def axis(self, name: str) -> int:
        """The position of the axis called ``name``."""
        return self.axes.index(name)

    def to_dict(self, before: Mapping[str, Step] | None = None) -> dict[str, Any]:
        """The step as JSON-ready data; numbers keep their shortest exact decimal form.

        ``before`` holds the steps already written, by path: a large derived value is then given
        by its rule alone, if what it is made from is there.
        """
        content: dict[str, Any] = {"name": self.name, "axes": list(self.axes)}
        if self.scope:
            content["scope"] = self.scope
        if self.labels:
            content["labels"] = self.labels
        content["formula"] = self.formula
        content["meaning"] = self.meaning
        if self.derived and math.prod(self.shape) > SMALL and self._made_from(before or {}):
            content["shape"] = list(self.shape)
            content["derived"] = self.derived.rule
            return content
        value = self.value
        content["dtype"] = str(value.dtype)
        content["shape"] = list(value.shape)
        content["value"] = _numbers(value)
        return content

    def _made_from(self, before: Mapping[str, Step]) -> bool:
        """Whether the last steps of those names are the arrays that this one is made from."""
        made = self.derived
        return made is not None and all(
            (step := before.get(_path(self.scope, part.name))) and step._value is part.value
            for part in (made.weights, made.values)
        )

    @classmethod
    def from_dict(cls, content: dict[str, Any], before: Mapping[str, Step] | None = None) -> Step:
        """The step that :meth:`to_dict` wrote; ``before`` holds those read already, by path."""
        value: Array | Derived
        if "value" in content or "derived" not in content:
            value = _array(content["value"], np.dtype(content.get("dtype", "float32")))
            value = value.reshape(content.get("shape", value.shape))
        else:
            value = _derived(content, before or {})
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
        return f"Step({self.path!r}, {self.size or 'one number'})"

    @property
    def size(self) -> str:
        """The shape in words: ``2 query x 3 key``."""
        return " x ".join(f"{n} {a}" for n, a in zip(self.shape, self.axes, strict=True))


def _path(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


def _derived(content: dict[str, Any], before: Mapping[str, Step]) -> Derived:
    """The value of a step that a file gives by its rule, ``weights * values``."""
    name, rule = content["name"], content["derived"]
    parts = []
    for part in str(rule).split(" * "):
        step = before.get(_path(content.get("scope", ""), part))
        if step is None:
            raise ValueError(f"{name!r} is made from {rule!r}, and no {part!r} comes before it")
        parts.append(Part(part, step.value))
    if len(parts) != 2:
        raise ValueError(f"{name!r} must be made from two steps, 'a * b', got {rule!r}")
    made = Derived(*parts)
    if list(made.shape) != content.get("shape", list(made.shape)):
        raise ValueError(f"{name!r} has shape {content['shape']}, {rule!r} {list(made.shape)}")
    return made


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
