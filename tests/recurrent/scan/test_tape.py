"""A scan's tape: what steps see, the last summary, and the gradients that reach its slots."""

from __future__ import annotations

import pytest
import torch

from regard.recurrent.scan.tape import (
    BLOCK,
    ResultGradient,
    SlotGradients,
    TapeLimits,
    extended,
    last_summary,
    last_summary_backward,
    no_weights,
)
from tests.recurrent.readers import same
from tests.recurrent.reference import random


def test_what_a_step_sees() -> None:
    assert TapeLimits(None, None, None).seen(5) == slice(0, 5)
    assert TapeLimits(None, None, 3).seen(5) == slice(2, 5)
    assert TapeLimits(None, None, 3).seen(2) == slice(0, 2)
    assert TapeLimits(None, None, None).forbidden is None
    forbidden = TapeLimits(torch.tensor([[True, False]]), None, None).forbidden
    assert forbidden is not None
    assert forbidden.tolist() == [[False, True]]


@pytest.mark.parametrize(("n", "m"), [(5, 0), (BLOCK + 3, 2), (2 * BLOCK + 1, BLOCK)])
def test_slots_get_the_sum_over_the_steps_that_saw_them(n: int, m: int) -> None:
    """Step t sees the slots up to m + t; rows are filled from the end on."""
    batch, width = 3, 2
    seen = torch.arange(m + n) <= m + torch.arange(n).unsqueeze(-1)
    weights = random(n, batch, m + n) * seen.unsqueeze(1)
    done, rows = random(batch, n, width, seed=1), torch.zeros(batch, n, width).double()
    slots = SlotGradients(weights, rows)
    expected = torch.einsum("tbs,btw->bsw", weights, done)
    for t in range(n - 1, -1, -1):
        rows[:, t] = done[:, t]
        same(slots.at(m + t, t), expected[:, m + t])
    same(slots.up_to(m), expected[:, :m])


@pytest.mark.parametrize("lengths", [None, torch.tensor([4, 0, 2])])
def test_the_last_summary_and_its_gradient(lengths: torch.Tensor | None) -> None:
    summaries = random(4, 3, 5).requires_grad_()
    first = random(3, 5, seed=1).requires_grad_()
    found = last_summary(summaries, first, lengths)
    for b, n in enumerate([4, 4, 4] if lengths is None else lengths.tolist()):
        same(found[b], summaries[n - 1, b] if n else first[b])
    d_last, d_summaries = random(3, 5, seed=2), torch.zeros(3, 4, 5).double()
    d_first = last_summary_backward(d_last, d_summaries, lengths)
    wanted = torch.autograd.grad(found, (summaries, first), d_last, materialize_grads=True)
    same(d_summaries.transpose(0, 1), wanted[0])
    same(d_first, wanted[1])
    assert not last_summary_backward(None, d_summaries, lengths).any()


def test_what_comes_from_outside_is_added() -> None:
    """A word [h; c] gets its tape's gradient whole and its state's in the first half."""
    given = ResultGradient(torch.full((2, 1, 1), 3.0), torch.full((1, 3, 2), 5.0))
    word = torch.ones(1, 2)
    given.add_to(word, t=1, slot=2)
    assert word.tolist() == [[9, 6]]
    assert given.add_to_first(1, torch.ones(1, 1, 2)).tolist() == [[[6, 6]]]
    nothing = ResultGradient(None, None)
    nothing.add_to(word, t=1, slot=2)
    assert word.tolist() == [[9, 6]]
    assert nothing.add_to_first(1, torch.ones(1, 1, 2)).tolist() == [[[1, 1]]]


def test_room_for_more_slots() -> None:
    tape = random(2, 3, 5)
    more = extended(tape, 4)
    assert more.shape == (2, 7, 5)
    same(more[:, :3], tape)


def test_weights_of_a_sequence_stand_beside_each_other() -> None:
    weights = no_weights(torch.ones(2, 3, 5), 7)
    assert weights.shape == (2, 3, 7)
    assert weights.stride() == (7, 14, 1)
    assert not weights.any()
