"""Attention: its steps, each from whatever is given, by the package's own functions.

A worked example may begin at any step: a stage runs where its step is not given and all that it
needs is known. The same stages say what follows from a claimed number.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor

from regard.attention import Mask, additive, bilinear, causal, dot, mix, padding, weigh, window
from regard.attention.score import scale_scores
from regard.attention.self_attention import (
    MEANINGS,
    join,
    note_output,
    note_projection,
    split,
)
from regard.record import leading, note
from regard.vectors.positions import sinusoidal
from regard.worked.dialects import PROJECTED, STEPS
from regard.worked.example import Example
from regard.worked.stage import Known, Stage, weights_of


def given_steps(example: Example) -> dict[str, Tensor]:
    """The steps that are given, by name."""
    steps = [name for name in STEPS if name in example.given]
    return {name: torch.from_numpy(example.given[name]) for name in steps}


def run(example: Example) -> Known:
    """Make and note every step that follows from what is given; all of them by name."""
    known = weights_of(example)
    for name in dict.fromkeys((example.dialect.query, example.dialect.memory)):
        if name in example.given:
            known[SOURCES[name]] = _note_source(example, name)
    for stage in stages(example):
        if not stage.noted:
            continue
        if stage.name in example.given:
            known[stage.name] = _note_given(example, stage.name)
        elif all(need in known for need in stage.needs):
            known[stage.name] = stage.run(known)
    return known


SOURCES = {"x": "input", "s": "input", "memory": "memory", "h": "memory"}
"""The step that each array of vectors is noted as."""


def stages(example: Example) -> list[Stage]:
    """The stages of the example's mechanism, in the order of computation."""
    own = example.dialect.memory == example.dialect.query
    memory = "input" if own else "memory"
    fitting = "scaled" if example.dialect.scaled else "scores"
    joined = "concatenated" if example.heads > 1 else "context"
    made = [
        _projection(example, "queries", "input"),
        _projection(example, "keys", memory),
        _projection(example, "values", memory),
        Stage("scores", ("queries", "keys"), lambda k: _score(example, k)),
    ]
    if example.dialect.scaled:
        factor = example.factor or 1.0  # unknown only where the scaled scores are given
        by = None
        if "temperature" in example.dialect.options:
            by = f"/ {example.option('temperature'):g}"
        made.append(Stage("scaled", ("scores",), lambda k: scale_scores(k["scores"], factor, by)))
    made += [
        Stage("weights", (fitting,), lambda k: weigh(k[fitting], allowed(example, k[fitting]))),
        Stage("weighted_values", ("weights", "values"), lambda k: _products(example, k), False),
        Stage("context", ("weights", "values"), lambda k: _mix(example, k)),
        Stage("context", ("weighted_values",), lambda k: k["weighted_values"].sum(-2), False),
    ]
    if example.heads > 1:
        made = [stage._replace(run=_by_head(stage.run)) for stage in made]
        made.append(Stage("concatenated", ("context",), lambda k: join(k["context"])))
    made.append(Stage("output", (joined, "w_o"), lambda k: _output(example, k[joined], k)))
    return made


def _by_head(run: Callable[[Known], Tensor]) -> Callable[[Known], Tensor]:
    def inside(known: Known) -> Tensor:
        with leading("head"):
            return run(known)

    return inside


def _projection(example: Example, step: str, source: str) -> Stage:
    """The stage of queries, keys or values: one map of every vector, or the vectors themselves."""
    letter = PROJECTED[step]
    matrix = f"w_{letter}"
    if not example.dialect.projects:
        return Stage(
            step, (source,), lambda k: _noted(example, step, k[source], _symbol(example, source))
        )
    symbol = _symbol(example, source)
    how = f"{symbol} W_{letter.upper()}"
    if example.layout == "rows-are-outputs":
        how += "ᵀ"
    if example.layout == "row-per-word":
        how = f"x_i · row i of W_{letter.upper()}"
    if f"b_{letter}" in example.given:
        how += f" + b_{letter.upper()}"

    def run(known: Known) -> Tensor:
        made = _mapped(example, known[source], known[matrix])
        if f"b_{letter}" in known:
            made = made + known[f"b_{letter}"]
        if example.heads > 1:
            made = split(made, example.heads_of(step))
        return _noted(example, step, made, how)

    return Stage(step, (source, matrix), run)


