"""Products by oneDNN: the same numbers, activations in the same pass, modules as they were."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.attention.private import one_dnn_ahead
from regard.inside.ablate.blocks import standing_in
from regard.inside.ablate.engine import engine
from regard.inside.ablate.products import FEW, FastProducts, Product, plain


class Gated(nn.Module):
    """The activation of one product times another, which is itself looked at."""

    def __init__(self, looks: bool) -> None:
        super().__init__()
        self.one, self.other, self.act = nn.Linear(5, 7), nn.Linear(5, 7, bias=False), nn.GELU()
        self.looks = looks

    def forward(self, x: Tensor) -> Tensor:
        before = self.one(x)
        found: Tensor = self.act(before) * self.other(x)
        return found + before if self.looks else found


@pytest.fixture
def ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a processor where oneDNN is the faster one."""
    monkeypatch.setattr("regard.inside.ablate.products.one_dnn_ahead", lambda: True)


@pytest.mark.usefixtures("ahead")
@pytest.mark.parametrize("looks", [False, True])
@torch.inference_mode()
def test_an_activation_goes_with_its_product(looks: bool) -> None:
    torch.manual_seed(3)
    network, x = Gated(looks), torch.randn(3, 3, 5)
    own = network(x)
    products = FastProducts(network)
    with products.kept():
        network(x)
    assert [module for module, _ in products.known] == [network.one, network.act, network.other]
    with products.fused():
        same = torch.allclose(network(x), own, rtol=1e-5, atol=1e-6)
    assert same != looks, "who fuses must compare a whole run"
    assert torch.equal(network(x), own)
    few = FastProducts(network)
    with few.kept():
        network(x[:2])
    assert [module for module, _ in few.known] == [network.other], "the curve stays behind its own"
    assert not any("forward" in vars(module) for module in network.modules())


@pytest.mark.parametrize("curve", ["none", "gelu", "gelu (by tanh)", "relu"])
@torch.inference_mode()
def test_the_product_in_float64(curve: str) -> None:
    torch.manual_seed(5)
    linear, x = nn.Linear(11, 13), torch.randn(2, 5, 11)
    exact = x.double() @ linear.weight.double().T + linear.bias.double()
    curves: dict[str, Any] = {
        "none": lambda y: y,
        "gelu": nn.functional.gelu,
        "gelu (by tanh)": lambda y: nn.functional.gelu(y, approximate="tanh"),
        "relu": torch.relu,
    }
    # Of float32, whose last digits are the processor's: with AVX2 alone gelu's differ by 1e-7.
    found = Product(linear, curve)(x).double()
    torch.testing.assert_close(found, curves[curve](exact), rtol=1e-6, atol=1e-6)


@torch.inference_mode()
def test_few_positions_stay_as_they_are() -> None:
    """One text meets the matrix of words in one position, several texts in several."""
    torch.manual_seed(5)
    linear, x = nn.Linear(11, 13), torch.randn(FEW, 1, 11)
    own, product = linear(x), Product(linear, "none")
    with standing_in(linear, product):
        assert torch.equal(linear(x[1:]), nn.functional.linear(x[1:], linear.weight, linear.bias))
        torch.testing.assert_close(linear(x), own, rtol=1e-6, atol=1e-6)


def test_what_is_no_plain_product() -> None:
    assert plain(nn.Linear(2, 3))
    assert not plain(nn.Linear(2, 3).double())
    assert not plain(nn.LayerNorm(3))
    changed: Any = nn.Linear(2, 3)
    changed.forward = lambda x: x
    assert not plain(changed)


@pytest.mark.usefixtures("ahead")
def test_the_engine_multiplies_so(trials: dict[str, Any]) -> None:
    with engine(trials["GPT2"]) as running:
        kinds = {type(module).__name__ for module, _ in running.products.known}
        assert kinds == {"Conv1D", "NewGELUActivation", "Linear"}


@pytest.mark.parametrize(
    ("capability", "about", "expected"),
    [
        ("AVX2", {"vendor_id": "AuthenticAMD"}, False),
        ("AVX512", {"vendor_id": "AuthenticAMD"}, True),
        ("AVX512", {"vendor_id": "GenuineIntel"}, False),
        ("AVX512", {}, False),
    ],
)
@torch.inference_mode()
def test_the_slower_library_is_left_alone(
    capability: str, about: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr("regard.attention.private.processor", lambda: about)
    assert one_dnn_ahead() == expected
    network = Gated(looks=False)
    products = FastProducts(network)
    with products.kept():
        network(torch.randn(3, 3, 5))
    assert bool(products.known) == expected
