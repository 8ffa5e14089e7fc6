"""The gradients written out, of every reader, against the loop and against finite differences."""

from __future__ import annotations

import pytest
import torch

from tests.recurrent.readers import KINDS, reader, same
from tests.recurrent.reference import random

kinds = pytest.mark.parametrize("kind", KINDS)


@kinds
@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("words", [[0, 0, 0], [2, 1, 0], [2, 2, 2]])
def test_the_scan_is_the_loop_and_its_gradient_too(
    kind: str, window: int | None, words: list[int]
) -> None:
    """need_weights takes the loop, which automatic differentiation follows."""
    net, x = reader(kind, 2, window=window), random(3, 5, 3).requires_grad_()
    lengths = torch.tensor([5, 3, 0])
    before = net(random(3, 2, 3, seed=1), lengths=torch.tensor(words)).state.detach()
    parts = [part for part in before[:3] if part is not None]
    wanted = [x, *(part.requires_grad_() for part in parts), *net.parameters()]
    results = []
    for need_weights in (False, True):
        read = net(x, before, lengths=lengths, need_weights=need_weights)
        outputs = [read.output, *(part for part in read.state[:3] if part is not None)]
        loss = sum((out * random(*out.shape, seed=3)).sum() for out in outputs)
        found = torch.autograd.grad(loss, wanted, allow_unused=True, materialize_grads=True)
        results.append([*outputs, *found])
    for scanned, looped in zip(*results, strict=True):
        same(scanned, looped)


@kinds
@pytest.mark.parametrize("lengths", [None, torch.tensor([4, 3])])
def test_the_gradient_of_the_scan(kind: str, lengths: torch.Tensor | None) -> None:
    net, x = reader(kind), random(2, 4, 3).requires_grad_()
    names = [name for name, _ in net.named_parameters()]

    def run(x: torch.Tensor, *weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        given = dict(zip(names, weights, strict=True))
        read = torch.func.functional_call(net, given, (x,), {"lengths": lengths})
        return read.output, read.state.summary

    assert torch.autograd.gradcheck(run, (x, *net.parameters()), fast_mode=True)
