"""A graph's steps, by hand; constants kept once, and none that is not used."""

from __future__ import annotations

import numpy as np
import pytest

from regard.store.exchange.graph import OnnxGraph


def test_a_scan_carries_its_state_from_row_to_row() -> None:
    """Sums so far, 1, 1 + 2, 1 + 2 + 4, each times a number of the outer graph."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    graph = OnnxGraph(1, 1, False)
    three = graph.number(3.0)

    def step(states: list[str], rows: list[str]) -> tuple[list[str], str]:
        total = graph.node("Add", states[0], rows[0])
        return [total], graph.node("Mul", total, three)

    sums = graph.scan([graph.number([0.0])], ["x"], step)
    content = graph.made("sums", {}, {"x": ("T", 1)}, {"sums": (sums, ("T", 1))})
    session = runtime.InferenceSession(content)
    (found,) = session.run(None, {"x": np.array([[1], [2], [4]], np.float32)})
    np.testing.assert_array_equal(found, [[3], [9], [21]])


def test_the_same_number_is_kept_once() -> None:
    pytest.importorskip("onnx")
    graph = OnnxGraph(1, 1, False)
    assert graph.number([1.0, 2.0]) == graph.number([1.0, 2.0])
    assert graph.number([1], np.int64) != graph.number([1.0])
    assert graph.fresh("row") != graph.fresh("row")
