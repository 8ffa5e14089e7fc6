"""New: a worked example made up for a learner, as the text of its file.

``round`` numbers: the scores come out as multiples of ln 2 = 0.6931, so that the weights are
fractions of whole numbers. ``small`` ones: everything given is a small whole number. What cannot
come out round (a tanh, a sigmoid) is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np

from regard.errors import RegardError, nearest
from regard.trace import Array
from regard.worked.claims import BLANK
from regard.worked.dialects import DIALECTS
from regard.worked.example import Example
from regard.worked.parts import Parts
from regard.worked.source import plain
from regard.worked.stages import compute
from regard.worked.written import to_toml

NUMBERS = ("round", "small")
CLAIMS = ("none", "blanks", "solution")
WORDS = ("the", "cat", "sat")
LN2 = Decimal("0.6931")
DIGITS = 4
SIZES = {"width": 2, "memory width": 2, "key width": 2, "value width": 2, "output width": 2}
SIZES |= {"hidden": 2, "aligned": 2, "inner": 2}
TRIES = 200
"""Draws until the numbers are neither all alike nor too large."""


def new(
    mechanism: str,
    tokens: list[str] | None = None,
    numbers: str = "round",
    seed: int = 0,
    masked: bool = False,
) -> dict[str, Any]:
    """The content of a file, without claims."""
    if mechanism not in DIALECTS:
        hint = nearest(mechanism, DIALECTS) or f"; known: {', '.join(DIALECTS)}"
        raise RegardError(f"no mechanism is called {mechanism!r}{hint}")
    words = tokens or list(WORDS)
    if len(words) < 2:
        raise RegardError(f"an exercise needs two words or more, got {len(words)}")
    rng = np.random.default_rng([seed, list(DIALECTS).index(mechanism)])
    for _ in range(TRIES):
        content = _drawn(mechanism, words, numbers, rng)
        if masked:
            content["mask"] = "causal"
        if _lively(content) and _good(claimed_steps(content)):
            return content
    raise RegardError(f"no such numbers were found for {mechanism!r}: try another seed")


def text_of(content: dict[str, Any], claims: str = "none") -> str:
    """The file's text, with comments; its claims left out, blank, or filled in."""
    comments = {"": "\n".join(_head(content))}
    steps = claimed_steps(content)
    if claims == "none":
        listed = [f"# {_quoted(name)} = …  ({_shape(value)})" for name, value in steps.items()]
        return to_toml(content, comments) + "\n# [claims]\n" + "\n".join(listed) + "\n"
    filled = {name: _written(value) for name, value in steps.items()}
    if claims == "blanks":
        filled = {name: _blank(value) for name, value in steps.items()}
        comments["claims"] = f"put a number for each {BLANK}; to {DIGITS} digits is enough"
    return to_toml({**content, "claims": filled}, comments)


def claimed_steps(content: dict[str, Any]) -> dict[str, Array]:
    """The steps that a learner computes, in their order."""
    example = Example.from_dict(plain(content))
    repeated = () if example.dialect.projects else ("queries", "keys", "values")
    rows = {"input", "memory", "mask", *example.given, *repeated}
    return {
        step.path: step.value.astype(np.float64)
        for step in compute(example)
        if step.derived is None and step.path.split("/")[-1] not in rows
    }


def _drawn(
    mechanism: str, words: list[str], numbers: str, rng: np.random.Generator
) -> dict[str, Any]:
    dialect = DIALECTS[mechanism]
    options = {name: option.default for name, option in dialect.options.items()}
    content: dict[str, Any] = {"mechanism": mechanism}
    sizes = {**SIZES, **dict.fromkeys(("query", "key", "position", "place"), len(words))}
    asks = dialect.memory != dialect.query
    if asks:
        sizes["key"] = 2
    if dialect.scaled and "queries" in dialect.takes:
        sizes["key width"] = 4  # whose root is 2
    if dialect.heads and dialect.family == "attention":
        content["heads"] = 2
    if "scores" not in _needed(mechanism, options) or asks:
        content["tokens"] = words
    if "temperature" in dialect.options and numbers == "round":
        content["temperature"] = 2
    for key in _needed(mechanism, options):
        axes = dialect.axes_of(key, options)
        shape = [sum(sizes.get(part, 2) for part in axis.split("+")) for axis in axes]
        _for_heads(key, shape, content.get("heads", 1))
        if dialect.layout == "rows-are-outputs" and Parts.maps(axes):
            shape.reverse()
        content[key] = _numbers(key, shape, dialect.scaled, numbers, rng)
    if any(Parts.maps(dialect.axes_of(key, options)) for key in content if key in dialect.takes):
        content["layout"] = dialect.layout
    return content


