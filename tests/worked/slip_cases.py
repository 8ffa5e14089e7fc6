"""Cases of each usual slip, computed here by hand, and random wrong numbers.

benchmarks/check.py says how often each is recognised, and how often one is named wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from regard.worked.check import check
from regard.worked.example import Example
from regard.worked.stages import compute
from tests.worked.cases import Numbers, generated, numbers_of, variants, written


def softmax(scores: Numbers, axis: int = -1) -> Numbers:
    raised = np.exp(scores - scores.max(axis, keepdims=True))
    made: Numbers = raised / raised.sum(axis, keepdims=True)
    return made


def example_of(seed: int, heads: int = 1, mask: bool = False, square: bool = False) -> Example:
    """Three words of width 5, keys of 4 (or all of width 3), numbers of one digit."""
    rng = np.random.default_rng(seed)
    width, out = (3, 3) if square else (5, 4)
    shapes = {"x": (3, width), **dict.fromkeys(("w_q", "w_k", "w_v"), (width, out * heads))}
    if heads > 1:
        shapes["w_o"] = (out * heads, width)
    given = {name: rng.uniform(-1.5, 1.5, shape).round(1) for name, shape in shapes.items()}
    rules = {"causal": True} if mask else None
    mechanism = "multihead" if heads > 1 else "scaled"
    return Example(mechanism, ["a", "b", "c"], given, heads=heads, mask=rules)


Made = tuple[Example, str, Numbers]


def _weights(change: Callable[[Numbers], Numbers]) -> Callable[[int], Made]:
    def made(seed: int) -> Made:
        example = example_of(seed)
        return example, "weights", change(compute(example).value("scaled"))

    return made


def _of(step: str, change: Callable[[Example, Any], Numbers], **how: Any) -> Callable[[int], Made]:
    def made(seed: int) -> Made:
        example = example_of(seed, **how)
        return example, step, change(example, compute(example))

    return made


def _interleaved(trace: Any) -> Numbers:
    context = trace.value("context")
    return np.concatenate([context[1], context[0]], -1)


def _other(
    mechanism: str, step: str, change: Callable[[dict[str, Numbers], Any], Numbers]
) -> Callable[[int], Made]:
    """A slip in another mechanism than self-attention, of its arrays as (inputs, outputs)."""
    first = next(variant for variant in variants() if variant[0] == mechanism)

    def made(seed: int) -> Made:
        example = generated(first, seed)
        arrays = {name: example.turned(name) for name in example.given}
        return example, step, change(arrays, compute(example))

    return made


def _sigmoid(x: Numbers) -> Numbers:
    made: Numbers = 1 / (1 + np.exp(-x))
    return made


CASES: dict[str, tuple[str, Callable[[int], Made]]] = {
    "not scaled": ("not divided by sqrt", _of("scaled", lambda e, t: t.value("scores"))),
    "softmax of unscaled": (
        "not scaled before softmax",
        _of("weights", lambda e, t: softmax(t.value("scores"))),
    ),
    "divided by d_k": ("divided by d_k = 4", _of("scaled", lambda e, t: t.value("scores") / 4)),
    "wrong width": (
        "sqrt(5), the width of a vector",
        _of("scaled", lambda e, t: t.value("scores") / np.sqrt(5)),
    ),
    "wrong axis": ("over the queries", _weights(lambda s: softmax(s, -2))),
    "each alone": ("each score alone", _weights(lambda s: 1 / (1 + np.exp(-s)))),
    "transposed": (
        "W_Q is transposed",
        _of("queries", lambda e, t: e.x @ e.given["w_q"].T, square=True),
    ),
    "rows and columns": ("mixed up", _of("scores", lambda e, t: t.value("scores").T)),
    "masked late": (
        "after softmax",
        _of("weights", lambda e, t: np.tril(softmax(t.value("scaled"))), mask=True),
    ),
    "no mask": (
        "mask is forgotten",
        _of("weights", lambda e, t: softmax(t.value("scaled")), mask=True),
    ),
    "key for value": (
        "key is taken for the value",
        _of("context", lambda e, t: t.value("weights") @ t.value("keys")),
    ),
    "rounded early": (
        "rounded to 1 digits before",
        _weights(lambda s: softmax(s.round(1))),
    ),
    "neighbour's row": (
        "row is taken for this one",
        _of("context", lambda e, t: np.roll(t.value("context"), 1, 0)),
    ),
    "heads' order": (
        "wrong order",
        _of("concatenated", lambda e, t: _interleaved(t), heads=2),
    ),
    "heads' order, output": (
        "wrong order",
        _of("output", lambda e, t: _interleaved(t) @ e.given["w_o"], heads=2),
    ),
    "sigmoid for tanh": (
        "a sigmoid is taken for tanh",
        _other(
            "additive",
            "scores",
            lambda g, t: (
                _sigmoid((g["s"] @ g["w_a"])[:, None] + (g["h"] @ g["u_a"])[None]) @ g["v_a"]
            ),
        ),
    ),
    "sigmoid for tanh, RNN": (
        "a sigmoid is taken for tanh",
        _other(
            "simple-rnn",
            "step 2/state",
            lambda g, t: _sigmoid(
                np.concatenate((g["x"][1], t.value("step 1/state"))) @ g["a"] + g["b"]
            ),
        ),
    ),
    "sigmoid for tanh, LSTM": (
        "a sigmoid is taken for tanh",
        _other(
            "lstm",
            "step 2/state",
            lambda g, t: t.value("step 2/output gate") * _sigmoid(t.value("step 2/cell")),
        ),
    ),
    "max forgotten, feed-forward": (
        "is forgotten",
        _other(
            "feed-forward",
            "output",
            lambda g, t: (g["x"] @ g["w_1"] + g["b_1"]) @ g["w_2"] + g["b_2"],
        ),
    ),
    "count less 1, layer norm": (
        "count less 1",
        _other("layer-norm", "variance", lambda g, t: g["x"].var(-1, ddof=1)),
    ),
    "late reset, decoder": (
        "as in nn.GRU",
        _other(
            "encoder-decoder",
            "candidate",
            lambda g, t: np.tanh(
                g["y"] @ g["w"]
                + t.value("reset gate") * (g["s"] @ g["u"])
                + t.value("context") @ g["c"]
                + g["b"]
            ),
        ),
    ),
}
"""By name: words of the diagnosis, and what makes an example, a step and its wrong numbers."""


def recognised(name: str, cases: int, first: int = 0) -> float:
    """The share of cases in which every wrong number of the slip is put down to it."""
    words, make = CASES[name]
    good = 0
    for seed in range(first, first + cases):
        example, step, values = make(seed)
        wrong = check(replace(example, claims={step: written(values)})).wrong
        good += bool(wrong) and all(words in w.slip for w in wrong)
    return good / cases


def wrongly_named(cases: int, first: int = 0) -> float:
    """The share of random wrong numbers of attention that are put down to a slip."""
    steps = ("queries", "scores", "scaled", "weights", "context", "concatenated", "output")
    examples = (
        example_of(seed, heads=2, mask=bool(seed % 2), square=bool(seed % 3))
        for seed in range(first, first + cases)
    )
    return _named_by_chance(examples, first, steps)


def wrongly_named_anywhere(cases: int, first: int = 0) -> float:
    """The same in every mechanism and every step."""
    every = variants()
    examples = (generated(every[i % len(every)], first + i) for i in range(cases))
    return _named_by_chance(examples, first, ())


def _named_by_chance(examples: Iterator[Example], first: int, steps: tuple[str, ...]) -> float:
    named, seen = 0, 0
    for i, example in enumerate(examples):
        rng = np.random.default_rng(first + i + 10**6)
        trace = compute(example)
        among = steps or tuple(numbers_of(example))
        step = among[rng.integers(len(among))]
        right = trace.value(step)
        index = tuple(int(rng.integers(n)) for n in right.shape)
        low, high = right.min(), right.max()
        near = right[index] + rng.normal() * 10.0 ** -rng.integers(1, 4)
        value = near if rng.random() < 0.5 else rng.uniform(low - 0.5, high + 0.5)
        key = step + "".join(f"[{i}]" for i in index)
        claim = written(np.array(value), int(rng.integers(2, 5)))
        wrong = check(replace(example, claims={key: claim})).wrong
        seen += len(wrong)
        named += sum(bool(w.slip) for w in wrong)
    return named / seen
