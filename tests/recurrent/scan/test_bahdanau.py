from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.recurrent import GatedUnit
from regard.recurrent.scan.bahdanau import BahdanauMatrices, bahdanau_scan
from tests.recurrent import reference

STEPS, BATCH, HIDDEN, KEYS, ALIGNMENT, WIDTH = 4, 3, 5, 7, 2, 11
LENGTHS = torch.tensor([7, 1, 4])


def parts() -> tuple[torch.Tensor, ...]:
    shapes = (
        (STEPS, BATCH, 3 * HIDDEN),
        (BATCH, HIDDEN),
        (BATCH, KEYS, ALIGNMENT),
        (BATCH, KEYS, WIDTH),
        (ALIGNMENT, HIDDEN),
        (ALIGNMENT,),
        (3 * HIDDEN, WIDTH),
        (2 * HIDDEN, HIDDEN),
        (HIDDEN, HIDDEN),
    )
    return tuple(reference.random(*s, seed=i).requires_grad_() for i, s in enumerate(shapes))


def run(
    allowed: torch.Tensor | None, *tensors: torch.Tensor, learn_weights: bool = False
) -> tuple[torch.Tensor, ...]:
    inputs, state, keys, values, *matrices = tensors
    given = inputs, state, keys, values, allowed, BahdanauMatrices(*matrices)
    return bahdanau_scan(*given, learn_weights=learn_weights)


def allowed() -> torch.Tensor:
    return torch.arange(KEYS) < LENGTHS.unsqueeze(-1)


def test_equals_the_equations_written_as_a_loop() -> None:
    """e = v · tanh(W_a s + k_j), softmax, sum of values, gated unit: one number at a time."""
    tensors = parts()
    got = [part.detach().numpy() for part in run(allowed(), *tensors)]
    inputs, state, keys, values, w_a, v, context, gates, candidate = (
        tensor.detach().numpy() for tensor in tensors
    )
    p = {"gates": gates, "candidate": candidate, "context.weight": context}
    p |= {"inputs.weight": np.eye(3 * HIDDEN), "inputs.bias": np.zeros(3 * HIDDEN)}
    for b, n in enumerate(LENGTHS.tolist()):
        s = state[b]
        for i in range(STEPS):
            e = [v @ np.tanh(w_a @ s + keys[b, j]) for j in range(n)]
            a = np.exp(e) / np.exp(e).sum()
            c = sum(a[j] * values[b, j] for j in range(n))
            np.testing.assert_allclose(got[0][i, b], s, rtol=0, atol=1e-10)
            np.testing.assert_allclose(got[1][i, b], c, rtol=0, atol=1e-10)
            np.testing.assert_allclose(got[2][i, b, :n], a, rtol=0, atol=1e-10)
            assert not got[2][i, b, n:].any()
            s = reference.gated_step(p, inputs[i, b], s, c)


@pytest.mark.parametrize("mask", [None, allowed()])
def test_the_written_out_gradient_is_right(mask: torch.Tensor | None) -> None:
    assert torch.autograd.gradcheck(lambda *tensors: run(mask, *tensors)[:2], parts())


@pytest.mark.parametrize("mask", [None, allowed()])
def test_weights_can_be_learned_from(mask: torch.Tensor | None) -> None:
    assert torch.autograd.gradcheck(lambda *t: run(mask, *t, learn_weights=True), parts())
    assert not run(mask, *parts())[2].requires_grad


@pytest.mark.parametrize("mask", [None, allowed()])
def test_the_kernel_learns_from_weights_too(mask: torch.Tensor | None) -> None:
    """In float32, where the native kernel takes the steps, as in float64, where it cannot."""
    found = []
    for kind in (torch.float64, torch.float32):
        tensors = [part.detach().to(kind).requires_grad_() for part in parts()]
        steps = run(mask, *tensors, learn_weights=True)
        chance = torch.Generator().manual_seed(1)
        total = sum(
            (part * torch.randn(part.shape, generator=chance, dtype=torch.float64).to(kind)).sum()
            for part in steps
        )
        found.append(torch.autograd.grad(total, tensors))  # type: ignore[arg-type]
    for wide, narrow in zip(*found, strict=True):
        torch.testing.assert_close(narrow.double(), wide, rtol=1e-4, atol=1e-5)


def test_one_step_has_a_gradient_too() -> None:
    inputs, *rest = parts()
    assert torch.autograd.gradcheck(lambda *t: run(None, *t)[:2], (inputs[:1].detach(), *rest))


def test_the_unit_that_it_runs_is_the_gated_unit() -> None:
    inputs, state, keys, values, w_a, v, context, gates, candidate = parts()
    unit = GatedUnit(WIDTH, HIDDEN, context=WIDTH).double()
    unit.gates, unit.candidate = torch.nn.Parameter(gates), torch.nn.Parameter(candidate)
    looked = run(None, inputs, state, keys, values, w_a, v, context, gates, candidate)
    expected = unit.step(inputs[0] + looked[1][0] @ context.t(), state)
    torch.testing.assert_close(looked[0][1], expected, rtol=0, atol=1e-12)
