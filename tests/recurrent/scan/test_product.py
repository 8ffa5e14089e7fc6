"""Products: exact outside autocast, rounded factors and float32 sums inside."""

from __future__ import annotations

import pytest
import torch

from regard.recurrent.scan.product import add_product, product, product_type

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
