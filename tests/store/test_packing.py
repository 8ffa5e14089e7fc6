"""Weights in 8 bits: a scale a row, and no weight far from where it was."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.store.packing import packed, unpacked


def test_by_hand() -> None:
    weight = torch.tensor([[127.0, -64.0, 0.4], [0.0, 0.0, 0.0], [0.0, 12.7, -1.27]])
    small = packed({"w": weight, "b": torch.tensor([0.5, -2.0])})
    assert small["w"].tolist() == [[127, -64, 0], [0, 0, 0], [0, 127, -13]]
    assert small["w.scale"][:2].tolist() == [[1.0], [1.0]]
    assert small["w"].dtype == torch.int8
    assert small["b"].dtype == torch.float16


@given(st.integers(0, 2**32 - 1), st.floats(-8, 3))
def test_no_weight_moves_by_more_than_its_share_of_the_rows_largest(
    seed: int, power: float
) -> None:
    weight = torch.randn(7, 11, generator=torch.Generator().manual_seed(seed)) * 10**power
    again = unpacked(packed({"w": weight}))
    assert again.keys() == {"w"}
    largest = weight.abs().amax(1, keepdim=True)
    # Half a step, a half-precision scale (11 bits, or its smallest step of 6e-8), and rounding.
    step = largest / 127
    assert (again["w"] - weight).abs().le(step * 0.5 + largest * 2**-10 + 127 * 6e-8).all()


def test_unpacked_leaves_what_is_not_packed_alone() -> None:
    weights = {"norm.scale": torch.ones(3), "norm": torch.zeros(2, 5)}
    again = unpacked(weights)
    assert again.keys() == weights.keys()
    assert all(again[k] is weights[k] for k in weights)
