"""Readers with nothing that is zero by chance, for the tests."""

from __future__ import annotations

from typing import Any

import torch

from regard.recurrent import LSTMN, SelfAttentiveRNN
from regard.recurrent.reader import Reader

KINDS: dict[str, tuple[type[Reader], dict[str, Any]]] = {
    "xc additive": (SelfAttentiveRNN, {}),
    "xc dot": (SelfAttentiveRNN, {"score": "dot"}),
    "xch additive": (SelfAttentiveRNN, {"form": "xch"}),
    "xch dot": (SelfAttentiveRNN, {"form": "xch", "score": "dot"}),
    "lstmn": (LSTMN, {}),
    "lstmn with recency": (LSTMN, {"recency": 2.0}),
}


def reader(kind: str, layers: int = 1, **options: Any) -> Reader:
    """3 wide inside, 5 wide states, batch first, float64."""
    cls, own = KINDS[kind]
    made = cls(3, 5, layers, **{"batch_first": True, **own, **options}).double()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return made


def same(a: torch.Tensor, b: torch.Tensor, atol: float = 1e-12) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=atol)
