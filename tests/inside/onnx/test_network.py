"""ONNX graphs observed: their own weights, and those of the same model in PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from onnx import helper

import regard
from regard.errors import DataError, ModelError, RegardError
from regard.inside.onnx.network import OnnxNetwork
from regard.models.translators.transformer import Transformer
from regard.store.exchange import onnx as exchange
from tests.inside.onnx.graphs import masked_attention, save
from tests.store.exchange.small import TOKENS, language, translator


def filled() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    shapes = {"q": (1, 2, 3, 7), "k": (1, 2, 5, 7), "v": (1, 2, 5, 4)}
    given: dict[str, Any] = {n: rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}
    return given | {"mask": np.tril(np.ones((3, 5), bool), 2)}


def test_scale_bias_and_mask(tmp_path: Path) -> None:
    network, given = OnnxNetwork(masked_attention(tmp_path / "a.onnx")), filled()
    with regard.observe(network, values=True) as observation:
        answer = network(**given)["answer"]
    q, k, v = (torch.tensor(given[name]) for name in "qkv")
    bias = torch.linspace(-1, 1, 30).view(2, 3, 5)
    scores = (q @ k.mT / 2 + bias).masked_fill(~torch.tensor(given["mask"]), -torch.inf)
    weights = scores.softmax(-1)
    torch.testing.assert_close(answer, (weights @ v).softmax(-1))
    for head in range(2):
        found = observation.map(0, head, kind="cross")  # 3 queries, 5 keys
        torch.testing.assert_close(found.dense(), weights[0, head])
    assert network.proof(**given).outputs < 1e-6


def test_a_language_model_is_the_same_as_in_pytorch(tmp_path: Path) -> None:
    ours = language()
    exchange.write(tmp_path, ours, TOKENS)
    network = OnnxNetwork(tmp_path / "model.onnx")
    ids = torch.randint(4, len(TOKENS), (2, 11), generator=torch.Generator().manual_seed(1))
    with regard.observe(network) as seen:
        logits = network(ids=ids)["logits"]
    with regard.observe(ours) as expected, torch.no_grad():
        torch.testing.assert_close(logits, ours(ids), atol=1e-4, rtol=0)
    assert len(seen) == len(expected)
    for layer in range(len(expected)):
        for batch in range(2):
            found, own = (o.map(layer, 1, batch=batch).dense() for o in (seen, expected))
            torch.testing.assert_close(found, own, atol=1e-5, rtol=0)
    proof = network.proof(ids=ids)
    assert proof.weights < 1e-5
    assert proof.outputs < 1e-3


def test_a_decoder_attends_to_itself_and_to_what_it_translates(tmp_path: Path) -> None:
    ours = translator()
    assert isinstance(ours, Transformer)
    exchange.write(tmp_path, ours, TOKENS)
    network = OnnxNetwork(tmp_path / "decoder.onnx")
    memory = torch.randn(1, 5, ours.config.width)
    mask = torch.tensor([[1, 1, 1, 0, 0]])
    with regard.observe(network) as seen:
        network(target=torch.tensor([[2, 5, 6, 7]]), memory=memory, source_mask=mask)
    assert [layer.kind for layer in seen] == ["self", "cross"] * ours.config.layers
    assert seen.map(0, 0, kind="cross").shape == (4, 3)  # padding is no key


def test_in_8_bits_the_graphs_own_weights_are_shown_and_this_is_said(tmp_path: Path) -> None:
    quantization = pytest.importorskip("onnxruntime.quantization")
    file, small = masked_attention(tmp_path / "a.onnx"), tmp_path / "small.onnx"
    options = {"MatMulConstBOnly": False}
    quantization.quantize_dynamic(str(file), str(small), extra_options=options)
    network, given = OnnxNetwork(small), filled()
    with (
        pytest.warns(UserWarning, match=r"computes in 8 bits: its own weights are shown"),
        pytest.warns(UserWarning, match="are kept"),
        regard.observe(network) as seen,
    ):
        network(**given)
    own = network._run(network.session, ["weights"], given)["weights"]
    found = seen.map(0, 1, kind="cross").dense()
    torch.testing.assert_close(found, torch.tensor(own[0, 1]))
    with pytest.warns(UserWarning, match="8 bits"):
        network(**given)
    with pytest.raises(RegardError, match="cannot be run by regard's attention"):
        network.proof(**given)


def test_refusals(tmp_path: Path) -> None:
    network = OnnxNetwork(masked_attention(tmp_path / "a.onnx"))
    with pytest.raises(DataError, match=r"takes q, k, v, mask; got q"):
        network(q=np.zeros(3))
    with pytest.raises(DataError, match=r"a\.onnx' does not take this"):
        network(**(filled() | {"q": np.zeros((1, 2, 3, 9), np.float32)}))
    none = save(
        tmp_path / "b.onnx",
        [helper.make_node("Softmax", ["x"], ["y"])],
        {"x": [1, 3]},
        ["y"],
    )
    with pytest.raises(ModelError, match=r"b\.onnx' has no attention that can be observed"):
        OnnxNetwork(none)
