"""Products: exact outside autocast, rounded factors and float32 sums inside."""

from __future__ import annotations

import pytest
import torch

from regard.recurrent.scan import product as products
from regard.recurrent.scan.product import add_product, long_product, product, product_type

X = torch.tensor([[1.0, 2.0**-9]])
"""bfloat16 keeps 8 bits: it holds 2**-9, but not 1 + 2**-9."""
W = torch.tensor([[1.0], [1.0]])


def test_the_type() -> None:
    assert product_type(X) == torch.float32
    assert product_type(X.double()) == torch.float64
    with torch.autocast("cpu", torch.bfloat16):
        assert product_type(X) == torch.bfloat16


def test_what_is_rounded() -> None:
    exact, rounded = 1 + 2.0**-9, 1.0
    assert product(X, W, torch.float32).item() == exact
    assert product(X, W, torch.bfloat16).item() == rounded
    base = torch.tensor([[2.0**-9]])
    assert add_product(base, X, W).item() == 1 + 2.0**-8
    # The product is rounded; the sum with the base is not.
    assert add_product(base, X, W.bfloat16()).item() == 1 + 2.0**-9
    assert product(X, W, torch.bfloat16).dtype == torch.float32


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_in_place(kind: torch.dtype) -> None:
    base = torch.tensor([[3.0]])
    assert add_product(base, X, W.to(kind), out=base) is base
    assert base.item() == pytest.approx(4, abs=2**-8)


@pytest.mark.parametrize("ahead", [True, False])
def test_a_long_product_is_one_by_either_library(
    ahead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of parts of tensors, turned and not: oneDNN is given none with gaps."""
    monkeypatch.setattr(products, "_ahead", lambda: ahead)
    given: list[bool] = []

    def seen(x: torch.Tensor, matrix: torch.Tensor, bias: None) -> torch.Tensor:
        given.extend(part.is_contiguous() or part.t().is_contiguous() for part in (x, matrix))
        return x @ matrix.t()

    monkeypatch.setattr(products, "one_dnn_product", seen)
    x, y = torch.randn(7, 11)[:, :5], torch.randn(5, 13)[:, 2:]
    for a, b in ((x, y), (y.t(), x.t()), (x.contiguous(), y.contiguous())):
        torch.testing.assert_close(long_product(a, b), a @ b)
    assert given == [True] * 6 * ahead
    long_product(x.double(), y.double())
    with torch.autocast("cpu", torch.bfloat16):
        assert long_product(x, y).dtype == torch.bfloat16
    assert len(given) == 6 * ahead


def test_where_there_is_no_other_library_pytorch_multiplies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(products, "_ahead", lambda: True)
    monkeypatch.setattr(products, "one_dnn_product", lambda *_: None)
    assert long_product(X, W).item() == 1 + 2.0**-9
