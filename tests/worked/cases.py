"""Worked examples of every mechanism, generated from what its dialect declares."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import torch

from regard.worked.dialects import DIALECTS
from regard.worked.example import Example
from regard.worked.stage import weights_of
from regard.worked.stages import compute, stages

Numbers = np.ndarray[Any, np.dtype[np.float64]]

SIZES = {
    **{"position": 3, "width": 2, "hidden": 3, "aligned": 5, "query": 2, "key": 3},
    **{"state": 3, "annotation": 5, "inner": 4, "memory width": 3, "key width": 2},
    **{"value width": 2, "output width": 3, "place": 5, "pairs": 4},
    **{"inner attention": 4},
}
"""How long an axis of a generated example is."""

FIRST = ("input", "memory", "embedding", "word", "sublayer", "upstream", "mask")
"""Steps that are noted as given."""

Variant = tuple[str, dict[str, str]]


def variants() -> list[Variant]:
    """Every mechanism, with every choice that it has."""
    return list(_variants())


def _variants() -> Iterator[Variant]:
    for name, dialect in DIALECTS.items():
        chosen = {key: kind.choices for key, kind in dialect.options.items() if kind.choices}
        for choices in product(*chosen.values()):
            yield name, dict(zip(chosen, choices, strict=True))


def called(variant: Variant) -> str:
    return "-".join((variant[0], *variant[1].values()))


def written(values: Any, digits: int = 4) -> Any:
    """Numbers as a file has them, to so many digits."""
    if np.ndim(values):
        return [written(part, digits) for part in values]
    return Decimal(f"{float(values):.{digits}f}")


def generated(variant: Variant, seed: int) -> Example:
    """An example with everything that the mechanism takes, in numbers of one digit."""
    name, chosen = variant
    dialect, rng = DIALECTS[name], np.random.default_rng(seed)
    options = {key: kind.default for key, kind in dialect.options.items()} | chosen
    left_out = {*dialect.refused(options), *LATER.get(name, ())}
    given = {}
    for key in dialect.takes:
        if key not in left_out:
            shape = [
                sum(SIZES[part] for part in axis.split("+")) for axis in axes(name, key, options)
            ]
            given[key] = rng.uniform(-1.5, 1.5, shape).round(1)
    heads = 2 if dialect.heads else 1
    rows = len(given[dialect.query]) if dialect.query in given else SIZES["key"]
    return Example(name, [f"w{i}" for i in range(rows)], given, heads=heads, options=options)


LATER: dict[str, tuple[str, ...]] = dict.fromkeys(
    DIALECTS, ("queries", "keys", "values", "scores", "scaled")
)
"""What a generated example does not give, because it follows from what it gives."""
LATER |= dict.fromkeys(("softmax", "softmax-gradient", "rotary"), ())


def axes(name: str, key: str, options: dict[str, Any]) -> tuple[str, ...]:
    """The axes of an array, where attention's own are cut into two heads or read from one x."""
    found = DIALECTS[name].axes_of(key, options)
    if DIALECTS[name].family != "attention":
        return found
    if DIALECTS[name].memory == "x":
        found = tuple(axis.replace("memory width", "width") for axis in found)
    if DIALECTS[name].heads and key in ("w_q", "w_k", "w_v", "w_o", "b_q", "b_k", "b_v"):
        parts = {axis: f"{axis}+{axis}" for axis in ("key width", "value width")}
        found = tuple(parts.get(axis, axis) for axis in found)
    return found


def replayed(example: Example) -> None:
    """Each stage, of the true steps before it, makes the step that the module made."""
    true = {step.path: step.value for step in compute(example)}
    known = {
        name: torch.from_numpy(np.array(value, dtype=np.float64)) for name, value in true.items()
    }
    own = [s for s in stages(example) if s.name in true and s.name not in example.given]
    made = {stage.name: stage for stage in own}
    left = true.keys() - made.keys() - example.given.keys()
    assert {name.split("/")[-1] for name in left} <= set(FIRST)
    for name, stage in made.items():
        again = stage.run({**weights_of(example), **known}).numpy()
        np.testing.assert_allclose(again, true[name], rtol=1e-12, atol=1e-12, err_msg=name)


def as_file(example: Example, claims: dict[str, Any]) -> str:
    """The example as the text of a TOML file."""
    lines = [f"mechanism = {_toml(example.mechanism)}", f"tokens = {_toml(example.tokens)}"]
    lines.append(f"layout = {_toml(example.layout)}")
    if example.heads > 1:
        lines.append(f"heads = {example.heads}")
    lines += [
        f"{key} = {_toml(value)}" for key, value in example.options.items() if value is not None
    ]
    lines += [f"{key} = {_toml(value.tolist())}" for key, value in example.given.items()]
    lines += ["[claims]", *(f"{_toml(key)} = {_toml(value)}" for key, value in claims.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def numbers_of(example: Example) -> dict[str, Any]:
    """Every number of every step that is not given, true, as written to four digits."""
    given = {*example.given, *FIRST}
    return {
        step.path: written(step.value)
        for step in compute(example)
        if step.name not in given and step.value.dtype != np.bool_
    }


def with_one_wrong(
    claims: dict[str, Any], step: str, index: tuple[int, ...], by: float
) -> dict[str, Any]:
    """The claims with the number at ``index`` of ``step`` off by so much."""
    values = np.array(claims[step], dtype=np.float64)
    values[index] += by
    return {**claims, step: written(values)}


def places(claims: dict[str, Any]) -> list[tuple[str, tuple[int, ...]]]:
    """Where a number is claimed: its step and its index."""
    return [(step, i) for step, value in claims.items() for i in np.ndindex(np.shape(value))]
