"""Weights: tied parts, what does not fit; in 8 bits, a scale a row and no weight far away."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from regard.errors import FileError
from regard.store.weights import (
    named_weights,
    packed,
    read_weights,
    set_weights,
    unpacked,
    write_weights,
)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(5, 3)
        self.output = nn.Linear(3, 5, bias=False)
        self.output.weight = self.words.weight
        self.register_buffer("kept", torch.ones(2))
        self.register_buffer("forgotten", torch.ones(2), persistent=False)


def test_tied_weights_are_kept_once(tmp_path: Path) -> None:
    one, other = Tied(), Tied()
    assert list(named_weights(one)) == ["kept", "words.weight"]
    write_weights(tmp_path / "m.safetensors", named_weights(one))
    set_weights(other, read_weights(tmp_path / "m.safetensors"), "it")
    assert torch.equal(other.output.weight, one.words.weight)
    assert other.output.weight is other.words.weight


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kept": None}, "lacks 'kept'"),
        ({"more": torch.ones(1)}, "has a strange 'more'"),
        ({"kept": torch.ones(3)}, "has a misshaped 'kept'"),
    ],
)
def test_weights_that_do_not_fit(change: dict[str, torch.Tensor | None], text: str) -> None:
    weights = {**named_weights(Tied()), **change}
    with pytest.raises(FileError, match=text):
        set_weights(Tied(), {k: v for k, v in weights.items() if v is not None}, "it")


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
