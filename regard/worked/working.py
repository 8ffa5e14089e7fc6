"""Working: the arithmetic of one number of a worked example, written out with its factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.trace import Array, Step, Trace
from regard.worked.dialects import PROJECTED
from regard.worked.example import Example
from regard.worked.stages import attention_in, stages


def working(example: Example, trace: Trace, step: str, index: tuple[int, ...]) -> str:
    """How the number at ``index`` of ``step`` comes about, e.g. ``1·0.3 + 1·0.1 = 0.4``."""
    part = attention_in(example)
    if part is not None and step.startswith(part[1]):
        sub, scope = part
        inside = [s for s in trace if s.path == scope + s.name]
        if any(stage.name == step.removeprefix(scope) for stage in stages(sub)):
            names = {s.name for s in inside}
            turned = [_renamed(s) for s in inside if f"turned_{s.name}" not in names]
            return working(sub, Trace(turned), step.removeprefix(scope), index)
    if example.dialect.family != "attention":
        return f"{trace[step].formula} = {_short(float(trace.value(step)[index]))}"
    *head, row, column = index
    if step in PROJECTED and f"w_{PROJECTED[step]}" in example.given:
        return _projected(example, trace, step, index)
    if step == "scores":
        return _scored(example, trace, index)
    if step == "scaled":
        by = f"/ sqrt({example.d_k or example.width_of_keys or 1:g})"
        if example.scale is not None:
            by = f"· {_short(example.scale)}"
        if "temperature" in example.dialect.options:
            by = f"/ {example.option('temperature'):g}"
        score, scaled = trace.value("scores")[index], trace.value("scaled")[index]
        return f"{_short(score)} {by} = {_short(scaled)}"
    if step == "weights":
        return _share(trace, index)
    if step == "context":
        values = trace.value("values")[_shared(example, head)]
        return _products(trace.value("weights")[tuple(head)][row], values[:, column])
    if step == "weighted_values":
        return _weighted(example, trace, index)
    if step == "concatenated":
        width = trace.value("context").shape[-1]
        at = (column // width, row, column % width)
        return f"context{_place(at)} = {_short(trace.value('context')[at])}"
    if step == "output":
        return _mixed(example, trace, row, column)
    return ""


def _renamed(step: Step) -> Step:
    """The step by its own name alone; what is turned stands for what it was made from."""
    return Step(step.name.removeprefix("turned_"), step.value, axes=step.axes)


def _scored(example: Example, trace: Trace, index: tuple[int, ...]) -> str:
    *head, row, column = index
    q = trace.value("queries")[tuple(head)][row]
    k = trace.value("keys")[_shared(example, head)][column]
    if example.mechanism in ("bilinear", "general"):
        return f"q_{row + 1} W · k_{column + 1} = {_products(q @ example.turned('w_a'), k)}"
    if "v_a" in example.dialect.needs:
        w = [example.turned(name) for name in ("w_a", "u_a") if name in example.given]
        hidden = np.tanh(np.concatenate((q, k)) @ np.concatenate(w))
        products = _products(example.given["v_a"], hidden)
        return f"v · tanh(W q_{row + 1} + U k_{column + 1}) = {products}"
    return f"q_{row + 1} · k_{column + 1} = {_products(q, k)}"


def _shared(example: Example, head: Sequence[int]) -> tuple[int, ...]:
    """The head of keys and values that a head of queries has: several may share one."""
    return tuple(h * example.heads_of("keys") // example.heads for h in head)


def _weighted(example: Example, trace: Trace, index: tuple[int, ...]) -> str:
    *head, row, key, column = index
    weight, value = (*head, row, key), (*_shared(example, head), key, column)
    a, v = trace.value("weights")[weight], trace.value("values")[value]
    return (
        f"weights{_place(weight)} · values{_place(value)} = {_short(a)}·{_short(v)} = "
        f"{_short(a * v)}"
    )


def _mixed(example: Example, trace: Trace, row: int, column: int) -> str:
    w, rows = example.given["w_o"], example.layout == "rows-are-outputs"
    joined = trace.value("concatenated" if "concatenated" in trace else "context")[row]
    whose = f"{'row' if rows else 'column'} {column + 1}"
    plus = float(example.given["b_o"][column]) if "b_o" in example.given else 0.0
    products = _products(joined, w[column] if rows else w[:, column], plus)
    return f"y_{row + 1}: c_{row + 1} · {whose} of W_O{' + b' if plus else ''} = {products}"


def _place(index: tuple[int, ...]) -> str:
    return "".join(f"[{i}]" for i in index)


def _projected(example: Example, trace: Trace, step: str, index: tuple[int, ...]) -> str:
    letter, name = {"queries": "q", "keys": "k", "values": "v"}[step], f"w_{step[0]}"
    *head, row, column = index
    source = "input" if step == "queries" or "memory" not in trace else "memory"
    x, w = trace.value(source)[row], example.given[name]
    output = column + (head[0] * (trace.value(step).shape[-1]) if head else 0)
    if example.layout == "row-per-word":
        weights, whose = w[row], f"row {row + 1}"
    else:
        rows = example.layout == "rows-are-outputs"
        weights = w[output] if rows else w[:, output]
        whose = f"{'row' if rows else 'column'} {output + 1}"
    bias = example.given.get(f"b_{letter}")
    plus = 0.0 if bias is None else float(bias[output])
    return (
        f"{letter}_{row + 1}: {source[0].replace('i', 'x')}_{row + 1} · {whose} of {name.upper()}"
        f"{'' if bias is None else ' + b'} = {_products(x, weights, plus)}"
    )


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


def _products(a: Array, b: Array, plus: float = 0.0) -> str:
    terms = [f"{_short(x)}·{_short(y)}" for x, y in zip(a, b, strict=True) if x != 0]
    if len(terms) > 6:
        terms = [*terms[:5], f"… ({len(terms) - 5} more)"]
    if plus:
        terms.append(_short(plus))
    return f"{' + '.join(terms) or '0'} = {_short(float(a @ b) + plus)}"


def _short(number: float) -> str:
    return f"{number:.4g}"
