"""Attention in a graph: found with its queries, keys and what is done to their products."""

from __future__ import annotations

from pathlib import Path

from onnx import helper

from regard.inside.onnx.file import read_onnx
from regard.inside.onnx.graph import Graph, Softmax
from tests.inside.onnx.graphs import masked_attention, save


def test_the_way_back_from_a_softmax(tmp_path: Path) -> None:
    found = Graph(read_onnx(masked_attention(tmp_path / "a.onnx")).graph).find()
    changes = (("Div", "two", True), ("Add", "bias", True), ("Where", "mask", True))
    (only,) = found.attention  # the softmax of the answer is none
    assert (only.query, only.key, only.value) == ("q", "kt", "v")
    assert (only.weights, only.context) == ("weights", "context")
    assert [(kind, name) for kind, name, _ in only.changes] == [c[:2] for c in changes]
    assert only.changes[2][2]  # scores are what is taken where the mask is true
    assert only.wanted == ["weights", "v", "context", "q", "kt", "two", "bias", "mask"]


def test_what_is_computed_in_another_way_gives_its_weights_alone(tmp_path: Path) -> None:
    node = helper.make_node
    nodes = [
        node("Mul", ["x", "x"], ["scores"]),
        node("Softmax", ["scores"], ["weights"], axis=-1),
        node("MatMul", ["weights", "x"], ["y"]),
        node("Attention", ["x", "x", "x"], ["z"]),
    ]
    file = save(tmp_path / "a.onnx", nodes, {"x": [1, 3, 3]}, ["y"])
    found = Graph(read_onnx(file).graph).find()
    (only,) = found.attention
    assert isinstance(only, Softmax)
    assert (only.query, only.key, only.wanted) == ("", "", ["weights", "x", "y"])
    assert "such as in 8 bits" in only.reason
    assert found.fused == 1
