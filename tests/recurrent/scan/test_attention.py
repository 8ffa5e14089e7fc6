"""Attention to a tape, step by step, against its definition and autograd."""

from __future__ import annotations

import math

import pytest
import torch

from regard.recurrent.scan import attention
from regard.recurrent.scan.attention import TapeAttention, TapeBackward, TapeScores
from regard.recurrent.scan.tape import TapeLimits
from tests.recurrent.readers import same
from tests.recurrent.reference import random

N, BATCH, SLOTS, HIDDEN, WIDTH = 5, 3, 7, 11, 2
FORBIDDEN = torch.arange(SLOTS) < torch.tensor([0, 1, 2]).unsqueeze(-1)


def by_definition(
    keys: torch.Tensor,
    queries: torch.Tensor,
    v: torch.Tensor | None,
    values: torch.Tensor,
    seen: list[slice],
) -> torch.Tensor:
    """mixed (n, batch, width)"""
    mixed = []
    for q, slots in zip(queries, seen, strict=True):
        k = keys[:, slots]
        pairs = k * q.unsqueeze(1)
        e = pairs.sum(-1) if v is None else (k + q.unsqueeze(1)).tanh() @ v
        a = e.masked_fill(FORBIDDEN[:, slots], -math.inf).softmax(-1)
        mixed.append(torch.einsum("bs,bsw->bw", a, values[:, slots]))
    return torch.stack(mixed)


@pytest.mark.parametrize("score", ["additive", "dot"])
@pytest.mark.parametrize("scratch", [attention.SCRATCH, 2 * SLOTS * HIDDEN, 1])
def test_equals_the_definition_and_autograd(
    score: str, scratch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole batches, two sequences and one at a time."""
    monkeypatch.setattr(attention, "SCRATCH", scratch)
    keys, queries = random(BATCH, SLOTS, HIDDEN), random(N, BATCH, HIDDEN, seed=1)
    values, d_mixed = random(BATCH, SLOTS, WIDTH, seed=2), random(BATCH, N, WIDTH, seed=3)
    v = random(HIDDEN, seed=4) if score == "additive" else None
    seen = [TapeLimits(None, None, 4).seen(SLOTS - N + t + 1) for t in range(N)]
    weights, mixed = torch.zeros(N, BATCH, SLOTS).double(), torch.empty(N, BATCH, WIDTH).double()
    forward = TapeAttention(TapeScores(keys, queries, v), values, weights, mixed, FORBIDDEN)
    for t, slots in enumerate(seen):
        forward.attend(t, slots)
    given = [x.requires_grad_() for x in (keys, queries, v) if x is not None]
    expected = by_definition(keys, queries, v, values, seen)
    same(mixed, expected.detach())
    assert not weights[:, FORBIDDEN].any()
    wanted = torch.autograd.grad(expected, given, d_mixed.transpose(0, 1))
    with torch.no_grad():
        d_queries = torch.empty_like(queries)
        scores = TapeScores(keys, queries, v)
        backward = TapeBackward(scores, values, weights, mixed, d_mixed, d_queries)
        for t in range(N - 1, -1, -1):
            backward.attend(t, seen[t])
            slot = SLOTS - N + t  # seen by the steps from t on
            same(backward.d_key(slot, t), wanted[0][:, slot])
    same(backward.d_keys(), wanted[0])
    same(d_queries, wanted[1])
    d_v = backward.d_v()
    assert (d_v is None) == (v is None)
    if d_v is not None:
        same(d_v, wanted[2])
