"""Working: the arithmetic of one number of a worked example, written out with its factors."""

from __future__ import annotations

import numpy as np

from regard.trace import Array, Trace
from regard.worked.example import Example


def working(example: Example, trace: Trace, step: str, index: tuple[int, ...]) -> str:
    """How the number at ``index`` of ``step`` comes about, e.g. ``1·0.3 + 1·0.1 = 0.4``."""
    *head, row, column = index
    if step in ("queries", "keys", "values") and example.matrices:
        return _projected(example, trace, step, index)
    if step == "scores":
        at = tuple(head)
        q, k = trace.value("queries")[at][row], trace.value("keys")[at][column]
        return f"q_{row + 1} · k_{column + 1} = {_products(q, k)}"
    if step == "scaled":
        d_k = example.d_k or example.width_of_keys
        score, scaled = trace.value("scores")[index], trace.value("scaled")[index]
        return f"{_short(score)} / sqrt({d_k:g}) = {_short(scaled)}"
    if step == "weights":
        return _share(trace, index)
    if step == "context":
        at = tuple(head)
        return _products(trace.value("weights")[at][row], trace.value("values")[at][:, column])
    if step == "weighted_values":
        return _weighted(trace, index)
    if step == "concatenated":
        width = trace.value("context").shape[-1]
        at = (column // width, row, column % width)
        return f"context{_place(at)} = {_short(trace.value('context')[at])}"
    if step == "output":
        return _mixed(example, trace, row, column)
    return ""


def _weighted(trace: Trace, index: tuple[int, ...]) -> str:
    *head, row, key, column = index
    weight, value = (*head, row, key), (*head, key, column)
    a, v = trace.value("weights")[weight], trace.value("values")[value]
    return (
        f"weights{_place(weight)} · values{_place(value)} = {_short(a)}·{_short(v)} = "
        f"{_short(a * v)}"
    )


def _mixed(example: Example, trace: Trace, row: int, column: int) -> str:
    w, rows = example.matrices["w_o"], example.layout == "rows-are-outputs"
    joined = trace.value("concatenated" if "concatenated" in trace else "context")[row]
    whose = f"{'row' if rows else 'column'} {column + 1}"
    products = _products(joined, w[column] if rows else w[:, column])
    return f"y_{row + 1}: c_{row + 1} · {whose} of W_O = {products}"


def _place(index: tuple[int, ...]) -> str:
    return "".join(f"[{i}]" for i in index)


def _projected(example: Example, trace: Trace, step: str, index: tuple[int, ...]) -> str:
    letter, name = {"queries": "q", "keys": "k", "values": "v"}[step], f"w_{step[0]}"
    *head, row, column = index
    x, w = trace.value("input")[row], example.matrices[name]
    if example.layout == "row-per-word":
        weights, whose = w[row], f"row {row + 1}"
    else:
        output = column + (head[0] * (trace.value(step).shape[-1]) if head else 0)
        rows = example.layout == "rows-are-outputs"
        weights = w[output] if rows else w[:, output]
        whose = f"{'row' if rows else 'column'} {output + 1}"
    return f"{letter}_{row + 1}: x_{row + 1} · {whose} of {name.upper()} = {_products(x, weights)}"


def _share(trace: Trace, index: tuple[int, ...]) -> str:
    name = "scaled" if "scaled" in trace else "scores"
    scores = trace.value(name)[index[:-1]]
    allowed = np.ones_like(scores, dtype=bool)
    if "mask" in trace:
        allowed = np.broadcast_to(trace.value("mask"), trace.value(name).shape)[index[:-1]]
    if not allowed[index[-1]]:
        return "masked: weight 0"
    terms = " + ".join(f"e^{_short(s)}" for s in scores[allowed])
    weight = trace.value("weights")[index]
    return f"e^{_short(scores[index[-1]])} / ({terms}) = {_short(weight)}"


def _products(a: Array, b: Array) -> str:
    terms = [f"{_short(x)}·{_short(y)}" for x, y in zip(a, b, strict=True) if x != 0]
    if len(terms) > 6:
        terms = [*terms[:5], f"… ({len(terms) - 5} more)"]
    return f"{' + '.join(terms) or '0'} = {_short(float(a @ b))}"


def _short(number: float) -> str:
    return f"{number:.4g}"