def _mapped(example: Example, x: Tensor, w: Tensor) -> Tensor:
    if example.layout == "row-per-word":
        return (x * w).sum(-1, keepdim=True)
    return x @ w


def _symbol(example: Example, source: str) -> str:
    own = example.dialect.query if source == "input" else example.dialect.memory
    return {"x": "X", "memory": "M", "s": "S", "h": "H"}[own]


def _noted(example: Example, step: str, value: Tensor, how: str) -> Tensor:
    note_projection(step, value, how, apart=example.heads > 1)
    return value


def _groups(example: Example) -> int:
    return example.heads // example.heads_of("keys")


def _score(example: Example, known: Known) -> Tensor:
    query, key = known["queries"], known["keys"]
    if example.mechanism in ("bilinear", "general"):
        return bilinear(query, key, known["w_a"])
    if "v_a" in example.dialect.needs:
        w, u = additive_weights(known, query.shape[-1])
        return additive(query, key, known["v_a"], w.mT, u.mT)
    groups = _groups(example)
    return dot(query, key.repeat_interleave(groups, -3) if groups > 1 else key)


def additive_weights(known: Known, width: int) -> tuple[Tensor, Tensor]:
    """W_a and U_a as (inputs, hidden); Luong's W_a is both, one below the other."""
    if "u_a" in known:
        return known["w_a"], known["u_a"]
    return known["w_a"][:width], known["w_a"][width:]


def allowed(example: Example, scores: Tensor) -> Tensor | None:
    """Who may attend to whom, True = may; None if there is no mask."""
    if example.mask is None:
        return None
    queries, keys = scores.shape[-2:]
    made = Mask()
    for name, rule in example.mask.items():
        if name == "causal":
            made &= causal()
        elif name == "window":
            made &= window(*rule)
        elif name == "padding":
            made &= Mask(allowed=padding([rule], keys).dense(queries, keys)[0])
        else:
            made &= Mask(allowed=torch.from_numpy(rule))
    return made.dense(queries, keys)


def _products(example: Example, known: Known) -> Tensor:
    groups, value = _groups(example), known["values"]
    own = value.repeat_interleave(groups, -3) if groups > 1 else value
    return known["weights"].unsqueeze(-1) * own.unsqueeze(-3)


def _mix(example: Example, known: Known) -> Tensor:
    return mix(known["weights"], known["values"], _groups(example))


def _output(example: Example, joined: Tensor, known: Known) -> Tensor:
    formula = "[c_1 ; … ; c_h] W_O" if example.heads != 1 else "c[i] W_O"
    output = joined @ known["w_o"]
    if "b_o" in known:
        output, formula = output + known["b_o"], f"{formula} + b_O"
    return note_output(output, formula)


def _note_source(example: Example, name: str) -> Tensor:
    value, step = torch.from_numpy(example.given[name]), SOURCES[name]
    if name == example.dialect.query and example.positions is not None:
        value = add_positions(value)
    formula, meaning = {
        "input": ("x_i", "One vector for each position."),
        "memory": ("m_j", "What is attended to: one vector for each position."),
    }[step]
    if example.layout == "row-per-word":
        meaning = "As written."
    note(step, value, axes=("position", "width"), formula=formula, meaning=meaning)
    return value


def _note_given(example: Example, step: str) -> Tensor:
    value = torch.from_numpy(example.given[step])
    axes = {
        "queries": ("query", "width"),
        "scores": ("query", "key"),
        "scaled": ("query", "key"),
    }.get(step, ("key", "width"))
    with leading("head") if example.heads > 1 else nullcontext():
        note(step, value, axes=axes, formula="given", meaning=MEANINGS.get(step, "As given."))
    return value


def add_positions(x: Tensor) -> Tensor:
    """Note the embeddings and the sinusoidal positions; their sum is the input of attention."""
    axes = ("position", "width")
    note("embedding", x, axes=axes, formula="word vector", meaning="What each word means.")
    table = sinusoidal(*x.shape, dtype=x.dtype)
    note(
        "positions",
        table,
        axes=axes,
        formula="sin, cos(pos / 10000^(2i/d))",
        meaning="Where each word stands, added to its vector.",
    )
    return x + table
