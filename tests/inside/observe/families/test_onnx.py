"""The family of ONNX graphs: found by its modules, watched without a trace left."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import regard
from regard.inside.observe.families import onnx
from regard.inside.onnx.network import OnnxNetwork


def test_watched_and_left_as_it_was(tmp_path: Path) -> None:
    for package in ("onnx", "onnxruntime"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    from tests.inside.onnx.graphs import recogniser

    network = OnnxNetwork(recogniser(tmp_path / "a.onnx"))
    assert onnx.find(network)
    assert not onnx.find(torch.nn.Linear(2, 2))
    x = torch.randn(1, 3, 48, 40)
    with regard.observe(network, statistics=True) as seen:
        network(x=x)
    assert seen[0, 1].shape == (5, 5)
    assert not any(module._forward_hooks for module in network.modules())
