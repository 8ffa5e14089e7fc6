"""The gated unit's loop with its gradient written out."""

from __future__ import annotations

from functools import partial

import torch

from regard.recurrent import GatedUnit
from regard.recurrent.scan.gated import GatedSteps, gated_scan
from tests.recurrent import reference
from tests.recurrent.readers import same


def test_a_step_is_the_units() -> None:
    unit = GatedUnit(3, 5).double()
    inputs, s = reference.random(2, 15), reference.random(2, 5, seed=1)
    steps = GatedSteps.empty(1, s)
    with torch.no_grad():
        same(steps.step(0, inputs, s, unit.gates.t(), unit.candidate.t()), unit.step(inputs, s))
        same(steps.reset[0], steps.gates[0, :, 5:] * s)


def test_a_reset_starts_anew() -> None:
    unit, inputs = GatedUnit(3, 5).double(), reference.random(4, 2, 15)
    state = reference.random(2, 5, seed=1)
    reset = torch.tensor([[[False], [True]], *[[[False]] * 2] * 3])
    states = gated_scan(inputs, state, unit.gates, unit.candidate, reset)
    assert not states[0, 1].any()
    anew = gated_scan(inputs[1:, 1:], torch.zeros_like(state[1:]), unit.gates, unit.candidate)
    same(states[1:, 1:], anew)


def test_the_written_out_gradient_is_right() -> None:
    made = GatedUnit(3, 5).double()
    inputs = reference.random(4, 2, 15).requires_grad_()
    state = reference.random(2, 5).requires_grad_()
    reset = torch.tensor([[[True], [True]], [[True], [False]], [[False]] * 2, [[False]] * 2])
    for rows in (None, reset):
        assert torch.autograd.gradcheck(
            partial(gated_scan, reset=rows), (inputs, state, made.gates, made.candidate)
        )


def test_an_empty_sequence_has_no_states() -> None:
    assert GatedUnit(3, 5)(torch.zeros(2, 0, 3)).shape == (2, 0, 5)