def _needed(mechanism: str, options: dict[str, Any]) -> tuple[str, ...]:
    """The arrays that an exercise gives: as few as make every step."""
    dialect = DIALECTS[mechanism]
    if mechanism == "softmax":
        return "scores", "values"
    if dialect.family != "attention":
        return dialect.needed(options) or (dialect.query,)
    sources = tuple(dict.fromkeys((dialect.query, dialect.memory)))
    maps = ("w_q", "w_k", "w_v", "w_o")[: 4 if dialect.heads else 3] if dialect.projects else ()
    return (*sources, *maps, *dialect.needs)


def _for_heads(key: str, shape: list[int], heads: int) -> None:
    if key in ("w_q", "w_k", "w_v"):
        shape[-1] *= heads
    elif key == "w_o":
        shape[0] *= heads


def _numbers(
    key: str, shape: list[int], scaled: bool, numbers: str, rng: np.random.Generator
) -> Any:
    """Small whole numbers; of queries even ones and of keys multiples of ln 2, if round."""
    drawn = rng.integers(-1, 3, shape)
    if numbers == "round" and key == "scores":
        return _times(2 * rng.integers(0, 4, shape), LN2)  # halved by the temperature
    if numbers == "round" and key == "w_k":
        return _times(rng.integers(-1, 2, shape), LN2)
    if numbers == "round" and key == "w_q" and scaled:
        return (2 * rng.integers(-1, 2, shape)).tolist()
    return drawn.tolist()


def _times(whole: Any, unit: Decimal) -> Any:
    made = np.vectorize(lambda n: float(int(n) * unit), otypes=[float])(whole)
    return [[_tidy(n) for n in row] for row in made]


def _tidy(number: float) -> float | int:
    return int(number) if number == int(number) else round(number, 4)


def _lively(content: dict[str, Any]) -> bool:
    """Whether no vector is nothing, and no two are the same."""
    for key in ("x", "s", "h", "memory", "scores"):
        rows = [tuple(row) for row in content.get(key, [])]
        if len(set(rows)) < len(rows) or any(not any(row) for row in rows):
            return False
    return True


def _good(steps: dict[str, Array]) -> bool:
    """Whether no row is all alike, and no weight is nearly all or nothing."""
    for name, value in steps.items():
        if np.abs(value).max() > 30:
            return False
        last = name.split("/")[-1]
        if last == "weights" and value.shape[-1] > 1:
            shares = value[value > 0]
            alike = np.ptp(value, axis=-1) < 1e-3
            if shares.min() < 0.02 or (value.ndim > 1 and alike.all()):
                return False
    return True


def _head(content: dict[str, Any]) -> Iterator[str]:
    yield f"{content['mechanism']}: {DIALECTS[content['mechanism']].about}"
    yield "Change what you like: 'regard check' recomputes it, 'regard docs check' has the keys."
    written = str(content)
    if "0.6931" in written or "1.3862" in written or "2.0793" in written:
        yield "0.6931 is ln 2: e^0.6931 = 2, e^1.3862 = 4, e^2.0793 = 8, e^-0.6931 = 1/2."
    else:
        yield "e^1 = 2.7183, e^2 = 7.3891, e^3 = 20.0855, e^-1 = 0.3679, e^-2 = 0.1353;"
        yield "tanh 1 = 0.7616, tanh 2 = 0.9640, sigmoid 1 = 0.7311, sigmoid 2 = 0.8808."


def _written(value: Array) -> Any:
    if value.ndim:
        return [_written(part) for part in value]
    rounded = float(np.round(float(value), DIGITS)) + 0.0
    whole = abs(float(value) - round(float(value))) < 1e-9
    return round(float(value)) if whole else Decimal(f"{rounded:.{DIGITS}f}")


def _blank(value: Array) -> Any:
    return [_blank(part) for part in value] if value.ndim else BLANK


def _shape(value: Array) -> str:
    return " x ".join(map(str, value.shape)) or "one number"


def _quoted(name: str) -> str:
    return f'"{name}"' if "/" in name else name
