"""Observing on the device of ``--device``: nothing is moved, and the numbers are the CPU's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import regard
from tests.inside.tiny import inputs, tiny

pytestmark = pytest.mark.filterwarnings("ignore:the weights of")


def test_nothing_leaves_a_device() -> None:
    """A pretended device, which refuses to meet the CPU: no CUDA is needed."""
    with FakeTensorMode(), torch.device("lazy"), torch.no_grad():
        model, x = regard.MultiHeadAttention(6, 3), torch.empty(2, 7, 6)
        with regard.observe(model, values=True) as observation:
            model(x)
        layer = observation.layers[0]
        found = observation.statistics(0, top=2, entropy=True, received=True, cells=3)
        for tensor in (layer.query, layer.key, observation[0, 1].dense(), found.received):
            assert tensor is not None
            assert tensor.device.type == "lazy"


@pytest.mark.parametrize("family", ["Bert", "Llama", "Bloom", "Falcon"])
@torch.no_grad()
def test_families_on_the_device(family: str, device: torch.device) -> None:
    with torch.device("cpu"):
        model, given = tiny(family), inputs(family)
        with regard.observe(model) as here:
            model(**given)
    model.to(device)
    given = {name: tensor.to(device) for name, tensor in given.items()}
    before = model(**given)[0]
    with regard.observe(model, statistics=device.type != "cpu") as there:
        output = model(**given)[0]
    assert torch.equal(output, before)
    compare(there, here, device)


@torch.no_grad()
def test_pytorch_modules_on_the_device(device: torch.device) -> None:
    with torch.device("cpu"):
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(12, 3, 16, batch_first=True, dropout=0)
        model, x = (
            nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(),
            torch.randn(2, 7, 12),
        )
        with regard.observe(model) as here:
            model(x)
    with regard.observe(model.to(device)) as there:
        model(x.to(device))
    compare(there, here, device)


def compare(there: Any, here: Any, device: torch.device) -> None:
    for number in range(2):
        one, other = (o.map(number, 1, batch=1).dense() for o in (there, here))
        assert there.layers[number].query.device.type == one.device.type == device.type
        torch.testing.assert_close(one.cpu(), other, atol=1e-5, rtol=1e-5)
        one, other = (o.statistics(number, batch=1, entropy=True).entropy for o in (there, here))
        assert one.device.type == device.type
        torch.testing.assert_close(one.cpu(), other, atol=1e-5, rtol=1e-5)
