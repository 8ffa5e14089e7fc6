"""Stages: a worked example may begin anywhere, and runs on the package's own mechanisms."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import (
    Additive,
    Bilinear,
    MultiHeadAttention,
    attend,
    causal,
    padding,
    self_attention,
    window,
)
from regard.record import record
from regard.trace import Trace
from regard.worked.check import check
from regard.worked.example import Example
from regard.worked.stages import compute
from tests.worked.written import load


def numbers(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng((seed, *shape)).standard_normal(shape)


def matrices(width: int, out: int, values: int) -> dict[str, Any]:
    return {"w_q": numbers(width, out, seed=1), "w_k": numbers(width, out, seed=2),
            "w_v": numbers(width, values, seed=3)}  # fmt: skip


def same(ours: Trace, theirs: Trace) -> None:
    assert [s.name for s in ours] == [s.name for s in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.value, other.value, rtol=1e-12, err_msg=mine.name)
        assert (mine.axes, mine.formula) == (other.axes, other.formula)


def test_the_illustrated_transformer_is_right_as_rounded() -> None:
    report = check(Example.load("illustrated-transformer"))
    assert (report.wrong, report.remarks, report.counts) == ([], [], {"scaled": 2, "weights": 2})
    assert [step.name for step in report.trace] == ["scores", "scaled", "weights"]
    np.testing.assert_allclose(report.trace.value("weights"), [[1 / (1 + math.exp(-2)),
                               1 / (1 + math.exp(2))]])  # fmt: skip


@pytest.mark.parametrize("heads", [1, 2])
def test_it_is_what_self_attention_does(heads: int) -> None:
    x, w = numbers(3, 5), {**matrices(5, 14, 22), "w_o": numbers(22, 7)}
    example = Example("multihead", ["a", "b", "c"], {"x": x, **w}, heads=heads,
                      mask={"causal": True})  # fmt: skip
    with record() as trace:
        tensors = [torch.from_numpy(w[name]) for name in ("w_q", "w_k", "w_v", "w_o")]
        self_attention(torch.from_numpy(x), *tensors, heads=heads, mask=causal(), need_weights=True)
    same(compute(example), trace)


def test_grouped_heads_with_biases_are_what_the_module_does() -> None:
    module = MultiHeadAttention(12, 6, key_heads=2).double()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    x = numbers(5, 12)
    with record() as trace, torch.no_grad():
        module(torch.from_numpy(x))
    given = {"x": x}
    for letter, linear in (("q", module.query), ("k", module.key), ("v", module.value),
                           ("o", module.output)):  # fmt: skip
        given[f"w_{letter}"] = linear.weight.detach().numpy()
        given[f"b_{letter}"] = linear.bias.detach().numpy()
    example = Example("multihead", list("abcde"), given, layout="rows-are-outputs", heads=6,
                      key_heads=2)  # fmt: skip
    ours = compute(example)
    assert [s.name for s in ours] == [s.name for s in trace]
    for step in trace:
        np.testing.assert_allclose(ours.value(step.name), step.value, rtol=1e-10, err_msg=step.name)


def test_from_queries_keys_and_values() -> None:
    q, k, v = numbers(2, 3), numbers(5, 3), numbers(5, 7)
    example = Example("scaled", list("abcde"), {"queries": q, "keys": k, "values": v})
    with record() as trace:
        attend(*map(torch.from_numpy, (q, k, v)))
    ours = compute(example)
    for step in trace:
        np.testing.assert_allclose(ours.value(step.name), step.value, rtol=1e-12)


@pytest.mark.parametrize("step", ["queries", "scores", "scaled"])
def test_every_start_gives_the_same(step: str) -> None:
    whole = Example("scaled", ["a", "b", "c"], {"x": numbers(3, 5), **matrices(5, 2, 7)},
                    mask={"causal": True})  # fmt: skip
    trace = compute(whole)
    begins = ("queries", "keys", "values") if step == "queries" else (step, "values")
    later = compute(Example("scaled", ["a", "b", "c"], {n: trace.value(n) for n in begins}, d_k=2,
                            mask={"causal": True}))  # fmt: skip
    assert {s.name for s in later} <= {s.name for s in trace}
    for made in later:
        np.testing.assert_allclose(made.value, trace.value(made.name), rtol=1e-12)


def test_what_cannot_be_known_is_not_there() -> None:
    trace = compute(Example("scaled", ["a", "b"], {"queries": np.eye(2), "keys": np.eye(2)}))
    assert [s.name for s in trace] == ["queries", "keys", "scores", "scaled", "weights"]
    trace = compute(Example("scaled", ["a", "b"], {"scaled": np.eye(2)}))
    assert [s.name for s in trace] == ["scaled", "weights"]


def test_masks_by_their_rules(tmp_path: Path) -> None:
    scores = "scores = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]\n"
    for written, mask in (
        ("{padding = 2}", padding([2], 3).dense(3)[0]),
        ("{window = 1}", window(1).dense(3)),
        ("{window = [0, 1]}", window(0, 1).dense(3)),
        ("{causal = true, padding = 1}", causal().dense(3) & padding([1], 3).dense(3)[0]),
        ("{matrix = [[true, true, false], [true, false, true], [false, true, true]]}",
         ~torch.eye(3, dtype=torch.bool).flip(-1)),
    ):  # fmt: skip
        trace = compute(load(tmp_path, scores + f"mask = {written}"))
        np.testing.assert_array_equal(trace.value("mask"), mask)
        np.testing.assert_array_equal(trace.value("weights")[~mask], 0)


def test_another_scale(tmp_path: Path) -> None:
    trace = compute(load(tmp_path, "scores = [[2, 4]]\nscale = 0.25"))
    np.testing.assert_array_equal(trace.value("scaled"), [[0.5, 1.0]])


def test_a_bias_is_added_and_shown_in_the_working(tmp_path: Path) -> None:
    text = ("x = [[1, 2]]\nw_q = [[3], [4]]\nw_k = [[1], [1]]\nb_q = [0.5]\n"
            "[claims]\nqueries = [[11]]")  # fmt: skip
    (wrong,) = check(load(tmp_path, text)).wrong
    assert wrong.correct == 11.5
    from regard.worked.working import working

    example = load(tmp_path, text)
    assert working(example, compute(example), "queries", (0, 0)) == (
        "q_1: x_1 · column 1 of W_Q + b = 1·3 + 2·4 + 0.5 = 11.5"
    )


def test_cross_attention_is_what_the_module_does() -> None:
    module = MultiHeadAttention(6, 2, key_width=5, bias=False).double()
    x, memory = numbers(3, 6), numbers(7, 5)
    with record() as trace, torch.no_grad():
        module(torch.from_numpy(x), torch.from_numpy(memory))
    given = {"x": x, "memory": memory}
    for letter, linear in zip("qkvo", (module.query, module.key, module.value, module.output),
                              strict=True):  # fmt: skip
        given[f"w_{letter}"] = linear.weight.detach().numpy().T
    ours = compute(Example("cross", ["a", "b", "c"], given, heads=2))
    same(ours, trace)


@pytest.mark.parametrize("layout", ["columns-are-outputs", "rows-are-outputs"])
def test_additive_and_bilinear_are_what_the_scores_do(layout: str) -> None:
    s, h = numbers(2, 3), numbers(5, 7)
    q, k = torch.from_numpy(s), torch.from_numpy(h)
    additive, bilinear = Additive(3, 7, 11).double(), Bilinear(3, 7).double()
    turn = layout == "columns-are-outputs"
    w, u = (m.detach().numpy() for m in (additive.w_query, additive.w_key))
    given = {
        "w_a": w.T if turn else w,
        "u_a": u.T if turn else u,
        "v_a": additive.v.detach().numpy(),
    }
    for score, weights in (
        (additive, given),
        (bilinear, {"w_a": bilinear.weight.detach().numpy()}),
    ):
        with record() as trace, torch.no_grad():
            attend(q, k, k, score=score)
        name = type(score).__name__.lower()
        ours = compute(Example(name, ["a", "b"], {"s": s, "h": h, **weights}, layout=layout))
        for step in trace:
            np.testing.assert_allclose(ours.value(step.name), step.value, rtol=1e-12)
