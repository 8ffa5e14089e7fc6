from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard import record
from regard.recurrent import GatedUnit
from tests.recurrent import reference


def unit(width: int = 3, hidden: int = 5, context: int = 0) -> GatedUnit:
    made = GatedUnit(width, hidden, context).double()
    nn.init.normal_(made.inputs.bias)
    return made


def test_equals_the_equations_written_as_a_loop() -> None:
    made = unit()
    x, s = reference.random(2, 7, 3), reference.random(2, 5, seed=1)
    states = made(x, s).detach().numpy()
    p = reference.numpy_of(made)
    for b in range(2):
        expected = reference.gated(p, x[b].numpy(), s[b].numpy())
        np.testing.assert_allclose(states[b], expected, rtol=0, atol=1e-10)


def test_a_context_enters_all_gates() -> None:
    made = unit(context=4)
    x, s, c = reference.random(2, 7, 3), reference.random(2, 5, seed=1), reference.random(2, 4)
    states = made(x, s, context=c).detach().numpy()
    p = reference.numpy_of(made)
    for b in range(2):
        expected = reference.gated(p, x[b].numpy(), s[b].numpy(), c[b].numpy())
        np.testing.assert_allclose(states[b], expected, rtol=0, atol=1e-10)


def test_a_state_computed_by_hand() -> None:
    """All matrices 1, x = 0, s_0 = 1: z = r = σ(1), s^ = tanh(σ(1)), s_1 = 1 − z + z s^."""
    made = GatedUnit(1, 1).double()
    with torch.no_grad():
        made.gates.fill_(1)
        made.candidate.fill_(1)
    one = torch.ones(1, 1, dtype=torch.float64)
    z = 1 / (1 + math.exp(-1))
    got = made(torch.zeros(1, 1, 1, dtype=torch.float64), one).item()
    assert got == pytest.approx(1 - z + z * math.tanh(z), abs=1e-12)


def test_step_is_one_step_of_forward() -> None:
    made = unit()
    x, s = reference.random(2, 1, 3), reference.random(2, 5, seed=1)
    stepped = made.step(made.inputs(x[:, 0]), s)
    torch.testing.assert_close(stepped, made(x, s)[:, 0], rtol=0, atol=1e-12)


def test_backwards_starts_at_each_sequences_own_end() -> None:
    made = unit()
    x, lengths = reference.random(3, 7, 3), torch.tensor([7, 1, 4])
    states = made(x, lengths=lengths, backward=True)
    for b, n in enumerate(lengths.tolist()):
        alone = made(x[b : b + 1, :n].flip(1)).flip(1)
        torch.testing.assert_close(states[b : b + 1, :n], alone, rtol=0, atol=1e-12)
        assert not states[b, n:].any()


def test_is_not_the_gru_of_pytorch() -> None:
    """nn.GRU resets after the product with U; with the same weights it is another function."""
    made: GatedUnit = unit()
    gru: Any = nn.GRU(3, 5, batch_first=True).double()
    with torch.no_grad():
        z, r, w = made.inputs.weight.chunk(3)
        gru.weight_ih_l0.copy_(torch.cat((r, -z, w)))  # its z keeps where ours overwrites
        u_z, u_r = made.gates.chunk(2)
        gru.weight_hh_l0.copy_(torch.cat((u_r, -u_z, made.candidate)))
        b_z, b_r, b = made.inputs.bias.chunk(3)
        gru.bias_ih_l0.copy_(torch.cat((b_r, -b_z, b)))
        gru.bias_hh_l0.zero_()
    x = reference.random(1, 2, 3)
    ours, theirs = made(x), gru(x)[0]
    torch.testing.assert_close(ours[:, 0], theirs[:, 0])  # s_0 = 0: nothing to reset
    assert (ours[:, 1] - theirs[:, 1]).abs().max() > 1e-3


def test_record_shows_the_states() -> None:
    with record() as trace:
        states = GatedUnit(3, 5)(torch.ones(1, 7, 3))
    assert trace["states"].axes == ("batch", "position", "hidden")
    np.testing.assert_array_equal(trace["states"].value, states.detach().numpy())
    assert "start" in trace["states"].meaning
