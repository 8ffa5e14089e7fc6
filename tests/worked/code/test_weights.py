"""The matrices of a module, by whatever names."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from regard.errors import RegardError
from regard.worked.code.weights import refill, weights_in


def maps(**named: nn.Module | nn.Parameter) -> nn.Module:
    module = nn.Module()
    for name, part in named.items():
        setattr(module, name, part)
    return module


@pytest.mark.parametrize(
    "names",
    [
        ("w_q", "w_k", "w_v", "w_o"),
        ("Wq", "Wk", "Wv", "Wo"),
        ("query", "key", "value", "out"),
        ("q_proj", "k_proj", "v_proj", "out_proj"),
        ("to_q", "to_k", "to_v", "to_out"),
        ("queryLinear", "keyLinear", "valueLinear", "fc_out"),
        ("W_query", "W_key", "W_value", "proj"),
    ],
)
def test_names(names: tuple[str, ...]) -> None:
    module = maps(**{name: nn.Linear(3, 2 + i) for i, name in enumerate(names)})
    refill(module, 1)
    found = weights_in(module, False)
    assert {name: w.shape for name, w in found.items()} == {
        "w_q": (3, 2), "w_k": (3, 3), "w_v": (3, 4), "w_o": (3, 5),
        "b_q": (2,), "b_k": (3,), "b_v": (4,), "b_o": (5,),
    }  # fmt: skip
    linear = getattr(module, names[0])
    assert np.array_equal(found["w_q"], linear.weight.detach().double().numpy().T)


def test_one_map_for_all_and_a_list_of_heads() -> None:
    whole = weights_in(maps(qkv=nn.Linear(2, 6, bias=False), proj=nn.Linear(2, 2)), False)
    assert whole["w_v"].shape == (2, 2)
    assert "b_q" not in whole
    heads = nn.ModuleList(
        maps(q=nn.Linear(4, 2), k=nn.Linear(4, 2), v=nn.Linear(4, 3)) for _ in range(2)
    )
    joined = weights_in(maps(heads=heads, out=nn.Linear(6, 4)), False)
    assert (joined["w_q"].shape, joined["w_v"].shape) == ((4, 4), (4, 6))


def test_a_bare_matrix_is_either_way_round() -> None:
    module = maps(W_q=nn.Parameter(torch.ones(2, 3)), W_k=nn.Parameter(torch.ones(2, 3)))
    assert weights_in(module, False)["w_q"].shape == (2, 3)
    assert weights_in(module, True)["w_q"].shape == (3, 2)


def test_names_that_say_nothing() -> None:
    with pytest.raises(RegardError, match=r"known by their names: call them w_q.*it has a.weight"):
        weights_in(maps(a=nn.Linear(2, 2, bias=False)), False)


def test_numbers_are_of_one_digit_and_large_enough() -> None:
    linear = nn.Linear(50, 50).double()
    refill(linear, 2)
    numbers = linear.weight.detach().numpy()
    assert np.array_equal(numbers, numbers.round(1))
    assert 1.4 < np.abs(numbers).max() <= 1.5
