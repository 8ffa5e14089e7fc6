"""Layer norm, feed-forward and residual, against NumPy."""

from __future__ import annotations

import numpy as np

from regard.worked.stages import compute
from tests.worked.cases import Numbers, generated


def norm(x: Numbers, gamma: Numbers, beta: Numbers, epsilon: float = 1e-5) -> Numbers:
    made: Numbers = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return made * gamma + beta


def test_layer_norm() -> None:
    example = generated(("layer-norm", {}), 0)
    g, trace = example.given, compute(example)
    np.testing.assert_allclose(trace.value("variance"), g["x"].var(-1), rtol=1e-12)
    expected = norm(g["x"], g["gamma"], g["beta"])
    np.testing.assert_allclose(trace.value("normalised"), expected, rtol=1e-9)


def test_feed_forward() -> None:
    example = generated(("feed-forward", {}), 0)
    g = {name: example.turned(name) for name in example.given}
    inner = g["x"] @ g["w_1"] + g["b_1"]
    assert (inner < 0).any()
    output = np.maximum(inner, 0) @ g["w_2"] + g["b_2"]
    np.testing.assert_allclose(compute(example).value("output"), output, rtol=1e-12)


def test_residual() -> None:
    example = generated(("residual", {"norm": "post"}), 0)
    g, trace = example.given, compute(example)
    added = g["x"] + g["sublayer"]
    np.testing.assert_array_equal(trace.value("residual"), added)
    expected = norm(added, g["gamma"], g["beta"])
    np.testing.assert_allclose(trace.value("normalised"), expected, rtol=1e-9)
