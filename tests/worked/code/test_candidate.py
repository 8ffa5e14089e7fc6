"""How a function is called: its arguments by their names, its library, its answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard.errors import RegardError
from regard.worked.code.candidate import Candidate, library_of
from tests.worked.code import right, wrong_numpy, wrong_torch


def test_arguments_by_their_names() -> None:
    def f(Q: Any, K: Any, V: Any, attn_mask: Any = None) -> None: ...
    def g(a: Any, b: Any, c: Any) -> None: ...
    def h(W_a: Any, state: Any = None, *, U_a: Any, v: Any, h: Any, s: Any) -> None: ...

    assert Candidate(f, "scaled", 1).arguments == {
        "Q": "queries", "K": "keys", "V": "values", "attn_mask": "mask"
    }  # fmt: skip
    assert Candidate(g, "scaled", 1).keys == ("queries", "keys", "values")
    assert Candidate(h, "additive", 1).keys == ("w_a", "u_a", "v_a", "h", "s")
    assert Candidate(right.by_keys, "multihead", 1).heads == 2


def test_arguments_that_are_not_known() -> None:
    def f(x: Any, depth: Any) -> None: ...
    def g(s: Any, h: Any) -> None: ...

    with pytest.raises(RegardError, match=r"f\(\) has an argument 'depth': for mechanism 'simple'"):
        Candidate(f, "simple", 1)
    with pytest.raises(RegardError, match=r"g\(\) has no argument 'w_a'"):
        Candidate(g, "additive", 1)

    class Needy(nn.Module):
        def __init__(self, flavour: str) -> None:
            super().__init__()

    with pytest.raises(RegardError, match="takes 'flavour', whose value cannot be guessed"):
        Candidate(Needy, "scaled", 1)


def test_the_library_is_seen_in_what_a_function_refers_to() -> None:
    assert library_of(right.textbook) == "torch"
    assert library_of(right.arrays) == "numpy"
    assert library_of(wrong_numpy.by_d_k) == "numpy"  # through the softmax that it calls
    assert library_of(lambda q, k, v: q) == ""


def test_an_answer() -> None:
    def f(q: Any, k: Any, v: Any) -> Any:
        q *= 2
        return torch.as_tensor(q @ k.mT @ v), q @ k.mT

    given = {"queries": np.eye(2), "keys": np.eye(2), "values": np.ones((2, 3))}
    answer = Candidate(f, "scaled", 1).answer(given, "float32")
    assert answer.result is not None
    assert answer.weights is not None
    assert answer.result.tolist() == [[2.0] * 3] * 2
    assert answer.weights.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert (answer.kind, answer.changed) == ("float32", ("queries",))


def test_what_is_no_array_is_an_error() -> None:
    given = {"queries": np.eye(2), "keys": np.eye(2), "values": np.eye(2)}

    def f(q: Any, k: Any, v: Any) -> str:
        return "no"

    assert Candidate(f, "scaled", 1).answer(given, "float64").error == (
        "it returned a str, not an array"
    )


def test_a_module_given_is_left_as_it_is() -> None:
    module = wrong_torch.Heads(6, 2)
    before = [p.clone() for p in module.parameters()]
    candidate = Candidate(module, "multihead", 1)
    weights = candidate.prepared(3, "float64")
    assert {name: w.shape for name, w in weights.items()} == {
        **dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), (6, 6)),
        **dict.fromkeys(("b_q", "b_k", "b_v", "b_o"), (6,)),
    }
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))
    assert module.training
